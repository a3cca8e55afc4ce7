/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Elements of SVG pictures. The pictures need no other files and have a dark mode. Colours are set by CSS
 * classes, and text is escaped. Coordinates are in pixels and may have fractions.
 */
#ifndef EXPORT_SVG_H
#define EXPORT_SVG_H

#include <stddef.h>
#include <stdint.h>

#include "base/output.h"
#include "export/views.h"

/* the CSS classes c0 to c7 set the colours */

/* Begins a picture. `title` may contain any bytes. */
void svg_begin(struct base_output *out, unsigned width, unsigned height, const char *title);
void svg_end(struct base_output *out);

/* Draws a box that is at least half a pixel wide. `tip` is its tooltip, or NULL for none. */
void svg_box(struct base_output *out, const char *class, double x, double y, double width, double height,
	     const char *tip);
/*
 * Writes text. `anchor` is start, middle or end. A text wider than `room` pixels is truncated. If only a few
 * letters fit, the text is left out.
 */
void svg_text(struct base_output *out, const char *class, double x, double y, const char *anchor, double room,
	      const char *text);
void svg_line(struct base_output *out, const char *class, double x1, double y1, double x2, double y2);

/* ---- Drawing a time window for window_write(): from timestamps to pixels, on rows of CPUs ---- */

/*
 * maximum number of nested spans of a thread that are drawn, one below another; deeper spans are not drawn
 */
#define WINDOW_NEST 3u

enum window_row {
	WINDOW_RUN,
	WINDOW_SPAN, /* first of the WINDOW_NEST rows for spans */
	WINDOW_IRQ = WINDOW_SPAN + WINDOW_NEST,
	WINDOW_MARKS,
	WINDOW_ROWS,
};

struct window_drawing {
	struct window *window;
	uint64_t base, frequency;
	uint32_t cpus; /* number of CPUs that are drawn */
	uint32_t pieces;
	/* for each row of each CPU: x coordinate up to which something was already drawn */
	double last[WINDOW_CPUS][WINDOW_ROWS];
};

void window_draw_begin(struct window_drawing *drawing);
void window_draw_end(struct window_drawing *drawing);

/*
 * Draws a box from timestamp `from` to `to`. The times are added to the tooltip `tip`. `label` is written
 * into the box if there is room.
 */
void window_draw_box(struct window_drawing *drawing, uint32_t cpu, enum window_row row, const char *class,
		     uint64_t from, uint64_t to, const char *label, const char *tip);
/* Marks a gap of `slots` missing slots, over all rows of the CPU. */
void window_draw_gap(struct window_drawing *drawing, uint32_t cpu, uint64_t from, uint64_t to,
		     uint64_t slots);
void window_draw_mark(struct window_drawing *drawing, uint32_t cpu, uint64_t at, const char *tip);

#endif
