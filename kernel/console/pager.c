/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "pager.h"

#define KTRACE_PAGE_LINES 24u

static uint32_t page_room(const struct ktrace_console *console)
{
	uint32_t lines = console->lines ? console->lines : KTRACE_PAGE_LINES;

	return lines > 1 ? lines - 1 : 1; /* one is the pager's */
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
