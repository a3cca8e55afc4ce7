/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What was refused, why, and what was perhaps meant. */
#include "line.h"

struct refusal {
	struct ktrace_line line;
	uint32_t names;
};

static const char *reason_of(int error)
{
	switch (error) {
	case KTRACE_ERROR_NO_EVENT:
		return "no event has such a name";
	case KTRACE_ERROR_NO_SETTING:
		return "there is no such setting";
	case KTRACE_ERROR_READ_ONLY:
		return "it can only be read";
	case KTRACE_ERROR_ARGUMENT:
		return "out of range";
	default:
		return "not understood";
	}
}

static void put_near(void *cookie, const char *name)
{
	struct refusal *refusal = cookie;

	ktrace_line_text(&refusal->line, refusal->names++ ? ", " : "; near it: ");
	ktrace_line_text(&refusal->line, name);
}

void ktrace_console_refusal(const struct ktrace_console *console, int error)
{
	struct refusal refusal;
	size_t length;
	const char *word = ktrace_refused(&length);

	if (error >= 0)
		return;
	refusal.names = 0;
	ktrace_line_start(&refusal.line, console);
	ktrace_line_bytes(&refusal.line, word, (uint32_t)length);
	ktrace_line_text(&refusal.line, ": ");
	ktrace_line_text(&refusal.line, reason_of(error));
	if (error == KTRACE_ERROR_NO_EVENT || error == KTRACE_ERROR_NO_SETTING)
		ktrace_control_near(word, length, put_near, &refusal);
	ktrace_line_put(&refusal.line, '\n');
	ktrace_line_flush(&refusal.line);
}
