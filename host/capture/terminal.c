/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "terminal.h"

void capture_terminal_save(struct capture_terminal *terminal)
{
	terminal->flags = fcntl(STDIN_FILENO, F_GETFL);
	terminal->present = tcgetattr(STDIN_FILENO, &terminal->state) == 0;
}

void capture_terminal_restore(const struct capture_terminal *terminal)
{
	sigset_t blocked, before;

	if (terminal->flags >= 0)
		fcntl(STDIN_FILENO, F_SETFL, terminal->flags);
	if (!terminal->present || tcgetpgrp(STDIN_FILENO) != getpgrp())
		return;
	/* Having been put into the background since the question must not stop us. */
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGTTOU);
	sigprocmask(SIG_BLOCK, &blocked, &before);
	tcsetattr(STDIN_FILENO, TCSANOW, &terminal->state);
	sigprocmask(SIG_SETMASK, &before, NULL);
}
