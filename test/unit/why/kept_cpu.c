/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests findings about a CPU that never had a tick, because it has no timer or its timer was never started. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "unit/support/script.h"
#include "unit/support/why_cpus.h"
#include "unit/support/why_support.h"

#define SINCE (500 * MS)
#define LAST  (8000 * MS)

static struct ktrx_holder *worker, *client;

/*
 * CPU 0 has ticks. The worker has run on CPU 1 since SINCE. The client was woken there 10 ms later. CPU 1 has
 * no event.
 */
static int begin_without_event(void **state)
{
	int error = why_cpus_begin(state);

	why_ticks(10 * MS, LAST, 0, IDLE0, KERNEL);
	worker = why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 1);
	worker->state_stamp = SINCE;
	client = why_thread_row(CLIENT, "client", KTRX_THREAD_RUNNABLE, 1);
	client->state_stamp = SINCE + 10 * MS;
	client->cause = KTRX_CAUSE_WAKE;
	client->wakes = worker->wakes = 3;
	script_cpu(1)->mode = KTRX_MODE_KERNEL;
	script_cpu(1)->preempt = 1;
	script_cpu(1)->thread = WORKER;
	script_cpu(1)->now = SINCE;
	script_info()->registers = "cpu 0 pc=100040 sp=2000 flags=246\ncpu 1 pc=100080 sp=3000 flags=246\n";
	return error;
}

/* CPU 1 has switched to the worker at SINCE. */
static int begin(void **state)
{
	int error = begin_without_event(state);

	why_runs_on(1, SINCE, IDLE1, WORKER);
	script_sort();
	return error;
}

static void thread_that_disables_preemption_starves_others(void **state)
{
	(void)state;
	assert_int_equal(why_judge()->verdict, WHY_STARVATION);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
	why_says("thread 6 (client) has been runnable on CPU 1 for 7.49 s and has not run");
	why_says("preemption is disabled on CPU 1");
	why_says("CPU 1 never had a heartbeat and has recorded nothing for 7.50 s; it is at 0x100080");
}

/* The thread may be in the middle of a normal computation. */
static void enabled_preemption_shows_no_starvation(void **state)
{
	(void)state;
	script_cpu(1)->preempt = 0;
	assert_int_equal(why_count(WHY_STARVATION), 0);
}

/* The worker has run for 2 s only, so its computation may end soon. */
static void recent_switch_shows_no_starvation(void **state)
{
	(void)state;
	why_runs_on(1, LAST - 2000 * MS, IDLE1, WORKER);
	script_sort();
	worker->state_stamp = LAST - 2000 * MS;
	assert_int_equal(why_count(WHY_STARVATION), 0);
}

/* The CPU has recorded an event lately, so the thread makes progress. */
static void recent_event_shows_no_starvation(void **state)
{
	(void)state;
	script_event(OTHER, LAST - 10 * MS, 1, WORKER);
	assert_int_equal(why_count(WHY_STARVATION), 0);
}

/* The CPU has read its clock lately, although it has recorded no event since the switch. */
static void recent_time_in_row_shows_no_starvation(void **state)
{
	(void)state;
	script_cpu(1)->now = LAST - 10 * MS;
	assert_int_equal(why_count(WHY_STARVATION), 0);
}

static void cpu_without_events_is_judged_by_its_row(void **state)
{
	(void)state;
	assert_int_equal(why_count(WHY_STARVATION), 1);
	why_says("CPU 1 never had a heartbeat and has recorded nothing for 7.50 s; it is at 0x100080");
}

static void cpu_without_events_and_time_shows_no_starvation(void **state)
{
	(void)state;
	script_cpu(1)->now = 0;
	assert_int_equal(why_count(WHY_STARVATION), 0);
}

/* No CPU has had a heartbeat lately: the host may have stopped the machine. */
static void stopped_machine_shows_no_starvation(void **state)
{
	(void)state;
	script_info()->note = "silent: 2\n";
	assert_int_equal(why_count(WHY_STARVATION), 0);
}

/* Without registers, it is unknown whether the CPU runs. */
static void missing_registers_show_no_starvation(void **state)
{
	(void)state;
	script_info()->registers = "";
	assert_int_equal(why_count(WHY_STARVATION), 0);
}

/* ---- A timer that was never started ------------------------------------------------------------------ */

/* What differs between a CPU whose timer was never started, and healthy CPUs without ticks. */
struct unstarted {
	uint64_t idle_tick_ms; /* CPU 1 idles; interval of its ticks; 0: it never had a tick */
	bool tickless;	       /* CPU 0 idles with few ticks */
	bool waits;	       /* the client waits for its turn on CPU 2 */
	bool idles;	       /* CPU 2 idles */
	uint8_t interrupts;    /* state of the interrupts of CPU 2 */
	bool ticked;	       /* CPU 2 took the interrupt of the timer, without a heartbeat */
	bool sleeps;	       /* the sleep of a thread that last ran on CPU 2 is late */
	bool late_on_1;	       /* so is a sleep of a thread that last ran on CPU 1 */
	bool alone;	       /* CPU 1 is the only CPU with ticks */
	/* every 10 ms, CPU 2 takes an interrupt with a number that no other CPU uses */
	bool own;
	uint64_t kept_ms; /* the ring of CPU 2 has been overwritten, and covers this time; 0: all */
	bool found;
};

static void sleeps_late(uint32_t thread, uint32_t cpu)
{
	struct ktrx_holder *row = why_thread_row(thread, "sleeper", KTRX_THREAD_WAITING, cpu);

	why_waits(row, KTRX_WAIT_TIME, 0x3000, "timers", SINCE);
	row->deadline = SINCE + 10 * MS;
}

/* CPU 0 idles and ticks. CPU 2 has run the worker for long, which records events. */
static void run_without_timer(const struct unstarted *one)
{
	script_info()->cpus = 3;
	why_cpu_row(2, one->idles ? KTRX_MODE_IDLE : KTRX_MODE_KERNEL);
	script_type(FAULT + 1, "sched", "wake", "u32 thread");
	for (uint64_t at = 10 * MS; !one->alone && at <= LAST; at += (one->tickless ? 100 : 10) * MS)
		why_tick(at, 0, IDLE0, KERNEL);
	for (uint64_t at = 10 * MS; one->idle_tick_ms && at <= LAST; at += one->idle_tick_ms * MS)
		why_tick(at, 1, IDLE1, KERNEL);
	script_event(OTHER, LAST, 1, IDLE1);
	worker = why_thread_row(WORKER, "worker", one->idles ? KTRX_THREAD_WAITING : KTRX_THREAD_RUNNING, 2);
	worker->state_stamp = SINCE;
	script_cpu(2)->thread = one->idles ? 0 : WORKER;
	script_cpu(2)->interrupts = one->interrupts;
	script_cpu(2)->interrupts_stamp = SINCE;
	script_cpu(2)->now = LAST - 40 * MS;
	if (!one->kept_ms)
		why_runs_on(2, SINCE, 0, WORKER);
	if (one->ticked)
		why_interrupt(SINCE + 1, 2, WORKER, TIMER, KERNEL, EARLY);
	script_ring(2)->overwritten = one->kept_ms ? 1000 : 0;
	for (uint64_t at = one->kept_ms ? LAST - one->kept_ms * MS : SINCE + 10 * MS; at <= LAST;
	     at += 50 * MS)
		script_event(OTHER, at, 2, WORKER);
	for (uint64_t at = SINCE + 15 * MS; one->own && at <= LAST; at += 10 * MS)
		why_interrupt(at, 2, WORKER, DEVICE, KERNEL, EARLY);
	if (one->sleeps)
		sleeps_late(CLIENT + 1, 2);
	if (one->late_on_1)
		sleeps_late(CLIENT + 2, 1);
	if (one->waits) {
		client = why_thread_row(CLIENT, "client", KTRX_THREAD_RUNNABLE, 2);
		client->state_stamp = SINCE + 15 * MS;
		client->cause = KTRX_CAUSE_WAKE;
		client->wakes = 3;
	}
	script_sort();
}

static const struct unstarted unstarted[] = {
	/* a thread waits for its turn */
	{ 100, .waits = true, .interrupts = KTRX_INTERRUPTS_ON, .found = true },
	/* the ticks of idle CPUs come, too, so this kernel does not stop ticks that are not needed */
	{ 10, .interrupts = KTRX_INTERRUPTS_ON, .found = true },
	{ 10, .waits = true, .interrupts = KTRX_INTERRUPTS_UNKNOWN, .found = true },
	/* only CPU 0 gets ticks in this kernel */
	{ .waits = true, .interrupts = KTRX_INTERRUPTS_ON },
	{ 10, .waits = true, .interrupts = KTRX_INTERRUPTS_OFF },
	{ 10, .waits = true, .idles = true, .interrupts = KTRX_INTERRUPTS_ON },
	{ 100, .sleeps = true, .idles = true, .interrupts = KTRX_INTERRUPTS_ON, .found = true },
	{ 100, .sleeps = true, .tickless = true, .interrupts = KTRX_INTERRUPTS_OFF, .found = true },
	{ 100, .sleeps = true, .late_on_1 = true, .idles = true, .interrupts = KTRX_INTERRUPTS_ON },
	{ 0, .sleeps = true, .idles = true, .interrupts = KTRX_INTERRUPTS_ON },
	/* the hook for heartbeats is missing there */
	{ 10, .waits = true, .interrupts = KTRX_INTERRUPTS_ON, .ticked = true },
	/* the machine has started on CPU 1, and only this CPU gets ticks in this kernel */
	{ 10, .interrupts = KTRX_INTERRUPTS_ON, .alone = true },
	{ 10, .waits = true, .interrupts = KTRX_INTERRUPTS_ON, .alone = true },
	/* the interrupt of the timer has another number on each CPU, and the hook for heartbeats is missing */
	{ 10, .interrupts = KTRX_INTERRUPTS_ON, .own = true },
	/* the CPU is busy, so its ring soon contains new events only */
	{ 100, .waits = true, .interrupts = KTRX_INTERRUPTS_ON, .kept_ms = 600, .found = true },
	/* the CPU may have been switched on a moment ago */
	{ 10, .interrupts = KTRX_INTERRUPTS_ON, .kept_ms = 600 },
};

static void timer_that_was_never_started_is_found(void **state)
{
	for (size_t n = 0; n < sizeof(unstarted) / sizeof(unstarted[0]); n++) {
		why_teardown(state);
		why_cpus_begin(state);
		run_without_timer(&unstarted[n]);
		if (why_count(WHY_DEAD_TIMER) != unstarted[n].found)
			fail_msg("case %zu: %s", n, why_text());
		if (!unstarted[n].found)
			continue;
		assert_int_equal(why_judge()->verdict, WHY_DEAD_TIMER);
		assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
		why_says("the timer of CPU 2 was never started: the CPU never had a tick");
		why_says("times there, and never on CPU 2");
		if (unstarted[n].sleeps)
			why_says("should have been woken 7.49 s ago; elsewhere, no sleep is late");
		if (unstarted[n].waits)
			why_says(
				"thread 6 (client) has been runnable on CPU 2 for 7.49 s, while thread 5 (worker) "
				"runs");
	}
}

/* Idle CPUs tick seldom: the kernel may also stop the tick of a CPU with one thread. */
static void cpu_without_ticks_in_a_tickless_kernel_is_busy(void **state)
{
	const struct unstarted one = { 100, .tickless = true, .interrupts = KTRX_INTERRUPTS_ON };

	why_teardown(state);
	why_cpus_begin(state);
	run_without_timer(&one);
	assert_int_equal(why_count(WHY_DEAD_TIMER), 0);
	assert_int_equal(why_judge()->verdict, WHY_BUSY);
	why_says(
		"CPU 2 never had a heartbeat, although it runs threads: the kernel needs no tick there, or its "
		"timer does not work");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, why_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(thread_that_disables_preemption_starves_others),
		TEST(enabled_preemption_shows_no_starvation),
		TEST(recent_switch_shows_no_starvation),
		TEST(recent_event_shows_no_starvation),
		TEST(recent_time_in_row_shows_no_starvation),
		cmocka_unit_test_setup_teardown(cpu_without_events_is_judged_by_its_row, begin_without_event,
						why_teardown),
		cmocka_unit_test_setup_teardown(cpu_without_events_and_time_shows_no_starvation,
						begin_without_event, why_teardown),
		TEST(stopped_machine_shows_no_starvation),
		TEST(missing_registers_show_no_starvation),
		TEST(timer_that_was_never_started_is_found),
		TEST(cpu_without_ticks_in_a_tickless_kernel_is_busy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
