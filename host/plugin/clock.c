/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <time.h>

#include "trace.h"

#define SECOND	       UINT64_C(1000000000)
#define STEPS_A_SECOND 500000u /* packets of time, at most */

uint64_t clock_nanoseconds(void)
{
	static _Atomic uint64_t first;
	struct timespec now;
	uint64_t nanoseconds, none = 0;

	clock_gettime(CLOCK_MONOTONIC, &now);
	nanoseconds = (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
	if (first == 0)
		atomic_compare_exchange_strong(&first, &none, nanoseconds);
	return nanoseconds - first;
}

static uint64_t read_clock(const struct trace *trace)
{
	uint64_t passed = clock_nanoseconds() - trace->clock_start;

	if (trace->clock_frequency == SECOND)
		return trace->clock_base + passed;
	return trace->clock_base + passed / SECOND * trace->clock_frequency +
	       passed % SECOND * trace->clock_frequency / SECOND;
}

uint64_t clock_of(const struct trace *trace)
{
	uint64_t now = read_clock(trace);

	return now > trace->time ? now : trace->time;
}

void clock_catch_up(struct trace *trace, uint64_t stamp)
{
	uint64_t now = read_clock(trace);

	if (stamp > now)
		trace->clock_base += stamp - now;
}

void clock_set(struct trace *trace, uint64_t stamp, uint64_t frequency)
{
	/* Above this a second's remainder times the frequency would not fit; no clock is that fast. */
	int sane = frequency != 0 && frequency < UINT64_MAX / SECOND;

	trace->time = 0;
	trace->clock_start = sane ? clock_nanoseconds() : 0;
	trace->clock_base = sane ? stamp : 0;
	trace->clock_frequency = sane ? frequency : SECOND;
	trace->clock_step = trace->clock_frequency / STEPS_A_SECOND;
}
