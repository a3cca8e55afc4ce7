/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A program with several cases, for the tests of `ktrace record`. `PROGRAM CASE` runs a case and prints the
 * results of its system calls. The output contains no process ids, so the outputs of a plain run and of a
 * recorded run can be compared. `PROGRAM` alone lists the cases.
 */
#ifndef RECORD_CASES_H
#define RECORD_CASES_H

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

struct test_case {
	const char *name;
	int (*run)(void); /* function that runs the case and returns the program's exit status */
};

/* Path of this program, for cases that execute it again. */
static const char *self;

static inline int print_result(const char *what, long result)
{
	printf("%s: %s\n", what, result < 0 ? strerrorname_np(errno) : "done");
	return 0;
}

static inline int await(pid_t pid)
{
	int status = -1;

	while (waitpid(pid, &status, __WALL) < 0 && errno == EINTR)
		continue;
	if (WIFSIGNALED(status))
		printf("child: signal %d\n", WTERMSIG(status));
	else
		printf("child: status %d\n", WEXITSTATUS(status));
	return 0;
}

static inline int over(void)
{
	return print_result("exec", 0);
}

static inline int run_case(const struct test_case *cases, int argc, char **argv)
{
	self = argv[0];
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (; cases->name; cases++)
		if (argc < 2)
			puts(cases->name);
		else if (strcmp(argv[1], cases->name) == 0)
			return cases->run();
	return argc > 1;
}

#endif
