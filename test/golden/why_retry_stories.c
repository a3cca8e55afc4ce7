/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Invented traces ("stories") of mutexes whose waiters do not sleep until they get the mutex. They try to
 * take it, then yield or sleep for a moment, and try again. Some of them wait with a timeout, or give up
 * after each attempt.
 */
#include "test/golden/why_stories.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ktrace/hooks.h"
#include "test/fake/machine.h"
#include "test/golden/why_story.h"

#define EVERY 50u /* time in ms between two attempts to take the mutex */
#define LAST  4040u
#define RETRY (PLACE + 0x10)

enum after { SLEEPS, YIELDS, STAYS };

static const char *name_of(uintptr_t lock)
{
	return lock == A ? "alpha" : lock == B ? "beta" : "gamma";
}

static void beat(uint64_t ms)
{
	at(ms);
	for (fake.cpu = 0; fake.cpu < FAKE_CPUS; fake.cpu++)
		ktrace_heartbeat(PLACE + 0x900);
}

static void idle_on(uint32_t cpu)
{
	switch_to(cpu, IDLE + cpu);
	ktrace_mode(KTRX_MODE_IDLE);
}

/* Thread 5 takes lock alpha, and thread 6 takes lock beta. */
static void take_crosswise(uint32_t cpu_of_6)
{
	boot();
	run(0, 5, 20);
	take(A, KTRACE_BY_THREAD, PLACE);
	idle_on(0);
	run(cpu_of_6, 6, 21);
	take(B, KTRACE_BY_THREAD, PLACE + 1);
	idle_on(cpu_of_6);
}

/* Switches the CPU to the thread, which then fails to take the lock. */
static void try_in_vain(uint32_t cpu, uint32_t thread, uintptr_t lock, uint32_t owner)
{
	fake.cpu = cpu;
	fake.thread = IDLE + cpu;
	wake(thread);
	switch_to(cpu, thread);
	ktrace_mode(KTRX_MODE_KERNEL);
	contend(lock, name_of(lock), owner, RETRY + thread);
}

/*
 * Depending on `after`, the running thread sleeps until the time `ms`, yields, or continues to run.
 */
static void rest_until(enum after after, uint32_t cpu, uint64_t ms)
{
	if (after == SLEEPS)
		sleep_on(0, NULL, KTRX_WAIT_TIME, ms);
	else if (after == YIELDS)
		idle_on(cpu);
}

/* Each of two threads sleeps between its attempts to take the mutex that the other one holds. */
static void make_asleep(void)
{
	take_crosswise(1);
	for (uint64_t ms = 40; ms <= LAST; ms += EVERY) {
		go_on_to(ms);
		for (uint32_t n = 0; n < 2; n++) {
			try_in_vain(n, 5 + n, n ? A : B, 6 - n);
			rest_until(SLEEPS, n, ms + EVERY);
		}
	}
	save("retry-asleep.ktrx");
}

/* One of the two threads sleeps between its attempts, the other one sleeps until it gets the mutex. */
static void make_asleep_one(void)
{
	take_crosswise(1);
	run(1, 6, 30);
	sleep_for(A, "alpha", 5, RETRY + 6);
	for (uint64_t ms = 40; ms <= LAST; ms += EVERY) {
		go_on_to(ms);
		try_in_vain(0, 5, B, 6);
		rest_until(SLEEPS, 0, ms + EVERY);
	}
	save("retry-asleep-one.ktrx");
}

/* Two threads give up after each attempt, and sleep or yield until the next attempt. */
static void make_given_up(enum after after, const char *file)
{
	take_crosswise(1);
	for (uint64_t ms = 40; ms <= LAST; ms += EVERY) {
		go_on_to(ms);
		for (uint32_t n = 0; n < 2; n++) {
			try_in_vain(n, 5 + n, n ? A : B, 6 - n);
			ktrace_lock_give_up(KTRACE_BY_THREAD);
			rest_until(after, n, ms + EVERY);
		}
	}
	go_on_to(LAST + 20);
	save(file);
}

/*
 * Like the previous story, but both threads run on one CPU, which never idles: each thread yields
 * to the other one.
 */
static void make_given_up_busy(void)
{
	take_crosswise(0);
	for (uint64_t ms = 40; ms <= LAST; ms += EVERY) {
		for (uint32_t n = 0; n < 2; n++) {
			beat(ms + n * EVERY / 2);
			switch_to(0, 5 + n);
			ktrace_mode(KTRX_MODE_KERNEL);
			contend(n ? A : B, n ? "alpha" : "beta", 6 - n, RETRY + 5 + n);
			ktrace_lock_give_up(KTRACE_BY_THREAD);
		}
	}
	beat(LAST + EVERY - 1);
	save("retry-given-up-busy.ktrx");
}

/* A thread gives up after each attempt to take a mutex that another thread holds while it sleeps for ever. */
static void make_given_up_blocked(void)
{
	boot();
	run(0, 5, 20);
	take(A, KTRACE_BY_THREAD, PLACE);
	sleep_on(PLACE, "work", KTRX_WAIT_EVENT, 0);
	for (uint64_t ms = 40; ms <= 12040; ms += 3 * EVERY) {
		go_on_to(ms);
		try_in_vain(1, 6, A, 5);
		ktrace_lock_give_up(KTRACE_BY_THREAD);
		rest_until(SLEEPS, 1, ms + 3 * EVERY);
	}
	save("retry-given-up-blocked.ktrx");
}

/*
 * Healthy: two threads take two mutexes in opposite orders. A thread that does not get the second mutex
 * gives up, releases the first one, and tries again later. Each of the two threads gets both mutexes in
 * every second round.
 */
static void make_healthy(void)
{
	boot();
	for (uint64_t ms = 40, round = 0; ms <= LAST; ms += EVERY, round++) {
		const uint32_t lucky = round % 2, loser = 1 - lucky;

		go_on_to(ms);
		run(lucky, 5 + lucky, ms);
		take(lucky ? B : A, KTRACE_BY_THREAD, PLACE);
		run(loser, 5 + loser, ms + 1);
		take(lucky ? A : B, KTRACE_BY_THREAD, PLACE);
		contend(lucky ? B : A, name_of(lucky ? B : A), 5 + lucky, RETRY);
		ktrace_lock_give_up(KTRACE_BY_THREAD);
		give(lucky ? A : B, KTRACE_BY_THREAD);
		sleep_on(0, NULL, KTRX_WAIT_TIME, ms + EVERY);
		run(lucky, 5 + lucky, ms + 2);
		take_by_try(lucky ? A : B, KTRACE_BY_THREAD, PLACE);
		give(lucky ? A : B, KTRACE_BY_THREAD);
		give(lucky ? B : A, KTRACE_BY_THREAD);
		sleep_on(0, NULL, KTRX_WAIT_TIME, ms + EVERY);
	}
	save("retry-healthy.ktrx");
}

/*
 * Healthy: thread 6 tries to take a mutex that thread 5 releases from time to time. It gets the mutex after
 * twenty attempts.
 */
static void make_twenty(void)
{
	uint32_t tries = 0;

	boot();
	run(0, 5, 20);
	take(A, KTRACE_BY_THREAD, PLACE);
	sleep_on(0, NULL, KTRX_WAIT_TIME, 5000);
	for (uint64_t ms = 40; ms <= LAST; ms += EVERY) {
		go_on_to(ms);
		if (++tries % 20 == 0) {
			run(0, 5, ms);
			give(A, KTRACE_BY_THREAD);
			run(1, 6, ms);
			take(A, KTRACE_BY_THREAD, PLACE + 2);
			give(A, KTRACE_BY_THREAD);
			sleep_on(0, NULL, KTRX_WAIT_TIME, ms + EVERY);
			run(0, 5, ms);
			take(A, KTRACE_BY_THREAD, PLACE);
			sleep_on(0, NULL, KTRX_WAIT_TIME, ms + 20 * EVERY);
			continue;
		}
		try_in_vain(1, 6, A, 5);
		ktrace_lock_give_up(KTRACE_BY_THREAD);
		rest_until(SLEEPS, 1, ms + EVERY);
	}
	save("retry-twenty.ktrx");
}

/* Two threads wait for each other's mutex with a timeout of 30 s. */
static void make_slow_timeouts(uint64_t end_ms, const char *file)
{
	take_crosswise(1);
	for (uint32_t n = 0; n < 2; n++) {
		run(n, 5 + n, 40);
		contend(n ? A : B, n ? "alpha" : "beta", 6 - n, RETRY + 5 + n);
		sleep_on(n ? A : B, n ? "alpha" : "beta", KTRX_WAIT_LOCK, 30040);
	}
	go_on_to(end_ms);
	save(file);
}

/* The owner of a mutex has ended. A thread waits for the mutex with a timeout of 60 s. */
static void make_dead_timed(void)
{
	boot();
	run(0, 5, 20);
	take(A, KTRACE_BY_THREAD, PLACE);
	run(1, 6, 25);
	contend(A, "alpha", 5, RETRY);
	sleep_on(A, "alpha", KTRX_WAIT_LOCK, 60025);
	fake.cpu = 0;
	fake.thread = 5;
	at(30);
	end();
	go_on_to(9040);
	save("dead-timed.ktrx");
}

/* The owner of a mutex has ended. A thread tries again and again to take the mutex. */
static void make_dead_retry(int gives_up, const char *file)
{
	boot();
	run(0, 5, 20);
	take(A, KTRACE_BY_THREAD, PLACE);
	at(30);
	end();
	for (uint64_t ms = 40; ms <= LAST; ms += EVERY) {
		go_on_to(ms);
		try_in_vain(1, 6, A, 5);
		if (gives_up)
			ktrace_lock_give_up(KTRACE_BY_THREAD);
		rest_until(SLEEPS, 1, ms + EVERY);
	}
	save(file);
}

void make_retries(void)
{
	make_asleep();
	make_asleep_one();
	make_given_up(SLEEPS, "retry-given-up.ktrx");
	make_given_up(YIELDS, "retry-given-up-yield.ktrx");
	make_given_up_busy();
	make_given_up_blocked();
	make_healthy();
	make_twenty();
	make_slow_timeouts(9040, "slow-timeouts.ktrx");
	make_slow_timeouts(1040, "short-timeouts.ktrx");
	make_dead_timed();
	make_dead_retry(0, "dead-retry.ktrx");
	make_dead_retry(1, "dead-given-up.ktrx");
}
