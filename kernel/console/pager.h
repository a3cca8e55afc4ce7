/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Waits for a key at the end of each page, on a console that has keys. */
#ifndef KTRACE_CONSOLE_PAGER_H
#define KTRACE_CONSOLE_PAGER_H

#include <stdbool.h>

#include "ktrace/console.h"

struct ktrace_pager {
	const struct ktrace_console *console;
	bool at_once;  /* it never waits */
	uint32_t room; /* lines until it does */
};

void ktrace_pager_start(struct ktrace_pager *pager, const struct ktrace_console *console, bool at_once);

/* Called before each line; false: the user has seen enough. */
bool ktrace_pager_may_go_on(struct ktrace_pager *pager);

#endif
