/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The drawing half of window.h: stamps to pixels, rows of CPUs, thinning. */
#ifndef EXPORT_WINDOW_DRAW_H
#define EXPORT_WINDOW_DRAW_H

#include <stdbool.h>

#include "export/window.h"

#define WINDOW_NEST 3u /* spans of a thread drawn one below the other; deeper ones are not */

enum window_row {
	WINDOW_RUN,
	WINDOW_SPAN, /* and the next ones */
	WINDOW_IRQ = WINDOW_SPAN + WINDOW_NEST,
	WINDOW_MARKS,
	WINDOW_ROWS,
};

struct window_drawing {
	struct window *window;
	uint64_t base, frequency;
	uint32_t cpus; /* drawn */
	uint32_t pieces;
	double last[WINDOW_CPUS][WINDOW_ROWS]; /* how far a row is drawn */
};

void window_draw_begin(struct window_drawing *drawing);
void window_draw_end(struct window_drawing *drawing);

/* A box from stamp to stamp. `tip` says what it is; the times are added. `label` is written into it if there is room. */
void window_draw_box(struct window_drawing *drawing, uint32_t cpu, enum window_row row, const char *class,
		     uint64_t from, uint64_t to, const char *label, const char *tip);
/* Missing slots: over all rows of the CPU. */
void window_draw_gap(struct window_drawing *drawing, uint32_t cpu, uint64_t from, uint64_t to,
		     uint64_t slots);
void window_draw_mark(struct window_drawing *drawing, uint32_t cpu, uint64_t at, const char *tip);

#endif
