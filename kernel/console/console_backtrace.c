/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The callers of the function that asks, a line each. */
#include "ktrace/backtrace.h"

#include "line.h"

#define KTRACE_MOST 20u /* what a small stack has room for */
#define KTRACE_OWN  2u	/* addresses passed over: in this function, and in the one that calls it */

/* Not inlined, so that it has a frame to be passed over. */
__attribute__((__noinline__)) void ktrace_console_backtrace(const struct ktrace_console *console, int count)
{
	uintptr_t address[KTRACE_OWN + KTRACE_MOST];
	uint32_t most = count >= 0 && count < (int)KTRACE_MOST ? (uint32_t)count : KTRACE_MOST;
	struct ktrace_line line;
	uint32_t found;

	ktrace_line_start(&line, console);
	if (!ktrace_has_backtrace()) {
		ktrace_line_text(&line, "no backtrace: the kernel was built without KTRACE_FRAME_POINTERS");
		ktrace_line_put(&line, '\n');
		ktrace_line_flush(&line);
		return;
	}
	found = ktrace_backtrace(address, KTRACE_OWN + most);
	for (uint32_t n = KTRACE_OWN; n < found; n++) {
		ktrace_line_put(&line, '#');
		ktrace_line_decimal(&line, n - KTRACE_OWN);
		ktrace_line_put(&line, ' ');
		ktrace_line_hex(&line, address[n]);
		ktrace_line_put(&line, '\n');
	}
	ktrace_line_flush(&line);
}
