/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* wc [FILE…]: prints the number of lines, words and bytes of files, or of standard input. */
#include <program.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

static int count(int fd, const char *name)
{
	unsigned long lines = 0, words = 0, bytes = 0;
	char buffer[4096];
	bool in_word = false;
	int64_t n;

	while ((n = read(fd, buffer, sizeof(buffer))) > 0) {
		bytes += (unsigned long)n;
		for (int64_t i = 0; i < n; i++) {
			bool blank = buffer[i] == ' ' || buffer[i] == '\n' || buffer[i] == '\t';

			lines += buffer[i] == '\n';
			words += !blank && !in_word;
			in_word = !blank;
		}
	}
	printf("%lu %lu %lu%s%s\n", lines, words, bytes, *name ? " " : "", name);
	return n < 0;
}

int main(int argc, char **argv)
{
	int failed = 0;

	if (argc == 1)
		return count(STDIN, "");
	for (int i = 1; i < argc; i++) {
		int fd = open(argv[i], O_RDONLY, 0);

		if (fd < 0 || count(fd, argv[i])) {
			dprintf(STDERR, "wc: %s cannot be read\n", argv[i]);
			failed = 1;
		}
		if (fd >= 0)
			close(fd);
	}
	return failed;
}
