/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Adds colours to text for a terminal: to CPUs, verdicts and their certainty, losses, errors, and long
 * durations. The colours are added to finished text, so apart from the colours, a command writes the same
 * bytes with and without them. Text from a trace was escaped before, so the output contains no other control
 * sequences than those of the colours.
 */
#ifndef BASE_PAINT_H
#define BASE_PAINT_H

#include <stdbool.h>
#include <stddef.h>

/* Values of the option --color, in the order of the option's list of words. */
enum base_paint_when { BASE_PAINT_AUTO, BASE_PAINT_ALWAYS, BASE_PAINT_NEVER };

/*
 * Returns whether text that is written to `fd` gets colours. BASE_PAINT_AUTO: true if `fd` is a terminal
 * whose type is not "dumb", and the environment variable NO_COLOR is unset or empty.
 */
bool base_paint_wanted(enum base_paint_when when, int fd);

/* Callback that receives the text with colours, piece by piece. */
typedef void base_paint_put(void *context, const char *bytes, size_t length);

/*
 * Adds colours to the text from `from` to `end`. The text consists of complete lines; only the last line may
 * lack its line feed. No colour extends beyond the end of a line.
 */
void base_paint(const char *from, const char *end, base_paint_put *put, void *context);

#endif
