/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Invented traces ("stories") of kernels that pass wrong states to sched.switch. The state table, which the
 * hooks update, has the right states.
 */
#include "test/golden/why_stories.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ktrace/hooks.h"
#include "test/fake/machine.h"
#include "test/golden/why_story.h"

/* why_story.c also records a sched.switch, but without a state. */
KTRACE_DECLARE(1, ktrace_event_stated_switch, "sched\0switch", KTRX_STATE_RECORD, 0, KTRX_V1_NONE,
	       "%u -> %u, state %u", (uint32_t, prev), (uint32_t, next), (uint32_t, state));

/* The numbers by which a kernel represents the states of a thread. */
struct numbers {
	uint32_t runnable, asleep, dead;
};

static const struct numbers right = { 0, 1, 4 }, all_dead = { 4, 4, 4 }, all_asleep = { 1, 1, 1 },
			    xv6 = { 3, 2, 5 };

static uint32_t running;

/* CPU 0 switches from a thread, which is then in this state, to the thread `next`. */
static void change(uint32_t next, uint32_t state)
{
	KTRACE(stated, switch, running, next, state);
	ktrace_thread_switch(running, next);
	ktrace_mode(next == IDLE ? KTRX_MODE_IDLE : KTRX_MODE_KERNEL);
	running = fake.thread = next;
}

static void wake_from_interrupt(uint32_t thread)
{
	fake.thread = running | KTRX_CONTEXT_INTERRUPT << KTRX_W1_CONTEXT_SHIFT;
	wake(thread);
	fake.thread = running;
}

/*
 * Every 10 ms, interrupts wake red and green. Green preempts red, and then both sleep again. The last time,
 * nothing wakes them again, and red sleeps while it holds a mutex that blue waits for.
 */
static void make_story(const struct numbers *numbers, const char *file)
{
	boot();
	running = IDLE;
	for (uint64_t ms = 20; ms < 1020; ms += 10) {
		go_on_to(ms);
		fake.cpu = 0;
		fake.thread = running;
		wake_from_interrupt(5);
		change(5, numbers->runnable);
		at(ms + 1);
		wake_from_interrupt(6);
		change(6, numbers->runnable);
		at(ms + 2);
		announce_sleep(B, "timer", KTRX_WAIT_TIME, ms + 10);
		change(5, numbers->asleep);
		at(ms + 3);
		if (ms == 1010)
			take(A, KTRACE_BY_THREAD, PLACE + 1);
		announce_sleep(C, "timer", KTRX_WAIT_TIME, ms < 1010 ? ms + 10 : 3600000);
		change(IDLE, numbers->asleep);
	}
	at(1018);
	change(8, numbers->runnable);
	announce_end();
	change(7, numbers->dead);
	announce_wait(A, "alpha", 5, PLACE + 2);
	change(IDLE, numbers->asleep);
	go_on_to(3020);
	save(file);
}

void make_states(void)
{
	make_story(&right, "right-states.ktrx");
	make_story(&all_dead, "always-4.ktrx");
	make_story(&all_asleep, "always-1.ktrx");
	make_story(&xv6, "xv6-numbers.ktrx");
}
