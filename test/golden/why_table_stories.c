/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Invented traces ("stories") of a kernel with more threads than entries in its state table. */
#include "test/golden/why_stories.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "kernel/core/state.h"
#include "ktrace/hooks.h"
#include "test/fake/machine.h"
#include "test/golden/why_story.h"

#define CROWD 20u /* id of the first of the threads that fill the table */

/* Fills the table: adds threads that sleep for an hour until each entry belongs to a thread. */
static void fill_table(void)
{
	const uint32_t rest = ktrace_state.holders - FAKE_CPUS; /* the idle threads already have entries */

	for (uint32_t n = 0; n < rest; n++) {
		run(0, CROWD + n, 2 + n);
		sleep_on(PLACE + n, "timer", KTRX_WAIT_TIME, 3600000);
	}
	assert_int_equal(ktrace_state.cpu[0].refused, 0);
}

/* Two threads without an entry wait for each other's lock. Only events show what they do. */
static void make_crowd(void)
{
	boot();
	fill_table();
	run(0, 5, 20);
	take(A, KTRACE_BY_THREAD, PLACE + 1);
	run(1, 6, 21);
	take(B, KTRACE_BY_THREAD, PLACE + 2);
	at(30);
	fake.cpu = 0;
	fake.thread = 5;
	sleep_for(B, "beta", 6, PLACE + 3);
	fake.cpu = 1;
	fake.thread = 6;
	sleep_for(A, "alpha", 5, PLACE + 4);
	go_on_to(2030);
	save("crowd.ktrx");
	/* an older kernel does not count the threads without an entry */
	for (uint32_t cpu = 0; cpu < FAKE_CPUS; cpu++)
		ktrace_state.cpu[cpu].refused = 0;
	save("crowd-older.ktrx");
}

/* All locks are free, and all threads sleep. But the table does not show what some of the threads do. */
static void make_crowd_asleep(void)
{
	boot();
	fill_table();
	run(0, 5, 20);
	sleep_on(PLACE + 0x100, "timer", KTRX_WAIT_TIME, 3600000);
	go_on_to(2030);
	save("crowd-asleep.ktrx");
}

/* A thread that got its entry late holds a lock that is not in the entry, and another thread waits for it. */
static void make_crowd_late(void)
{
	boot();
	fill_table();
	run(0, 5, 20);
	take(A, KTRACE_BY_THREAD, PLACE + 1);
	fake.cpu = 1;
	ktrace_thread_exit(CROWD);
	ktrace_thread_exit(CROWD + 1);
	ktrace_thread_exit(CROWD + 2);
	run(1, 6, 21);
	take(B, KTRACE_BY_THREAD, PLACE + 2);
	at(30);
	fake.cpu = 0;
	fake.thread = 5;
	sleep_for(B, "beta", 6, PLACE + 3);
	fake.cpu = 1;
	fake.thread = 6;
	sleep_for(A, "alpha", 5, PLACE + 4);
	go_on_to(2030);
	save("crowd-late.ktrx");
}

void make_crowds(void)
{
	make_crowd();
	make_crowd_asleep();
	make_crowd_late();
}
