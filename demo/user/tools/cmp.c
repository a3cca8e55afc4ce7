/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* cmp FILE FILE: exits with status 0 if the files have the same contents. */
#include <program.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BLOCK 4096

static bool same(int a, int b)
{
	char of_a[BLOCK], of_b[BLOCK];
	int64_t n;

	do {
		n = read_all(a, of_a, BLOCK);
		if (n < 0 || read_all(b, of_b, BLOCK) != n || memcmp(of_a, of_b, (size_t)n) != 0)
			return false;
	} while (n == BLOCK);
	return true;
}

int main(int argc, char **argv)
{
	if (argc == 3 && same(open(argv[1], O_RDONLY, 0), open(argv[2], O_RDONLY, 0)))
		return 0;
	dprintf(STDERR, "cmp: the files differ\n");
	return 1;
}
