/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * time PROGRAM [ARGUMENT…]: runs a program and prints its duration. Its exit status is that of the program.
 */
#include <program.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char path[PATH_MAX];
	uint64_t start = now_ns();
	int pid, status;

	if (argc < 2) {
		dprintf(STDERR, "usage: time PROGRAM [ARGUMENT...]\n");
		return 1;
	}
	format(path, sizeof(path), "/bin/%s", argv[1]);
	pid = start_program(path, argv + 1);
	status = pid < 0 ? pid : wait_for(pid);
	printf("time: %s: %lu us\n", argv[1], (unsigned long)((now_ns() - start) / 1000));
	return status >= 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
