/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests findings about a CPU that has no timer and runs one thread with preemption disabled. */
#include <setjmp.h>
#include <stdarg.h>
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
