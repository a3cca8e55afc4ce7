/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* mkdir PATH…: makes directories. */
#include <program.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int failed = 0;

	for (int i = 1; i < argc; i++) {
		int error = mkdir(argv[i], 0777);

		if (error) {
			dprintf(STDERR, "mkdir: %s: error %d\n", argv[i], -error);
			failed = 1;
		}
	}
	return failed;
}
