/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Opening a guest that runs, and showing it: as lines, or as a page on a terminal. */
#ifndef LIVE_LIVE_H
#define LIVE_LIVE_H

#include <limits.h>
#include <stdbool.h>

#include "base/output.h"
#include "live/model.h"
#include "live/source.h"

/*
 * A guest's RAM file as a source: it need not be there yet, and its QEMU may end and be started again, also
 * with another file.
 */

struct live_guest {
	const char *given;		      /* the file; NULL: the newest RAM file beside `usual` */
	const char *usual;		      /* where `ktrace run` would leave its trace */
	struct ktread_follow_options options; /* `frequency` 0: as the guest says, or … */
	uint64_t (*measure)(const char *path, const char *machine); /* … as this finds; NULL, 0: unknown */
	char path[PATH_MAX];					    /* the one that is followed or awaited */
	struct ktread_follow *follow;				    /* NULL: awaited */
	struct ktread_follow_account account;			    /* of the guests before */
	uint64_t look_again;					    /* ns */
	uint64_t measure_at;					    /* ns, 0: there is no need to */
	char why[PATH_MAX + 128];
};

void live_guest_open(struct live_guest *guest, struct live_source *source);
void live_guest_close(struct live_guest *guest);

/* How a running guest is shown: lines, or a page on a terminal. */

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
