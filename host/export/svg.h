/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Pieces of pictures in SVG that need nothing else: colours by class, dark where the reader's screen is, text
 * escaped. Coordinates are whole pixels.
 */
#ifndef EXPORT_SVG_H
#define EXPORT_SVG_H

#include <stddef.h>
#include <stdint.h>

#include "base/output.h"
#include "export/views.h"

/* Colours are the classes c0 to c7. */

/* `title` may hold any bytes. */
void svg_begin(struct base_output *out, unsigned width, unsigned height, const char *title);
void svg_end(struct base_output *out);

/* A box; `tip` is shown where a pointer rests on it, NULL: none. A width of 0 becomes one pixel's half. */
void svg_box(struct base_output *out, const char *class, double x, double y, double width, double height,
	     const char *tip);
/* `anchor`: start, middle or end. What is longer than `room` pixels is cut. */
void svg_text(struct base_output *out, const char *class, double x, double y, const char *anchor, double room,
	      const char *text);
void svg_line(struct base_output *out, const char *class, double x1, double y1, double x2, double y2);

/* ---- The drawing half of a window (window_write()): stamps to pixels, rows of CPUs, thinning ---- */

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
