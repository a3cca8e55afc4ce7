/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Adds colours to text that a person reads on a terminal: CPUs, verdicts and their certainty, losses,
 * errors, and long durations. The colours are added to finished text, so that a command writes the same bytes
 * with and without them. Text from a trace is escaped before, so all control sequences come from here.
 */
#ifndef BASE_PAINT_H
#define BASE_PAINT_H

#include <stdbool.h>
#include <stddef.h>

/* The words of --color, in this order. */
enum base_paint_when { BASE_PAINT_AUTO, BASE_PAINT_ALWAYS, BASE_PAINT_NEVER };

/*
 * Returns whether text that is written to `fd` gets colours. BASE_PAINT_AUTO: yes if `fd` is a terminal, its
 * type is not "dumb", and the environment variable NO_COLOR is absent or empty.
 */
bool base_paint_wanted(enum base_paint_when when, int fd);

/* Takes painted text, piece by piece. */
typedef void base_paint_put(void *context, const char *bytes, size_t length);

/*
 * Paints the text from `from` to `end`, which is whole lines; the last one may lack its line feed. No colour
 * extends beyond a line.
 */
void base_paint(const char *from, const char *end, base_paint_put *put, void *context);

#endif
