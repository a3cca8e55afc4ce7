// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
/*
 * cputime COMMAND ARGUMENT…: runs the command, discards its error output, and prints its CPU time in seconds
 * on stderr.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct rusage usage;
	int status;
	pid_t child;

	if (argc < 2)
		return 2;
	child = fork();
	if (child == 0) {
		int nowhere = open("/dev/null", O_WRONLY);

		dup2(nowhere, STDERR_FILENO);
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || getrusage(RUSAGE_CHILDREN, &usage) != 0)
		return 1;
	fprintf(stderr, "%.3f\n",
		(double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
			(double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 125;
}
