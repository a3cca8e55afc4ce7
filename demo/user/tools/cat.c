/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* cat [FILE…]: prints the contents of files, or of standard input. */
#include <program.h>
#include <stdio.h>
#include <unistd.h>

static int copy(int fd)
{
	char buffer[4096];
	int64_t n;

	while ((n = read(fd, buffer, sizeof(buffer))) > 0)
		if (write(STDOUT, buffer, (size_t)n) != n)
			return 1;
	return n < 0;
}

int main(int argc, char **argv)
{
	int failed = 0;

	if (argc == 1)
		return copy(STDIN);
	for (int i = 1; i < argc; i++) {
		int fd = open(argv[i], O_RDONLY, 0);

		if (fd < 0 || copy(fd)) {
			dprintf(STDERR, "cat: %s cannot be read\n", argv[i]);
			failed = 1;
		}
		if (fd >= 0)
			close(fd);
	}
	return failed;
}
