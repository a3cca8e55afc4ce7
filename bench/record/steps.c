/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "steps.h"

#include "../short.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#define FEW  16u
#define MANY 80u

/*
 * Runs a loop in a child process. Returns the number of instructions from the child's SIGSTOP to its end, or
 * -1.
 */
static long steps_of(void (*loop)(uint64_t n), uint64_t rounds)
{
	long steps = 0;
	int status;
	pid_t child = fork();

	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		loop(rounds);
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return -1;
	while (WIFSTOPPED(status)) {
		if (ptrace(PTRACE_SINGLESTEP, child, 0, 0) != 0 || waitpid(child, &status, 0) != child)
			return -1;
		steps++;
	}
	return WIFEXITED(status) ? steps : -1;
}

double steps_per_round(void (*loop)(uint64_t n))
{
	const uint64_t first = bench_short() ? 1 : FEW, more = bench_short() ? 1 : MANY - FEW;
	long few = steps_of(loop, first);
	long many = steps_of(loop, first + more);

	return few < 0 || many < 0 ? -1 : (double)(many - few) / (double)more;
}
