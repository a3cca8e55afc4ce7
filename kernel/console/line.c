/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Lines for the console, and the pager. */
#include "line.h"

#include "../base/bytes.h"

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

/* ---- The pager -------------------------------------------------------------------------------- */

#define KTRACE_PAGE_LINES 24u

static uint32_t page_room(const struct ktrace_console *console)
{
	uint32_t lines = console->lines ? console->lines : KTRACE_PAGE_LINES;

	return lines > 1 ? lines - 1 : 1; /* the pager's prompt needs one line of the page */
}

void ktrace_pager_start(struct ktrace_pager *pager, const struct ktrace_console *console, bool at_once)
{
	pager->console = console;
	pager->at_once = at_once || !console->key;
	pager->room = page_room(console);
}

bool ktrace_pager_may_go_on(struct ktrace_pager *pager)
{
	static const char more[] = "--More--", wiped[] = "\r        \r";
	const struct ktrace_console *console = pager->console;
	int key;

	if (pager->at_once || pager->room-- > 0)
		return true;
	console->write(console, more, sizeof(more) - 1);
	do
		key = console->key(console);
	while (key >= 0 && key != ' ' && key != '\r' && key != '\n' && key != 'q');
	console->write(console, wiped, sizeof(wiped) - 1);
	pager->room = key == ' ' ? page_room(console) - 1 : 0;
	return key >= 0 && key != 'q';
}
