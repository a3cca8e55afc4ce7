/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests findings about threads that get no CPU, and about threads that wait long for devices. Also tests
 * healthy machines, and traces that show too little for a verdict.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "unit/support/script.h"
#include "unit/support/why_support.h"
#include "unit/support/why_threads.h"
#include "why/pulse.h"

/* ---- Starvation ---------------------------------------------------------------------------------- */

/* The client runs, the worker has been runnable since `since`, and the CPU has heartbeats until `beat`. */
static struct ktrx_holder *wait_for_a_turn(uint64_t since, uint64_t beat)
{
	const uint64_t tick = 10 * MS;
	struct ktrx_holder *worker = why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNABLE, 0);

	why_thread_row(CLIENT, "client", KTRX_THREAD_RUNNING, 0)->priority = 20;
	worker->priority = 10;
	worker->state_stamp = since;
	script_event(SWITCH, since - MS, 0, CLIENT, V(CLIENT), V(WORKER), V(2));
	script_event(SWITCH, since + 1, 0, WORKER, V(WORKER), V(CLIENT), V(0));
	for (uint64_t stamp = since + tick; stamp <= beat; stamp += tick)
		why_by_interrupt(IRQ, stamp, CLIENT, 0);
	why_work_until(2000 * MS, CLIENT);
	script_cpu(0)->heartbeat_stamp = beat;
	return worker;
}

static void runnable_thread_that_never_runs_starves(void **state)
{
	(void)state;
	wait_for_a_turn(500 * MS, 1995 * MS);
	assert_int_equal(why_judge()->verdict, WHY_STARVATION);
	assert_int_equal(why_judge()->base.certain, FINDING_CERTAIN);
	why_says("thread 5 (worker) has been runnable on CPU 0 for 1.50 s and has not run");
	why_says("thread 6 (client) runs there with priority 20; thread 5 (worker) has priority 10");
}

/* Several threads wait for the same thread: the cause is reported once. */
static void starved_threads_with_one_cause_are_one_finding(void **state)
{
	(void)state;
	wait_for_a_turn(500 * MS, 1995 * MS);
	for (uint32_t n = 0; n < 5; n++) {
		struct ktrx_holder *other = why_thread_row(20 + n, "other", KTRX_THREAD_RUNNABLE, 0);

		other->priority = (uint8_t)(5 + n);
		other->state_stamp = (600 + n) * MS;
		other->cause = KTRX_CAUSE_WAKE;
	}
	assert_int_equal(why_judge()->verdict, WHY_STARVATION);
	assert_int_equal(why_judge()->base.certain, FINDING_CERTAIN);
	assert_int_equal(why_count(WHY_STARVATION), 1);
	why_says(
		"thread 5 (worker), thread 20 (other) and 4 others have been runnable on CPU 0 for up to 1.50 s and "
		"have not run");
	why_says("thread 6 (client) runs there with priority 20; they have priorities from 5 to 10");
	why_says("the others: thread 21 (other), thread 22 (other), thread 23 (other), thread 24 (other)");
	assert_int_equal(why_judge()->actors, 7);
	assert_int_equal(why_judge()->actor[0].id, 5 + 1);
	assert_int_equal(why_judge()->actor[1].id, 6 + 1);
}

/* Only missing reports show that thread 20 is runnable. It starves beside a thread that certainly does. */
static void thread_that_may_have_ended_is_reported_apart(void **state)
{
	struct ktrx_holder *other;

	(void)state;
	wait_for_a_turn(500 * MS, 1995 * MS);
	other = why_thread_row(20, "other", KTRX_THREAD_RUNNABLE, 0);
	other->priority = 5;
	other->state_stamp = 600 * MS;
	other->cause = KTRX_CAUSE_SWITCH;
	other->wakes = 3;
	why_holds(other, 0x1000, 550 * MS);
	other = why_thread_row(21, "sleeper", KTRX_THREAD_WAITING, 1);
	why_waits(other, KTRX_WAIT_TIME, 0, "", 600 * MS);
	other->deadline = 9000 * MS;
	assert_int_equal(why_count(WHY_STARVATION), 2);
	assert_int_equal(why_judge()->base.certain, FINDING_CERTAIN);
	why_says("starvation (certain): thread 5 (worker) has been runnable on CPU 0");
	why_says("starvation (likely): thread 20 (other) has been runnable on CPU 0");
	why_says("only a switch away from it is recorded: it may have ended, or may sleep, without a report");
}

/* The trace does not show the CPU of a thread that has not run yet, but there is only one. */
static void new_thread_starves_on_a_single_cpu(void **state)
{
	struct ktrx_holder *new;

	(void)state;
	script_info()->cpus = script_info()->rings = 1;
	wait_for_a_turn(500 * MS, 1995 * MS);
	new = why_thread_row(20, "new", KTRX_THREAD_RUNNABLE, 0);
	new->cause = KTRX_CAUSE_START;
	new->state_stamp = 600 * MS;
	new->priority = 10;
	assert_int_equal(why_judge()->verdict, WHY_STARVATION);
	why_says("thread 5 (worker) and thread 20 (new) have been runnable on CPU 0 for up to 1.50 s");
}

/* In the table of the kernel, the row of such a thread has CPU 0. */
static void cpu_of_a_thread_that_never_ran_is_unknown(void **state)
{
	struct ktrx_holder *worker = wait_for_a_turn(1950 * MS, 1995 * MS);
	const struct why_evidence *evidence;

	(void)state;
	why_thread_row(20, "new", KTRX_THREAD_RUNNABLE, 0)->cause = KTRX_CAUSE_START;
	why_thread_row(21, "locked", KTRX_THREAD_UNKNOWN, 0);
	worker->cause = KTRX_CAUSE_WAKE;
	evidence = why_evidence_of_script();
	for (uint32_t n = 0; n < evidence->threads; n++)
		assert_int_equal(why_cpu_of(&evidence->thread[n]),
				 evidence->thread[n].id < 20 ? 0 : KTRX_NO_CPU);
}

static void short_time_runnable_is_healthy(void **state)
{
	(void)state;
	wait_for_a_turn(1950 * MS, 1995 * MS);
	assert_int_equal(why_judge()->verdict, WHY_BUSY);
	assert_int_equal(why_count(WHY_STARVATION), 0);
}

/*
 * The host stopped the CPU for a long time, so the CPU took few timer interrupts. According to these
 * interrupts, the other threads have not used up their time slices.
 */
static void cpu_delayed_by_host_starves_no_thread(void **state)
{
	(void)state;
	wait_for_a_turn(500 * MS, 550 * MS);
	why_by_interrupt(IRQ, 2001 * MS, CLIENT, 0);
	script_cpu(0)->heartbeat_stamp = 2001 * MS;
	assert_int_equal(why_judge()->verdict, WHY_BUSY);
	assert_int_equal(why_count(WHY_STARVATION), 0);
}

/*
 * The kernel keeps a table row for each thread, but this thread has none. So it has ended, and the event of
 * its end is lost.
 */
static void thread_without_row_does_not_starve(void **state)
{
	(void)state;
	wait_for_a_turn(500 * MS, 1995 * MS)->id = 0;
	assert_int_equal(why_judge()->verdict, WHY_BUSY);
	assert_int_equal(why_count(WHY_STARVATION), 0);
	why_says("no thread is runnable");
	why_says("thread 5 (worker)                unknown");
}

static void no_thread_starves_after_good_end(void **state)
{
	(void)state;
	wait_for_a_turn(500 * MS, 1995 * MS);
	script_info()->outcome = KTRX_OUTCOME_EXITED;
	assert_int_equal(why_count(WHY_STARVATION), 0);
}

/*
 * The kernel did not report that this thread left the CPU, because the hook gave a wrong number for it. Its
 * row still says that it runs, but the CPU has switched to another thread since.
 */
static void thread_that_left_unreported_does_not_run(void **state)
{
	(void)state;
	why_thread_row(WORKER - 2, "left", KTRX_THREAD_RUNNING, 0)->state_stamp = 10 * MS;
	wait_for_a_turn(500 * MS, 1995 * MS);
	why_thread_row(CLIENT + 3, "left", KTRX_THREAD_RUNNING, 0)->state_stamp = 20 * MS;
	script_cpu(0)->thread = CLIENT;
	script_cpu(0)->switch_stamp = 500 * MS + 1;
	assert_int_equal(why_judge()->verdict, WHY_STARVATION);
	why_says("thread 6 (client) runs there with priority 20");
	why_says("thread 3 (left)                  unknown");
	why_says("thread 9 (left)                  unknown");
}

/* If the timer does not tick, other threads cannot run. The problem is the timer, not starvation. */
static void dead_timer_is_no_starvation(void **state)
{
	(void)state;
	wait_for_a_turn(100 * MS, 110 * MS);
	assert_int_equal(why_count(WHY_STARVATION), 0);
	assert_int_equal(why_count(WHY_BUSY), 0);
}

/* ---- Waits for devices --------------------------------------------------------------------------- */

static uint64_t ask_device(unsigned times, uint64_t from, uint64_t ticks, uint8_t kind)
{
	for (unsigned n = 0; n < times; n++) {
		why_sleep_on(DISK, from, WORKER, kind, IDLE);
		why_by_interrupt(WAKE, from + ticks, IDLE, WORKER);
		script_event(SWITCH, from + ticks + 1, 0, IDLE, V(IDLE), V(WORKER), V(0));
		from += ticks + MS;
	}
	return from;
}

static void device_with_some_late_answers_is_slow(void **state)
{
	(void)state;
	why_waits(why_thread_row(WORKER, "worker", KTRX_THREAD_WAITING, 0), KTRX_WAIT_DEVICE, DISK, "disk",
		  1900 * MS);
	why_idle_until(
		ask_device(3, ask_device(20, MS, 5 * MS, KTRX_WAIT_DEVICE), 700 * MS, KTRX_WAIT_DEVICE));
	assert_int_equal(why_judge()->verdict, WHY_SLOW);
	why_says("thread 5 (worker) waited 700.0 ms for device disk");
	why_says("23 waits for devices ended: half of them within 5.0 ms, the longest took 700.0 ms");
	why_says("0 others ended during that wait");
}

/*
 * Slots were lost between the recorded sleep and the recorded wakeup. The thread may have been woken and
 * slept again in between.
 */
static void wait_across_gap_is_not_counted(void **state)
{
	uint64_t late = ask_device(20, MS, MS, KTRX_WAIT_DEVICE);

	(void)state;
	why_sleep_on(JOBS, late, WORKER, KTRX_WAIT_DEVICE, IDLE);
	script_event(OTHER, late + 200 * MS, 1, IDLE)->lost = 5;
	why_by_interrupt(WAKE, late + 400 * MS, IDLE, WORKER);
	why_idle_until(late + 500 * MS);
	assert_int_equal(why_count(WHY_SLOW), 0);
}

static void device_that_is_always_slow_is_healthy(void **state)
{
	(void)state;
	why_idle_until(ask_device(10, MS, 150 * MS, KTRX_WAIT_DEVICE));
	assert_int_equal(why_judge()->verdict, WHY_IDLE);
	assert_int_equal(why_count(WHY_SLOW), 0);
}

/* It is normal that a thread waits for a long time for other threads. */
static void rare_events_are_healthy(void **state)
{
	(void)state;
	why_idle_until(ask_device(1, ask_device(20, MS, 5 * MS, KTRX_WAIT_EVENT), 700 * MS, KTRX_WAIT_EVENT));
	assert_int_equal(why_judge()->verdict, WHY_IDLE);
	assert_int_equal(why_count(WHY_SLOW), 0);
}

/* ---- Healthy machines ---------------------------------------------------------------------------- */

/* The kernel is tickless, so an idle CPU has no heartbeat. */
static void tickless_idle_is_healthy(void **state)
{
	(void)state;
	script_event(OTHER, MS, 0, IDLE);
	why_idle_until(5000 * MS);
	script_cpu(0)->heartbeat_stamp = MS;
	assert_int_equal(why_judge()->verdict, WHY_IDLE);
	assert_int_equal(why_judge()->base.certain, FINDING_CERTAIN);
	why_says("1 of 1 CPUs idle");
}

/* Each CPU has begun to run a thread just before the end. */
static void cpus_that_just_began_are_busy(void **state)
{
	(void)state;
	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		const uint32_t thread = cpu == 0 ? WORKER : CLIENT;

		script_event(OTHER, MS + cpu, cpu, IDLE);
		script_event(SWITCH, 990 * MS + cpu, cpu, IDLE, V(IDLE), V(thread), V(0));
		script_event(OTHER, 1000 * MS + cpu, cpu, thread);
		why_thread_row(thread, cpu == 0 ? "worker" : "client", KTRX_THREAD_RUNNING, cpu);
		why_cpu_row(cpu, KTRX_MODE_KERNEL);
		script_cpu(cpu)->heartbeats = 9;
		script_cpu(cpu)->heartbeat_stamp = 999 * MS;
	}
	assert_int_equal(why_judge()->verdict, WHY_BUSY);
}

/* A CPU that does not idle and has no heartbeat is not healthy, even if all other CPUs are healthy. */
static void busy_cpu_without_heartbeat_is_not_healthy(void **state)
{
	(void)state;
	why_idle_until(5000 * MS);
	why_cpu_row(1, KTRX_MODE_KERNEL);
	script_cpu(1)->heartbeats = 1;
	script_cpu(1)->heartbeat_stamp = MS;
	script_event(OTHER, MS, 1, WORKER);
	assert_int_equal(why_count(WHY_IDLE) + why_count(WHY_BUSY), 0);
	assert_int_equal(why_judge()->verdict, WHY_UNKNOWN);
}

/* ---- Traces that show too little for a verdict --------------------------------------------------- */

/*
 * The boot CPU runs the thread that later becomes its idle thread. CPU 1 idles. If `modes` is not 0, CPU 1
 * has recorded its mode.
 */
static void boots(uint8_t modes)
{
	script_thread(IDLE, "idle/0");
	why_thread_row(IDLE, "idle/0", KTRX_THREAD_RUNNING, 0);
	why_cpu_row(0, KTRX_MODE_UNKNOWN);
	script_cpu(0)->now = 1000 * MS;
	why_cpu_row(1, modes);
	script_event(OTHER, 1 * MS, 0, IDLE);
	script_event(OTHER, 1000 * MS, 0, IDLE);
}

static void booting_machine_is_not_idle(void **state)
{
	(void)state;
	boots(KTRX_MODE_UNKNOWN);
	assert_int_equal(why_judge()->verdict, WHY_UNKNOWN);
	why_says("no CPU has switched threads yet: the machine is still booting, or stopped while it "
		 "booted");
}

static void one_idle_cpu_is_not_whole_machine(void **state)
{
	(void)state;
	boots(KTRX_MODE_IDLE);
	script_cpu(1)->switches = 1;
	assert_int_equal(why_judge()->verdict, WHY_UNKNOWN);
	why_says("CPU 0 has neither idled nor run a thread yet");
}

/* The CPU has left idle mode for a moment to look for a runnable thread. */
static void cpu_between_idle_periods_is_idle(void **state)
{
	(void)state;
	boots(KTRX_MODE_IDLE);
	script_cpu(0)->mode = KTRX_MODE_KERNEL;
	script_cpu(0)->mode_stamp = 990 * MS;
	script_cpu(0)->switches = 10;
	assert_int_equal(why_judge()->verdict, WHY_IDLE);
}

/* A thread has just begun to run on CPU 0, after long idling. */
static void cpu_that_has_just_begun_to_work_is_not_idle(void **state)
{
	(void)state;
	boots(KTRX_MODE_IDLE);
	script_event(SWITCH, 990 * MS, 0, IDLE, V(IDLE), V(WORKER), V(0));
	why_thread_row(IDLE, "idle/0", KTRX_THREAD_RUNNABLE, 0);
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 0);
	script_cpu(0)->thread = WORKER;
	script_cpu(0)->mode = KTRX_MODE_KERNEL;
	script_cpu(0)->mode_stamp = 990 * MS;
	script_cpu(0)->switches = 10;
	assert_int_equal(why_judge()->verdict, WHY_IDLE);
	assert_non_null(strstr(why_judge()->base.what, "little to do: 1 of 2 CPUs idle"));
}

/* This kernel records no mode except user mode, so a CPU that runs its idle thread counts as idle. */
static void idle_thread_idles_without_idle_mode(void **state)
{
	(void)state;
	boots(KTRX_MODE_UNKNOWN);
	script_cpu(0)->mode = KTRX_MODE_KERNEL;
	script_cpu(0)->mode_stamp = 100 * MS;
	script_cpu(0)->switches = 10;
	script_cpu(1)->online = 0;
	assert_int_equal(why_judge()->verdict, WHY_IDLE);
}

static void empty_trace_is_unknown(void **state)
{
	(void)state;
	assert_int_equal(why_judge()->verdict, WHY_UNKNOWN);
	why_says("the trace is empty: no event, and no state of CPUs or threads");
}

static void trace_without_known_events_is_unknown(void **state)
{
	(void)state;
	script_cpu(0)->online = 1;
	script_event(OTHER, 1 * MS, 0, WORKER);
	script_event(OTHER, 1000 * MS, 0, WORKER);
	assert_int_equal(why_judge()->verdict, WHY_UNKNOWN);
	why_says("this trace does not record what CPUs and threads do");
	why_says("ktrace doctor");
}

/*
 * When a thread is added, the array of threads may move in memory, and with it the entry of the thread that
 * creates the new one.
 */
static void thread_that_creates_many_stays_valid(void **state)
{
	(void)state;
	script_type(MADE, "sched", "create", "u32 thread,string name");
	for (uint32_t n = 0; n < 300; n++)
		script_event(MADE, MS + n * 1000, 0, WORKER, V(100 + n), "child");
	assert_int_equal(why_evidence_of_script()->threads, 301);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, why_threads_begin, why_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(runnable_thread_that_never_runs_starves),
		TEST(starved_threads_with_one_cause_are_one_finding),
		TEST(thread_that_may_have_ended_is_reported_apart),
		TEST(new_thread_starves_on_a_single_cpu),
		TEST(cpu_of_a_thread_that_never_ran_is_unknown),
		TEST(short_time_runnable_is_healthy),
		TEST(cpu_delayed_by_host_starves_no_thread),
		TEST(thread_without_row_does_not_starve),
		TEST(no_thread_starves_after_good_end),
		TEST(thread_that_left_unreported_does_not_run),
		TEST(dead_timer_is_no_starvation),
		TEST(thread_that_creates_many_stays_valid),
		TEST(device_with_some_late_answers_is_slow),
		TEST(wait_across_gap_is_not_counted),
		TEST(device_that_is_always_slow_is_healthy),
		TEST(rare_events_are_healthy),
		TEST(tickless_idle_is_healthy),
		TEST(cpus_that_just_began_are_busy),
		TEST(busy_cpu_without_heartbeat_is_not_healthy),
		TEST(booting_machine_is_not_idle),
		TEST(one_idle_cpu_is_not_whole_machine),
		TEST(cpu_between_idle_periods_is_idle),
		TEST(cpu_that_has_just_begun_to_work_is_not_idle),
		TEST(idle_thread_idles_without_idle_mode),
		TEST(empty_trace_is_unknown),
		TEST(trace_without_known_events_is_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
