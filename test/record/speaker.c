/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Records data with utrace(), and traces itself with ktrace() into the file of the argument. Prints a line
 * for each result.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sys/ktrace.h>

static char large[KTR_USER_MAXLEN + 1];

static void tell(const char *what, int result)
{
	printf("%s %d %s\n", what, result, result < 0 ? strerror(errno) : "");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const char *file = argc > 1 ? argv[1] : "";

	memset(large, 'x', sizeof(large));
	tell("word", utrace("hello from user land", 20));
	tell("most", utrace(large, KTR_USER_MAXLEN));
	tell("more", utrace(large, KTR_USER_MAXLEN + 1));
	tell("nowhere", utrace((const void *)8, 16));
	tell("set", ktrace(file, KTROP_SET, KTRFAC_SYSCALL | KTRFAC_USER, getpid()));
	tell("there", utrace("in the other file", 17));
	getppid();
	tell("clear calls", ktrace(NULL, KTROP_CLEAR, KTRFAC_SYSCALL, getpid()));
	getppid();
	tell("clearfile", ktrace(file, KTROP_CLEARFILE, 0, 0));
	tell("nobody", ktrace(file, KTROP_SET, KTRFAC_SYSCALL, 1));
	tell("no operation", ktrace(file, 3, KTRFAC_SYSCALL, getpid()));
	tell("no facility", ktrace(file, KTROP_SET, 0, getpid()));
	tell("directory", ktrace("/tmp", KTROP_SET, KTRFAC_SYSCALL, getpid()));
	return 0;
}
