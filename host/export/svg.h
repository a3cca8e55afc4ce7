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

#endif
