/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A process in which all threads are busy, including the main thread, until one of the other threads calls
 * exec. The new program does the same. The argument is the number of times that exec is called.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ASKERS 8

long syscall(long number, ...);

static char *self;
static int left;

static void *ask(void *unused)
{
	for (;;)
		syscall(SYS_getppid);
	return unused;
}

static void *replace(void *unused)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", left - 1);
	usleep((useconds_t)(left * 137 % 3000));
	execl(self, self, number, (char *)NULL);
	_exit(1);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	self = argv[0];
	left = argc > 1 ? atoi(argv[1]) : 0;
	if (left <= 0)
		return 0;
	for (int n = 0; n <= ASKERS; n++)
		if (pthread_create(&thread, NULL, n < ASKERS ? ask : replace, NULL) != 0)
			return 1;
	ask(NULL);
}
