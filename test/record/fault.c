/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Catches a signal, passes invalid addresses to the kernel, then accesses an invalid address itself. */
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void on_signal(int signal)
{
	(void)signal;
}

int main(void)
{
	const char *volatile nowhere = (const char *)16;
	struct stat stat_of;

	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
	signal(SIGUSR2, SIG_IGN);
	if (open(nowhere, O_RDONLY) >= 0 || write(1, nowhere, 100) >= 0 || stat(nowhere, &stat_of) == 0)
		return 1;
	return *(const volatile char *)nowhere;
}
