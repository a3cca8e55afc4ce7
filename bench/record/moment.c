/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "moment.h"

#include <time.h>

#include "peers.h"

#define EMPTY_ROUNDS 400000u

static __thread double best; /* fastest time of the thread's empty loops */

static double cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double time_of(void (*loop)(uint64_t n), uint64_t rounds)
{
	double begun = cpu_ns();

	loop(rounds);
	return (cpu_ns() - begun) / (double)rounds;
}

static double empty_time(void)
{
	double time = time_of(empty_tight, EMPTY_ROUNDS);

	if (best == 0 || time < best)
		best = time;
	return time;
}

double moment_time_beside(void (*loop)(uint64_t n), uint64_t rounds, double *slowest)
{
	double before = empty_time(), time = time_of(loop, rounds), after = empty_time();
	double slower = before > after ? before : after;

	*slowest = slower > *slowest ? slower : *slowest;
	return time;
}

double moment_time(void (*loop)(uint64_t n), uint64_t rounds, bool *own)
{
	double slowest = 0, time = moment_time_beside(loop, rounds, &slowest);

	if (slowest > best * MOMENT_SHARED_RATIO)
		*own = false;
	return time;
}
