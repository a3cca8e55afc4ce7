/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <line.h>
#include <program.h>
#include <stdio.h>
#include <string.h>

#define PIECE 128 /* maximum length of the text of one call */

void line_put(struct line *line, const char *text, ...)
{
	va_list arguments;

	if (sizeof(line->text) - line->length < PIECE)
		line_flush(line);
	va_start(arguments, text);
	vformat(line->text + line->length, PIECE, text, arguments);
	va_end(arguments);
	line->length += strlen(line->text + line->length);
}

void line_byte(struct line *line, char byte)
{
	if (line->length == sizeof(line->text))
		line_flush(line);
	line->text[line->length++] = byte;
}

void line_flush(struct line *line)
{
	write_all(STDOUT, line->text, line->length);
	line->length = 0;
}
