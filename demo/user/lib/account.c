/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <account.h>
#include <program.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LAST_CALLS 2 /* number of calls made after the counts are read: write and exit */

/*
 * Formats the account line and returns its length. `length` is the expected length of the line, because
 * the write of this line is counted as well.
 */
static size_t print_account(char *line, size_t size, size_t length, int pid)
{
	format(line, size,
	       "account %s pid=%d calls=%lu bytes=%lu packets=%lu children=%lu faults=%lu from=%lu "
	       "to=%lu\n",
	       program_name, pid, account.calls + LAST_CALLS, account.bytes + length, account.packets,
	       account.children, account.faults, account.from, account.to);
	return strlen(line);
}

_Noreturn void account_and_exit(int status)
{
	uint32_t all = UINT32_MAX;
	char line[256];
	int pid = getpid();
	size_t length = 0, before;

	/* All signals are blocked, so that no handler makes system calls after the counters are read. */
	sigprocmask(SIG_SETMASK, &all, NULL);
	do {
		before = length;
		length = print_account(line, sizeof(line), length, pid);
	} while (length != before);
	write(STDOUT, line, length);
	exit(status);
}
