/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The model as rows of printable ASCII, of any size; whoever paints them knows nothing of guests. Each
 * character of a bar belongs to a share of its CPU's time.
 */
#ifndef LIVE_PAGE_H
#define LIVE_PAGE_H

#include "live/model.h"

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

#endif
