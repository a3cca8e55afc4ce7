/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* rm PATH…: removes files and empty directories. */
#include <program.h>
#include <stdio.h>
#include <unistd.h>

static int remove_path(const char *path)
{
	int error = unlink(path);

	return error == -EISDIR ? rmdir(path) : error;
}

int main(int argc, char **argv)
{
	int failed = 0;

	for (int i = 1; i < argc; i++) {
		int error = remove_path(argv[i]);

		if (error) {
			dprintf(STDERR, "rm: %s: error %d\n", argv[i], -error);
			failed = 1;
		}
	}
	return failed;
}
