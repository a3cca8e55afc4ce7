/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Invented traces ("stories") of threads that sleep with a timeout. A long timeout may hide that nothing
 * wakes the thread. Short timeouts may hide that the thread makes no progress.
 */
#include "test/golden/why_stories.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ktrace/hooks.h"
#include "ktrace/settings.h"
#include "test/fake/machine.h"
#include "test/golden/why_story.h"

#define WORK  0x88000u
#define TURNS 30u
#define EVERY 50u /* time in ms between two wakeups of thread 5 */
#define HOUR  3600000u

/*
 * Thread 5 sleeps with a timeout of `timeout_ms`, and thread 6 wakes it, TURNS times. Returns the time in ms
 * at which thread 5 runs last.
 */
static uint64_t take_turns(uint32_t kind, const char *what, uint64_t timeout_ms)
{
	uint64_t ms = 20;

	for (uint32_t n = 0; n < TURNS; n++, ms += EVERY) {
		run(0, 5, ms);
		sleep_on(WORK, what, kind, ms + timeout_ms);
		at(ms + EVERY - 1);
		run(1, 6, ms + EVERY - 1);
		wake(5);
		sleep_on(0, NULL, KTRX_WAIT_TIME, n + 1 < TURNS ? ms + 2 * EVERY - 1 : HOUR);
	}
	run(0, 5, ms);
	return ms;
}

/* Thread 6 runs every 50 ms until the time `end_ms`. */
static void go_on_with_6(uint64_t ms, uint64_t end_ms)
{
	while ((ms += EVERY) < end_ms) {
		go_on_to(ms);
		run(1, 6, ms);
		sleep_on(0, NULL, KTRX_WAIT_TIME, ms + EVERY);
	}
	go_on_to(end_ms);
}

/*
 * Thread 5 holds a mutex and polls a device that never answers. Each time, it waits for the device for at
 * most 100 ms. Thread 6 waits for the mutex.
 */
static void make_polled_device(uint64_t end_ms, const char *file)
{
	boot();
	run(0, 5, 20);
	take(A, KTRACE_BY_THREAD, PLACE);
	sleep_on(WORK, "disk", KTRX_WAIT_DEVICE, 120);
	run(1, 6, 30);
	sleep_for(A, "alpha", 5, PLACE + 0x10);
	for (uint64_t ms = 120; ms <= end_ms; ms += 100) {
		go_on_to(ms);
		fake.cpu = 0;
		fake.thread = IDLE;
		wake(5);
		run(0, 5, ms);
		sleep_on(WORK, "disk", KTRX_WAIT_DEVICE, ms + 100);
	}
	go_on_to(end_ms + 10);
	save(file);
}

/*
 * Thread 5 holds a mutex that thread 7 waits for, and waits for a device with a timeout. If `busy` is true,
 * thread 6 continues to run, so that older events are overwritten.
 */
static void make_locked(uint64_t timeout_ms, uint64_t wait_ms, int busy, const char *file)
{
	uint64_t ms;

	boot();
	ms = take_turns(KTRX_WAIT_DEVICE, "disk", timeout_ms);
	take(A, KTRACE_BY_THREAD, PLACE);
	sleep_on(WORK, "disk", KTRX_WAIT_DEVICE, ms + timeout_ms);
	run(2, 7, ms + 1);
	sleep_for(A, "alpha", 5, PLACE + 0x10);
	if (busy)
		go_on_with_6(ms, ms + wait_ms);
	go_on_to(ms + wait_ms);
	save(file);
}

/* Thread 5 waits, with a timeout, for an event that used to come every 50 ms. */
static void make_event(uint64_t timeout_ms, uint64_t wait_ms, const char *file)
{
	uint64_t ms;

	boot();
	ms = take_turns(KTRX_WAIT_EVENT, "jobs", timeout_ms);
	sleep_on(WORK, "jobs", KTRX_WAIT_EVENT, ms + timeout_ms);
	go_on_with_6(ms, ms + wait_ms);
	save(file);
}

/* Healthy: thread 5 waits for input, which is rare, with a timeout of an hour. */
static void make_input(void)
{
	uint64_t ms = 20;

	boot();
	for (uint32_t n = 0; n < 6; n++, ms += n * n * 100) {
		go_on_to(ms);
		run(0, 5, ms);
		sleep_on(WORK, "keyboard", KTRX_WAIT_EVENT, ms + HOUR);
		at(ms + 90);
		fake.cpu = 1;
		fake.thread = IDLE + 1;
		ktrace_irq_enter(1);
		wake(5);
		ktrace_irq_exit(1);
		run(0, 5, ms + 91);
		sleep_on(WORK, "keyboard", KTRX_WAIT_EVENT, ms + 91 + HOUR);
	}
	go_on_to(20000);
	save("hour-input.ktrx");
}

/*
 * Healthy: thread 5 holds a mutex, works, and waits for its slow device, which answers after 800 ms. Each of
 * its waits has a timeout of 30 s. Thread 6 waits for the mutex and gets it each time.
 */
static void make_slow_device(void)
{
	boot();
	for (uint64_t ms = 20; ms < 8000; ms += 1000) {
		go_on_to(ms);
		run(0, 5, ms);
		take(A, KTRACE_BY_THREAD, PLACE);
		sleep_on(WORK, "disk", KTRX_WAIT_DEVICE, ms + 30000);
		run(1, 6, ms + 5);
		sleep_for(A, "alpha", 5, PLACE + 0x10);
		go_on_to(ms + 800);
		fake.cpu = 2;
		fake.thread = IDLE + 2;
		wake(5);
		if (ms > 7000)
			break;
		run(0, 5, ms + 801);
		give(A, KTRACE_BY_THREAD);
		wake(6);
		sleep_on(0, NULL, KTRX_WAIT_TIME, ms + 1000);
		run(1, 6, ms + 802);
		take(A, KTRACE_BY_THREAD, PLACE + 1);
		give(A, KTRACE_BY_THREAD);
		sleep_on(0, NULL, KTRX_WAIT_TIME, ms + 1005);
	}
	save("slow-device.ktrx");
}

/*
 * Recording is stopped while thread 5 runs. Thread 5 then goes to sleep, which the trace does not
 * show.
 */
static void make_stopped(void)
{
	boot();
	run(0, 5, 20);
	go_on_to(500);
	ktrace_stop();
	run(0, 5, 510);
	sleep_on(WORK, "jobs", KTRX_WAIT_EVENT, 0);
	go_on_to(10000);
	save("stopped.ktrx");
	ktrace_start();
}

/* The events of locks are off, and then all recording is stopped. */
static void make_locks_off(void)
{
	boot();
	ktrace_control("lock=off");
	run(0, 5, 20);
	go_on_to(500);
	ktrace_stop();
	save("locks-off.ktrx");
	ktrace_control("lock=on");
	ktrace_start();
}

void make_timeouts(void)
{
	make_polled_device(10120, "polled-device.ktrx");
	make_polled_device(3120, "polled-shortly.ktrx");
	make_locked(30000, 9500, 0, "half-minute-locked.ktrx");
	make_locked(HOUR, 9500, 1, "hour-locked.ktrx");
	make_locked(5000, 4000, 0, "seconds-locked.ktrx");
	make_event(HOUR, 9000, "hour-event.ktrx");
	make_event(5000, 4000, "seconds-event.ktrx");
	make_input();
	make_slow_device();
	make_stopped();
	make_locks_off();
}
