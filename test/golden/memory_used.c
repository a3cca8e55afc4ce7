/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* memory-used COMMAND…: prints the maximum resident memory of the command in KB, and its exit status. Discards its output. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	pid_t child = argc > 1 ? fork() : -1;
	struct rusage usage;
	int status;

	if (child == 0) {
		int nothing = open("/dev/null", O_WRONLY);

		if (dup2(nothing, STDOUT_FILENO) >= 0 && dup2(nothing, STDERR_FILENO) >= 0)
			execvp(argv[1], argv + 1);
		_exit(127);
	}
	if (child < 0 || wait4(child, &status, 0, &usage) != child || !WIFEXITED(status))
		return EXIT_FAILURE;
	printf("%ld %d\n", usage.ru_maxrss, WEXITSTATUS(status));
	return EXIT_SUCCESS;
}
