/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Invented traces ("stories") of threads that sleep far longer than before, on a machine that looks idle. */
#include "test/golden/why_stories.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ktrace/hooks.h"
#include "test/fake/machine.h"
#include "test/golden/why_story.h"

#define WORK  0x88000u
#define TURNS 30u
#define EVERY 50u /* ms */

/*
 * Thread 5 sleeps and thread 6 wakes it, TURNS times. Thread 6 sleeps between these wakeups. Returns the time
 * in ms at which thread 5 runs last.
 */
static uint64_t take_turns(uint32_t kind, const char *what)
{
	uint64_t ms = 20;

	for (uint32_t n = 0; n < TURNS; n++, ms += EVERY) {
		run(0, 5, ms);
		sleep_on(WORK, what, kind, 0);
		at(ms + EVERY - 1);
		run(1, 6, ms + EVERY - 1);
		wake(5);
		sleep_on(0, NULL, KTRX_WAIT_TIME, ms + 2 * EVERY - 1);
	}
	run(0, 5, ms);
	return ms;
}

/* Thread 6 continues to run from time to time, but no longer wakes thread 5. */
static void make_unwoken(void)
{
	uint64_t ms;

	boot();
	ms = take_turns(KTRX_WAIT_EVENT, "jobs");
	sleep_on(WORK, "jobs", KTRX_WAIT_EVENT, 0);
	while ((ms += EVERY) < 5000) {
		go_on_to(ms);
		run(1, 6, ms);
		sleep_on(0, NULL, KTRX_WAIT_TIME, ms + EVERY);
	}
	go_on_to(5000);
	save("unwoken.ktrx");
}

/* All CPUs record so much that events older than a second are overwritten. CPU 2 runs only thread 8. */
static void overwrite_until(uint64_t from_ms, uint64_t to_ms)
{
	for (uint64_t ms = from_ms; ms < to_ms; ms += EVERY) {
		for (uint32_t n = 0; n < 12; n++) {
			run(0, 7, ms + 2 * n);
			sleep_on(0, NULL, KTRX_WAIT_TIME, ms + 2 * n + 1);
			run(1, 6, ms + 2 * n);
			sleep_on(0, NULL, KTRX_WAIT_TIME, ms + 2 * n + 1);
			run(2, 8, ms + 2 * n + 1);
			take(B, KTRACE_BY_THREAD, PLACE);
			give(B, KTRACE_BY_THREAD);
		}
		go_on_to(ms + EVERY);
	}
}

/*
 * Like the story "unwoken", but the events are overwritten. The wait is still in thread 5's entry of the
 * state table.
 */
static void make_unwoken_busy(void)
{
	uint64_t ms;

	boot();
	ms = take_turns(KTRX_WAIT_EVENT, "jobs");
	sleep_on(WORK, "jobs", KTRX_WAIT_EVENT, 0);
	overwrite_until(ms + EVERY, 16000);
	save("unwoken-busy.ktrx");
}

/* Like the story "stuck-device", but other events have overwritten those of the wait. */
static void make_stuck_device_busy(void)
{
	uint64_t ms;

	boot();
	ms = take_turns(KTRX_WAIT_DEVICE, "disk");
	take(A, KTRACE_BY_THREAD, PLACE);
	sleep_on(WORK, "disk", KTRX_WAIT_DEVICE, 0);
	run(2, 7, ms + 1);
	sleep_for(A, "alpha", 5, PLACE + 0x10);
	for (ms += EVERY; ms < 16000; ms += 10) {
		for (uint32_t cpu = 0; cpu < 3; cpu++) {
			run(cpu, cpu == 0 ? 8 : cpu == 1 ? 6 : IDLE + 2, ms + cpu);
			if (cpu == 1)
				sleep_on(0, NULL, KTRX_WAIT_TIME, ms + 10);
			take(B, KTRACE_BY_CPU, PLACE);
			give(B, KTRACE_BY_CPU);
		}
		go_on_to(ms + 10);
	}
	save("stuck-device-busy.ktrx");
}

/* Thread 5 holds a mutex that thread 7 waits for, and waits for a device that does not answer. */
static void make_stuck_device(void)
{
	uint64_t ms;

	boot();
	ms = take_turns(KTRX_WAIT_DEVICE, "disk");
	take(A, KTRACE_BY_THREAD, PLACE);
	sleep_on(WORK, "disk", KTRX_WAIT_DEVICE, 0);
	run(2, 7, ms + 1);
	sleep_for(A, "alpha", 5, PLACE + 0x10);
	run(1, 6, ms + EVERY - 1);
	sleep_on(0, NULL, KTRX_WAIT_TIME, 9010);
	go_on_to(9000);
	save("stuck-device.ktrx");
}

/* Thread 6 still sleeps after its timeout has expired, although its CPU gets timer ticks. */
static void make_late(void)
{
	boot();
	run(1, 6, 20);
	sleep_on(0, NULL, KTRX_WAIT_TIME, 70);
	go_on_to(5000);
	save("late.ktrx");
}

/* Thread 5 waits, but not longer than it has waited before. */
static void make_rest(void)
{
	boot();
	run(0, 5, 20);
	sleep_on(WORK, "letters", KTRX_WAIT_EVENT, 0);
	go_on_to(3000);
	run(1, 6, 3005);
	wake(5);
	sleep_on(0, NULL, KTRX_WAIT_TIME, 9000);
	run(0, 5, 3006);
	sleep_on(WORK, "letters", KTRX_WAIT_EVENT, 0);
	go_on_to(5000);
	save("rest.ktrx");
}

void make_overdue(void)
{
	make_unwoken();
	make_unwoken_busy();
	make_stuck_device();
	make_stuck_device_busy();
	make_late();
	make_rest();
}
