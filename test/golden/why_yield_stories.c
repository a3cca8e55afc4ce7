/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Invented traces ("stories") of mutexes whose waiters do not sleep. A thread that finds the mutex held
 * records its wait, yields, and tries again when it runs next. Such a thread is always runnable or running.
 */
#include "test/golden/why_stories.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ktrace/hooks.h"
#include "test/fake/machine.h"
#include "test/golden/why_story.h"

#define ROUND_MS 10u

/* Switches the CPU to the thread, which then fails to take the lock, and yields. */
static void try_and_yield(uint32_t cpu, uint32_t thread, uintptr_t lock, const char *name, uint32_t owner)
{
	switch_to(cpu, thread);
	ktrace_mode(KTRX_MODE_KERNEL);
	ktrace_lock_wait_at(PTR(lock), name, KTRACE_BY_THREAD, owner, PLACE + 0x10 + thread);
	switch_to(cpu, IDLE + cpu);
	ktrace_mode(KTRX_MODE_IDLE);
}

static void beat(uint64_t ms)
{
	at(ms);
	for (fake.cpu = 0; fake.cpu < FAKE_CPUS; fake.cpu++)
		ktrace_heartbeat(PLACE + 0x900);
}

static const char *const names[] = { "alpha", "beta", "gamma" };

/* Each of `count` threads holds a mutex and waits for the mutex of the next thread. */
static void make_ring(uint32_t count, const char *file)
{
	boot();
	for (uint32_t n = 0; n < count; n++) {
		run(n, 5 + n, 20 + n);
		take(A + 0x1000 * n, KTRACE_BY_THREAD, PLACE + n);
		switch_to(n, IDLE + n);
	}
	for (uint64_t ms = 40; ms <= 2040; ms += ROUND_MS) {
		beat(ms);
		for (uint32_t n = 0; n < count; n++) {
			const uint32_t next = (n + 1) % count;

			try_and_yield(n, 5 + n, A + 0x1000 * next, names[next], 5 + next);
		}
	}
	save(file);
}

/* A thread waits for a mutex that it holds. */
static void make_self(void)
{
	boot();
	run(0, 5, 20);
	take(A, KTRACE_BY_THREAD, PLACE);
	switch_to(0, IDLE);
	for (uint64_t ms = 40; ms <= 2040; ms += ROUND_MS) {
		beat(ms);
		try_and_yield(0, 5, A, "alpha", 5);
	}
	save("yield-self.ktrx");
}

/* The holder of the mutex sleeps. Its timeout ends shortly after the end of the trace. */
static void make_sleeper(void)
{
	boot();
	run(0, 5, 20);
	take(A, KTRACE_BY_THREAD, PLACE);
	ktrace_thread_block_at(NULL, NULL, KTRX_WAIT_TIME, 2100 * MS, PLACE + 0x40);
	switch_to(0, IDLE);
	ktrace_mode(KTRX_MODE_IDLE);
	for (uint64_t ms = 40; ms <= 2040; ms += ROUND_MS) {
		beat(ms);
		try_and_yield(1, 6, A, "alpha", 5);
	}
	save("yield-sleeper.ktrx");
}

/* Three threads take the mutex in turn. While one thread holds it, the two others try to take it and fail. */
static void make_turns(void)
{
	uint32_t turn = 0;

	boot();
	for (uint64_t ms = 40; ms <= 1040; ms += ROUND_MS, turn++) {
		const uint32_t cpu = turn % 3;

		beat(ms);
		run(cpu, 5 + cpu, ms);
		take(A, KTRACE_BY_THREAD, PLACE);
		for (uint32_t n = 0; n < 3; n++)
			if (n != cpu)
				try_and_yield(n, 5 + n, A, "alpha", 5 + cpu);
		at(ms + ROUND_MS / 2);
		fake.cpu = cpu;
		fake.thread = 5 + cpu;
		give(A, KTRACE_BY_THREAD);
		switch_to(cpu, IDLE + cpu);
		ktrace_mode(KTRX_MODE_IDLE);
	}
	save("yield-turns.ktrx");
}

void make_yields(void)
{
	make_ring(2, "yield-deadlock.ktrx");
	make_ring(3, "yield-ring.ktrx");
	make_self();
	make_sleeper();
	make_turns();
}
