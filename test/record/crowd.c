/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A process with threads that keep their tracer busy all the time, and threads that create more threads. With
 * the argument "headless" the main thread ends immediately; with "beheaded" it ends on SIGUSR1.
 */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAKERS 4
#define ASKERS 40

long syscall(long number, ...);

static void *end(void *unused)
{
	return unused;
}

static void *make(void *unused)
{
	pthread_t thread;

	for (;;)
		if (pthread_create(&thread, NULL, end, unused) == 0)
			pthread_join(thread, NULL);
	return unused;
}

static void *ask(void *unused)
{
	for (;;)
		syscall(SYS_getppid);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	sigset_t wanted;
	int signal;

	sigemptyset(&wanted);
	sigaddset(&wanted, SIGUSR1);
	sigprocmask(SIG_BLOCK, &wanted, NULL);
	for (int n = 0; n < MAKERS + ASKERS; n++)
		if (pthread_create(&thread, NULL, n < MAKERS ? make : ask, NULL) != 0)
			return 1;
	if (argc > 1) {
		if (strcmp(argv[1], "beheaded") == 0)
			sigwait(&wanted, &signal);
		pthread_exit(NULL);
	}
	for (;;)
		pause();
}
