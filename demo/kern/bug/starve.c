/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A sampler reads a sensor as often as it can; a reporter thread on the same CPU summarizes.
 * The mistake: the sampler has a high priority and never sleeps, it only yields. But yielding lets only
 * threads of the same or a higher priority run, so the reporter never runs again.
 */
#include <stddef.h>

#include "args.h"
#include "clock.h"
#include "cpu.h"
#include "sched.h"
#include "thread.h"
#include "timer.h"
#include "wait.h"
#include "bug/bug.h"

#define URGENT	     (PRIORITY_DEFAULT + 1)
#define TEST_SAMPLES 10 /* minimum number of samples before the sampler raises its priority */
#define SAMPLE_NS    (NS_PER_MS / 10)

static unsigned samples, reports; /* accessed atomically */

static void take_sample(void)
{
	work_compute(SAMPLE_NS);
	__atomic_add_fetch(&samples, 1, __ATOMIC_RELAXED);
}

static void sampler(void *argument)
{
	unsigned tests = TEST_SAMPLES + (unsigned)arg_number("seed", 0) % TEST_SAMPLES;

	(void)argument;
	for (unsigned i = 0; i < tests; i++) {
		take_sample();
		timer_sleep(NS_PER_MS);
	}
	thread_set_priority(URGENT);
	for (;;) {
		take_sample();
		sched_yield();
	}
}

static void reporter(void *argument)
{
	(void)argument;
	for (;;) {
		timer_sleep(20 * NS_PER_MS);
		__atomic_add_fetch(&reports, 1, __ATOMIC_RELAXED);
	}
}

void bug_starve(uint64_t until_ns)
{
	int cpu = (int)cpu_count - 1;

	thread_create("sampler", sampler, NULL, cpu);
	thread_create("reporter", reporter, NULL, cpu);
	while (!work_over(until_ns))
		timer_sleep(100 * NS_PER_MS);
}
