/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* How a running guest is shown: lines, or a page on a terminal. */
#ifndef LIVE_VIEWS_H
#define LIVE_VIEWS_H

#include "base/output.h"
#include "live/model.h"

/* A line an interval, for terminals that are none and for programs. */

struct live_lines {
	struct base_output *out;
	bool json;
	uint32_t tail; /* newest events shown before each line */
	uint64_t said; /* lines of the tail so far */
};

void live_lines_write(struct live_lines *lines, const struct live_model *model);

/*
 * The model as rows of printable ASCII, of any size; whoever paints them knows nothing of guests. Each
 * character of a bar belongs to a share of its CPU's time.
 */

#define LIVE_ROWS    200u
#define LIVE_COLUMNS 250u

struct live_row {
	bool strong;
	uint16_t bar, bar_end; /* columns of a bar; the same: there is none */
	char text[LIVE_COLUMNS + 1];
	uint8_t share[LIVE_COLUMNS]; /* enum live_share, within the bar */
};

struct live_page {
	uint32_t rows;
	struct live_row row[LIVE_ROWS];
};

/* Fills at most `rows` rows of at most `columns` characters. `bottom`: what the last row is to say. */
void live_page_make(struct live_page *page, const struct live_model *model, uint32_t rows, uint32_t columns,
		    const char *bottom);

/* "uukkkiii.." for shares, `width` characters. */
void live_bar(const struct live_cpu *cpu, char *text, uint8_t *share, uint32_t width);

/* The terminal as a view. */

struct live_screen;

/* NULL: this terminal cannot be used so; `why` says it. */
struct live_screen *live_screen_open(struct live_view *view, live_filter_typed *typed, const char **why);
/* Gives the terminal back as it was. */
void live_screen_close(struct live_screen *screen);

#endif
