/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Makes records with utrace(), and traces itself with ktrace() into the file named by the argument. Prints a
 * line for each result.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sys/ktrace.h>

static char large[KTR_USER_MAXLEN + 1];

static void print_result(const char *what, int result)
{
	printf("%s %d %s\n", what, result, result < 0 ? strerror(errno) : "");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const char *file = argc > 1 ? argv[1] : "";

	memset(large, 'x', sizeof(large));
	print_result("word", utrace("hello from user land", 20));
	print_result("most", utrace(large, KTR_USER_MAXLEN));
	print_result("more", utrace(large, KTR_USER_MAXLEN + 1));
	print_result("nowhere", utrace((const void *)8, 16));
	print_result("set", ktrace(file, KTROP_SET, KTRFAC_SYSCALL | KTRFAC_USER, getpid()));
	print_result("there", utrace("in the other file", 17));
	getppid();
	print_result("clear calls", ktrace(NULL, KTROP_CLEAR, KTRFAC_SYSCALL, getpid()));
	getppid();
	print_result("clearfile", ktrace(file, KTROP_CLEARFILE, 0, 0));
	print_result("process 1", ktrace(file, KTROP_SET, KTRFAC_SYSCALL, 1));
	print_result("no operation", ktrace(file, 3, KTRFAC_SYSCALL, getpid()));
	print_result("no facility", ktrace(file, KTROP_SET, 0, getpid()));
	print_result("directory", ktrace("/tmp", KTROP_SET, KTRFAC_SYSCALL, getpid()));
	return 0;
}
