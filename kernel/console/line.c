/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "line.h"

#include "../base/span.h"

void ktrace_line_start(struct ktrace_line *line, const struct ktrace_console *console)
{
	line->console = console;
	line->length = 0;
}

void ktrace_line_flush(struct ktrace_line *line)
{
	if (line->length > 0)
		line->console->write(line->console, line->text, line->length);
	line->length = 0;
}

void ktrace_line_put(struct ktrace_line *line, char character)
{
	if (line->length == KTRACE_LINE_BYTES)
		ktrace_line_flush(line);
	line->text[line->length++] = character;
}

static void put_escaped(struct ktrace_line *line, unsigned char byte)
{
	if (byte >= 0x20 && byte < 0x7f) {
		ktrace_line_put(line, (char)byte);
		return;
	}
	ktrace_line_put(line, '\\');
	ktrace_line_put(line, 'x');
	ktrace_line_put(line, ktrace_hex[byte >> 4]);
	ktrace_line_put(line, ktrace_hex[byte & 15]);
}

void ktrace_line_bytes(struct ktrace_line *line, const char *text, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++)
		put_escaped(line, (unsigned char)text[i]);
}

void ktrace_line_text(struct ktrace_line *line, const char *text)
{
	while (*text)
		put_escaped(line, (unsigned char)*text++);
}

void ktrace_line_pad(struct ktrace_line *line, char with, uint32_t count)
{
	for (; count > 0; count--)
		ktrace_line_put(line, with);
}

static void put_number(struct ktrace_line *line, uint64_t number, uint32_t base)
{
	char digits[KTRACE_DIGITS_MAX];
	uint32_t count = ktrace_digits(digits, number, base);

	ktrace_line_bytes(line, digits + KTRACE_DIGITS_MAX - count, count);
}

void ktrace_line_decimal(struct ktrace_line *line, uint64_t number)
{
	put_number(line, number, 10);
}

void ktrace_line_hex(struct ktrace_line *line, uint64_t number)
{
	ktrace_line_put(line, '0');
	ktrace_line_put(line, 'x');
	put_number(line, number, 16);
}
