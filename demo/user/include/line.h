/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A line of text for standard output, which is composed piece by piece. If it becomes too long for the
 * buffer, it is written in several parts.
 */
#ifndef USER_LINE_H
#define USER_LINE_H

#include <stddef.h>

struct line {
	char text[512];
	size_t length;
};

void line_put(struct line *line, const char *text, ...) __attribute__((format(printf, 2, 3)));
void line_byte(struct line *line, char byte);
/* Writes the text that has been composed so far, and empties the buffer. */
void line_flush(struct line *line);

#endif
