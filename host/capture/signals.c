/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include "error.h"

int capture_signals_open(struct capture_signals *signals)
{
	sigset_t taken;

	signals->from = -1;
	sigemptyset(&taken);
	sigaddset(&taken, SIGINT);
	sigaddset(&taken, SIGTERM);
	sigaddset(&taken, SIGHUP);
	sigaddset(&taken, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &taken, &signals->before) != 0)
		return capture_fail_errno("sigprocmask");
	signals->from = signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signals->from >= 0)
		return 0;
	capture_fail_errno("signalfd");
	sigprocmask(SIG_SETMASK, &signals->before, NULL);
	return CAPTURE_E_SYSTEM;
}

int capture_signals_take(const struct capture_signals *signals, unsigned *count)
{
	struct signalfd_siginfo info;
	int last = 0;

	while (read(signals->from, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		last = (int)info.ssi_signo;
		++*count;
	}
	return last;
}

void capture_signals_close(struct capture_signals *signals)
{
	if (signals->from < 0)
		return;
	close(signals->from);
	signals->from = -1;
	sigprocmask(SIG_SETMASK, &signals->before, NULL);
}
