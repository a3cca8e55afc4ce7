/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The argument is the number of processes to create. In each process, threads create threads until the
 * main thread ends the process, so some threads have ended before a tracer gets the report of their
 * creation. Every second process is killed by its parent.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAKERS 3

static void *end(void *unused)
{
	return unused;
}

static void *make(void *unused)
{
	pthread_t thread;

	for (;;)
		if (pthread_create(&thread, NULL, end, unused) == 0)
			pthread_detach(thread);
	return unused;
}

static _Noreturn void live(int n)
{
	pthread_t thread;

	for (int i = 0; i < MAKERS; i++)
		if (pthread_create(&thread, NULL, make, NULL) != 0)
			_exit(1);
	usleep((useconds_t)(n * 137 % 3000));
	_exit(0);
}

int main(int argc, char **argv)
{
	for (int n = argc > 1 ? atoi(argv[1]) : 0; n > 0; n--) {
		pid_t pid = fork();

		if (pid < 0)
			return 1;
		if (pid == 0)
			live(n);
		if (n % 2)
			usleep((useconds_t)(n * 91 % 2000));
		if (n % 2)
			kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	return 0;
}
