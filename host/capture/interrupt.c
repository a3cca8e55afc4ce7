/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "interrupt.h"

#include <time.h>

#include "error.h"

static void fill(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
}

void capture_hold_signals(sigset_t *before)
{
	sigset_t held;

	fill(&held);
	sigprocmask(SIG_BLOCK, &held, before);
}

int capture_check_interrupt(const char *what)
{
	sigset_t pending;

	if (sigpending(&pending) != 0 || !(sigismember(&pending, SIGINT) || sigismember(&pending, SIGTERM) ||
					   sigismember(&pending, SIGHUP)))
		return 0;
	return capture_fail(CAPTURE_E_SYSTEM, "%s: interrupted", what);
}

int capture_take_signal(void)
{
	sigset_t held;
	int taken;

	fill(&held);
	taken = sigtimedwait(&held, NULL, &(struct timespec){ 0 });
	return taken > 0 ? taken : 0;
}

void capture_release_signals(const sigset_t *before, int taken)
{
	if (taken)
		raise(taken);
	sigprocmask(SIG_SETMASK, before, NULL);
}
