/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Eight threads that make the same number of calls at the same time. The counts are the same in each run. */
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THREADS 8
#define CALLS	500

long syscall(long number, ...);

static void *ask(void *unused)
{
	for (int n = 0; n < CALLS; n++)
		syscall(SYS_getppid);
	return unused;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (int n = 0; n < THREADS; n++)
		if (pthread_create(&threads[n], NULL, ask, NULL) != 0)
			return 1;
	for (int n = 0; n < THREADS; n++)
		pthread_join(threads[n], NULL);
	return 0;
}
