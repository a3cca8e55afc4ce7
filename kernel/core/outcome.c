/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* How the kernel ended: kept in the root, where a reader finds it without any event. */
#include "keep.h"

/*
 * Declared whatever is left out of the build: the section of rows must exist in a kernel without events,
 * too.
 */
KTRACE_DECLARE(1, ktrace_event_ktrace_panic, "ktrace\0panic", KTRX_STATE_RECORD, KTRX_EVENT_RARE,
	       KTRX_V1_NONE, "%s", (const char *, message));

void ktrace_set_end_hook(ktrace_end_hook *hook, void *cookie)
{
	ktrace_state.end_cookie = cookie;
	ktrace_state.end_hook = hook;
}

static void end(uint32_t outcome, int status)
{
	if (ktrace_root.outcome == KTRX_OUTCOME_RUNNING) {
		ktrace_root.status = status;
		*(volatile uint32_t *)&ktrace_root.outcome = outcome;
	}
	ktrace_keep_all();
	if (!ktrace_state.end_hook || ktrace_arch_fetch_add(&ktrace_state.ended, 1) != 0)
		return;
	ktrace_state.end_hook(ktrace_state.end_cookie);
}

void ktrace_panic(const char *message)
{
	KTRACE_SITE(1, 0, ktrace_event_ktrace_panic, message);
	if (!ktrace_state.panic_goes_on)
		ktrace_stop();
	end(KTRX_OUTCOME_PANIC, 0);
}

void ktrace_exit(int status)
{
	end(KTRX_OUTCOME_EXITED, status);
}
