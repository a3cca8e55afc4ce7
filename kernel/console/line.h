/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A line of text on its way to the console: gathered, so that it arrives in one piece unless it is very long.
 * Members are for line.c alone.
 */
#ifndef KTRACE_CONSOLE_LINE_H
#define KTRACE_CONSOLE_LINE_H

#include "ktrace/console.h"

#define KTRACE_LINE_BYTES 192u /* of one piece */

struct ktrace_line {
	const struct ktrace_console *console;
	uint32_t length;
	char text[KTRACE_LINE_BYTES];
};

void ktrace_line_start(struct ktrace_line *line, const struct ktrace_console *console);

/* A character as it is. */
void ktrace_line_put(struct ktrace_line *line, char character);

/* Printable characters as they are, all others as \xNN. */
void ktrace_line_text(struct ktrace_line *line, const char *text);
void ktrace_line_bytes(struct ktrace_line *line, const char *text, uint32_t bytes);

void ktrace_line_pad(struct ktrace_line *line, char with, uint32_t count);
void ktrace_line_decimal(struct ktrace_line *line, uint64_t number);
void ktrace_line_hex(struct ktrace_line *line, uint64_t number); /* with 0x */

/* Everything goes out. */
void ktrace_line_flush(struct ktrace_line *line);

#endif
