/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A stretch of a trace as a picture: for each CPU who runs, what system calls, faults and interrupts are
 * under way, and every other event as a mark. The whole trace up to the end of the window is read, so that
 * what began before it is there.
 *
 * The picture is bounded: what is too close together to be told apart at its width is drawn once and counted.
 */
#ifndef EXPORT_WINDOW_H
#define EXPORT_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/output.h"
#include "ktread/ktread.h"

#define WINDOW_CPUS 64u /* drawn; those beyond are counted */

struct window {
	struct ktread *trace;
	struct base_output *out;
	uint64_t from, to; /* stamps; `to` UINT64_MAX: the end of the trace */
	/* Results. */
	uint64_t events;   /* in the window */
	uint64_t close;	   /* pieces not drawn, as one is there already that looks the same */
	uint64_t left_out; /* events of CPUs that are not drawn, pieces beyond the limit */
};

/* 0, or KTREAD_E_MEMORY, or what ktread_next() said; what could be read is drawn. */
int window_write(struct window *window);

/* The drawing half of window.h: stamps to pixels, rows of CPUs, thinning. */

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

/*
 * A box from stamp to stamp. `tip` says what it is; the times are added. `label` is written into it if there
 * is room.
 */
void window_draw_box(struct window_drawing *drawing, uint32_t cpu, enum window_row row, const char *class,
		     uint64_t from, uint64_t to, const char *label, const char *tip);
/* Missing slots: over all rows of the CPU. */
void window_draw_gap(struct window_drawing *drawing, uint32_t cpu, uint64_t from, uint64_t to,
		     uint64_t slots);
void window_draw_mark(struct window_drawing *drawing, uint32_t cpu, uint64_t at, const char *tip);

#endif
