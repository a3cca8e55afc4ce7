/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests what `ktrace why` concludes if CPUs record under wrong numbers, if the kernel did not initialise ktrace,
 * if it has overwritten the table of rings, and if the run ended well.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "unit/support/script.h"
#include "unit/support/why_support.h"

#define LOCK_A UINT64_C(0x1000)
#define OTHER  7
#define HELLO  9

/* CPU 0 spins for a lock that it holds; CPU 1 is not online. */
static void self_deadlock(void)
{
	struct ktrx_holder *row = why_cpu_row(0, KTRX_MODE_KERNEL);

	why_holds(row, LOCK_A, 100 * MS);
	why_waits(row, KTRX_WAIT_SPIN, LOCK_A, "savings", 200 * MS);
	row->owner = KTRX_HOLDER_CPU | 0;
	script_cpu(1);
	script_type(HELLO, "boot", "hello", "u32 hart");
	script_event(HELLO, 3000 * MS, 0, 0, UINT64_C(0));
}

static void cpu_that_was_not_started_changes_nothing(void **state)
{
	(void)state;
	self_deadlock();
	assert_int_equal(why_judge()->verdict, WHY_SELF_DEADLOCK);
	assert_int_equal(why_judge()->base.certain, FINDING_CERTAIN);
}

static void cpu_that_could_not_come_online_makes_it_possible(void **state)
{
	(void)state;
	self_deadlock();
	script_cpu(1)->misnumbered = 1;
	assert_int_equal(why_judge()->verdict, WHY_SELF_DEADLOCK);
	assert_int_equal(why_judge()->base.certain, FINDING_POSSIBLE);
	assert_int_equal(why_judge()->base.mark, FINDING_NOTE);
	why_says(
		"ktrace_cpu_online(1) failed, because ktrace_arch_cpu() returned the number of another CPU there");
	why_says("remove all objects and compile again");
}

static void cpu_that_came_online_later_changes_nothing(void **state)
{
	(void)state;
	self_deadlock();
	script_cpu(1)->misnumbered = 1;
	script_cpu(1)->online = 1;
	assert_int_equal(why_judge()->base.certain, FINDING_CERTAIN);
}

static void cpu_that_recorded_under_its_number_changes_nothing(void **state)
{
	(void)state;
	self_deadlock();
	script_cpu(1)->misnumbered = 1;
	script_event(HELLO, 3001 * MS, 1, 0, UINT64_C(1));
	assert_int_equal(why_judge()->base.certain, FINDING_CERTAIN);
}

/*
 * CPU 2 switches threads. Its ktrace_cpu_online() failed, because `.cpus` is too small, so its hooks keep no
 * state: it may have released the lock.
 */
static void cpu_that_runs_threads_without_state_makes_it_possible(void **state)
{
	(void)state;
	self_deadlock();
	script_type(OTHER, "sched", "switch", "u32 prev, u32 next, u8 state");
	script_event(OTHER, 3001 * MS, 2, 0, UINT64_C(0), UINT64_C(5), UINT64_C(0));
	assert_int_equal(why_judge()->verdict, WHY_SELF_DEADLOCK);
	assert_int_equal(why_judge()->base.certain, FINDING_POSSIBLE);
	assert_int_equal(why_judge()->base.mark, FINDING_NOTE);
	why_says("CPU 2 switches threads, but its hooks keep no state, so this proves nothing");
	why_says("call ktrace_cpu_online() on each CPU, and check its result");
}

/* The kernel's tables, and the header of the trace, have room for two CPUs. */
static void cpu_beyond_the_tables_makes_it_possible(void **state)
{
	(void)state;
	self_deadlock();
	script_type(OTHER, "sched", "switch", "u32 prev, u32 next, u8 state");
	script_event(OTHER, 3001 * MS, 2, 0, UINT64_C(0), UINT64_C(5), UINT64_C(0));
	script_info()->cpus = 2;
	assert_int_equal(why_judge()->base.certain, FINDING_POSSIBLE);
	why_says("CPU 2 switches threads, but its hooks keep no state");
}

/* A CPU may record events before it comes online. */
static void cpu_that_records_but_runs_no_threads_changes_nothing(void **state)
{
	(void)state;
	self_deadlock();
	script_event(HELLO, 3001 * MS, 2, 0, UINT64_C(2));
	assert_int_equal(why_judge()->base.certain, FINDING_CERTAIN);
}

/* An event names CPU 1 as the holder of a lock, but no event is from CPU 1. */
static void holder_that_never_recorded_makes_it_possible(void **state)
{
	(void)state;
	self_deadlock();
	script_type(OTHER, "lock", "contend", "pointer lock, string name, string kind, u32 holder");
	script_event(OTHER, 200 * MS, 0, 0, LOCK_A, "savings", "CPU", UINT64_C(1));
	script_sort();
	assert_int_equal(why_judge()->base.certain, FINDING_POSSIBLE);
	why_says("CPU 1 has held a lock, but has no event and is not online");
}

/* If nothing is concluded because the file is cut short, the advice is about the file. */
static void short_file_is_explained_before_numbers(void **state)
{
	(void)state;
	why_cpu_row(0, KTRX_MODE_UNKNOWN);
	script_cpu(1)->misnumbered = 1;
	script_type(HELLO, "boot", "hello", "u32 hart");
	script_event(HELLO, 100 * MS, 0, 0, UINT64_C(0));
	script_info()->rings = 1;
	script_ring(0)->cut = 3;
	assert_int_equal(why_judge()->verdict, WHY_UNKNOWN);
	why_says("the file is cut short: 1 ring lacks its end");
	why_says("to be more certain: use the complete file");
}

/* Nothing else explains the machine, and the numbers of CPUs are wrong. */
static void numbers_alone_are_the_advice(void **state)
{
	(void)state;
	why_cpu_row(0, KTRX_MODE_UNKNOWN);
	script_cpu(1)->misnumbered = 1;
	script_type(HELLO, "boot", "hello", "u32 hart");
	script_event(HELLO, 100 * MS, 0, 0, UINT64_C(0));
	assert_int_equal(why_judge()->verdict, WHY_UNKNOWN);
	why_says("the trace may mix up the events and the state of several CPUs");
	why_says("remove all objects and compile again");
}

static void kernel_without_init_is_recognised(void **state)
{
	(void)state;
	script_info()->rings = 1;
	script_ring(0)->cpu = KTRX_NO_CPU;
	script_type(HELLO, "boot", "hello", "u32 hart");
	script_event(HELLO, 100 * MS, 0, 0, UINT64_C(0));
	assert_int_equal(why_judge()->verdict, WHY_UNKNOWN);
	why_says("ktrace_init() was not called in this run, or returned an error");
	why_says("call KTRACE_INIT(1 << 20,");
}

static void kernel_whose_cpus_are_not_online_is_recognised(void **state)
{
	(void)state;
	script_cpu(0);
	script_type(HELLO, "boot", "hello", "u32 hart");
	script_event(HELLO, 100 * MS, 0, 0, UINT64_C(0));
	assert_int_equal(why_judge()->verdict, WHY_UNKNOWN);
	why_says("no CPU is online: ktrace_cpu_online() was not called in this run");
}

/* The trace of an earlier boot has no table of CPUs, but rings of CPUs. */
static void rings_of_cpus_show_that_init_was_called(void **state)
{
	(void)state;
	script_type(HELLO, "boot", "hello", "u32 hart");
	script_event(HELLO, 100 * MS, 0, 0, UINT64_C(0));
	assert_int_equal(why_judge()->verdict, WHY_UNKNOWN);
	assert_null(strstr(why_text(), "ktrace_init()"));
}

static void run_that_ended_well_is_not_suspicious(void **state)
{
	(void)state;
	why_cpu_row(0, KTRX_MODE_UNKNOWN);
	script_type(HELLO, "boot", "hello", "u32 hart");
	script_event(HELLO, 100 * MS, 0, 0, UINT64_C(0));
	script_info()->outcome = KTRX_OUTCOME_EXITED;
	assert_int_equal(why_judge()->verdict, WHY_ENDED);
	assert_int_equal(why_judge()->base.mark, FINDING_OK);
	why_says("the run ended by itself (clean exit), and this trace shows nothing wrong");
}

static void run_that_failed_did_not_end_well(void **state)
{
	(void)state;
	why_cpu_row(0, KTRX_MODE_UNKNOWN);
	script_type(HELLO, "boot", "hello", "u32 hart");
	script_event(HELLO, 100 * MS, 0, 0, UINT64_C(0));
	script_info()->outcome = KTRX_OUTCOME_EXITED;
	script_info()->status = 1;
	assert_int_equal(why_judge()->verdict, WHY_UNKNOWN);
}

/* A stack overflow has overwritten the root. The rows of the kernel's tables contain parts of stack frames. */
static void trace_without_rings_was_overwritten(void **state)
{
	(void)state;
	why_cpu_row(0, KTRX_MODE_IDLE);
	why_cpu_beats(0, 100, 1000 * MS);
	why_thread_row(5, "worker", KTRX_THREAD_WAITING, 0);
	script_info()->rings = 0;
	assert_int_equal(why_judge()->verdict, WHY_UNKNOWN);
	why_says("the trace's memory was overwritten: its table of rings is empty, so nothing is concluded");
	why_says("protect that memory with a guard page");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, why_setup, why_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(cpu_that_was_not_started_changes_nothing),
		TEST(cpu_that_could_not_come_online_makes_it_possible),
		TEST(cpu_that_came_online_later_changes_nothing),
		TEST(cpu_that_recorded_under_its_number_changes_nothing),
		TEST(cpu_that_runs_threads_without_state_makes_it_possible),
		TEST(cpu_beyond_the_tables_makes_it_possible),
		TEST(cpu_that_records_but_runs_no_threads_changes_nothing),
		TEST(holder_that_never_recorded_makes_it_possible),
		TEST(short_file_is_explained_before_numbers),
		TEST(numbers_alone_are_the_advice),
		TEST(kernel_without_init_is_recognised),
		TEST(kernel_whose_cpus_are_not_online_is_recognised),
		TEST(rings_of_cpus_show_that_init_was_called),
		TEST(run_that_ended_well_is_not_suspicious),
		TEST(run_that_failed_did_not_end_well),
		TEST(trace_without_rings_was_overwritten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
