/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A text line of standard output that is composed piece by piece. A long line is written in several parts. */
#ifndef USER_LINE_H
#define USER_LINE_H

#include <stddef.h>

struct line {
	char text[512];
	size_t length;
};

void line_put(struct line *line, const char *text, ...) __attribute__((format(printf, 2, 3)));
void line_byte(struct line *line, char byte);
void line_flush(struct line *line); /* writes what has been composed so far */

#endif
