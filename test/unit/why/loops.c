/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests findings about threads that repeat a system call or a page fault without progress. For threads that
 * make progress, there must be no finding.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "unit/support/script.h"
#include "unit/support/why_support.h"
#include "unit/support/why_threads.h"

#define EAGAIN_RESULT V(-11)

static uint64_t call_many(unsigned times, uint64_t from, uint64_t step, uint64_t argument, uint64_t result)
{
	for (unsigned n = 0; n < times; n++, from += step) {
		script_event(ENTER, from, 0, WORKER, V(7), V(argument));
		script_event(EXIT, from + 1, 0, WORKER, V(7), V(result));
	}
	return from;
}

static void repeated_failing_call_is_reported(void **state)
{
	(void)state;
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 0);
	why_work_until(call_many(1000, MS, MS / 2, 3, EAGAIN_RESULT), WORKER);
	assert_int_equal(why_judge()->verdict, WHY_SYSCALL_LOOP);
	assert_int_equal(why_judge()->base.certain, FINDING_CERTAIN);
	why_says("thread 5 (worker) calls system call 7 again and again, and gets EAGAIN every time");
	why_says("1000 times in a row");
}

static void successful_calls_are_progress(void **state)
{
	(void)state;
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 0);
	why_work_until(call_many(1000, MS, 1000, 3, 4096) + 1, WORKER);
	assert_int_equal(why_count(WHY_SYSCALL_LOOP), 0);
}

static void rare_calls_are_no_loop(void **state)
{
	(void)state;
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 0);
	why_work_until(call_many(500, MS, 10 * MS, 3, EAGAIN_RESULT) + 1, WORKER);
	assert_int_equal(why_count(WHY_SYSCALL_LOOP), 0);
}

/* The last system call has returned, and the thread has run in user mode since then. */
static void finished_loop_is_not_reported(void **state)
{
	(void)state;
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 0);
	why_work_until(call_many(1000, MS, 1000, 3, EAGAIN_RESULT) + 900 * MS, WORKER);
	assert_int_equal(why_count(WHY_SYSCALL_LOOP), 0);
}

/*
 * The host stopped the CPU for a while at the end, so no events were recorded then. The loop may still run.
 */
static void loop_on_cpu_delayed_by_host_is_reported(void **state)
{
	uint64_t last = call_many(1000, MS, MS / 2, 3, EAGAIN_RESULT);

	(void)state;
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 0);
	script_event(OTHER, last + 600 * MS, 1, IDLE);
	why_cpu_row(0, KTRX_MODE_KERNEL);
	why_cpu_row(1, KTRX_MODE_IDLE);
	assert_int_equal(why_judge()->verdict, WHY_SYSCALL_LOOP);
}

/* A thousand attempts take only a few ms. */
static void few_ms_of_polls_are_only_possible(void **state)
{
	(void)state;
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 0);
	why_work_until(call_many(1000, MS, 1000, 3, EAGAIN_RESULT), WORKER);
	assert_int_equal(why_judge()->verdict, WHY_BUSY);
	assert_int_equal(why_count(WHY_SYSCALL_LOOP), 1);
	why_says("more slots");
}

/* The thread no longer repeats the system call. Its newest system call is another one, which sleeps. */
static void thread_that_polls_then_sleeps_is_healthy(void **state)
{
	uint64_t last = call_many(1000, MS, MS / 2, 3, EAGAIN_RESULT);

	(void)state;
	script_event(ENTER, last, 0, WORKER, V(35), V(5));
	why_work_until(last + 1, WORKER);
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 0);
	assert_int_equal(why_count(WHY_SYSCALL_LOOP), 0);
}

/* Each system call returns an error, but the thread sleeps for a moment in the call. So it is no loop. */
static void calls_that_sleep_are_no_loop(void **state)
{
	uint64_t stamp = MS;

	(void)state;
	for (unsigned n = 0; n < 300; n++, stamp += MS / 2) {
		script_event(ENTER, stamp, 0, WORKER, V(7), V(3));
		why_sleep_on(JOBS, stamp + 1, WORKER, KTRX_WAIT_TIME, IDLE);
		why_by_interrupt(WAKE, stamp + 100000, IDLE, WORKER);
		script_event(SWITCH, stamp + 100001, 0, IDLE, V(IDLE), V(WORKER), V(0));
		script_event(EXIT, stamp + 100002, 0, WORKER, V(7), EAGAIN_RESULT);
	}
	why_work_until(stamp, WORKER);
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 0);
	assert_int_equal(why_count(WHY_SYSCALL_LOOP), 0);
}

/*
 * The ring contains only the newest system calls. The table row shows that the thread did not sleep for a
 * long time before them.
 */
static void calls_that_fill_small_ring_are_certain(void **state)
{
	const uint64_t begin = 2000 * MS;

	(void)state;
	script_event(OTHER, begin, 0, WORKER)->lost = 9999;
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 0)->state_stamp = 100 * MS;
	why_work_until(call_many(100, begin + 1, 3000, 3, EAGAIN_RESULT), WORKER);
	assert_int_equal(why_judge()->verdict, WHY_SYSCALL_LOOP);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
	assert_true(why_judge()->base.partial);
	why_says("it has run for 1.90 s without a sleep");
}

/* Slots of another CPU are missing. The thread may have run there during that time. */
static void calls_are_counted_after_gap(void **state)
{
	uint64_t gap = call_many(200, MS, 1000, 3, EAGAIN_RESULT);

	(void)state;
	script_event(OTHER, gap, 1, IDLE)->lost = 5;
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 0);
	why_work_until(call_many(200, gap + 1000, 1000, 3, EAGAIN_RESULT) + 1, WORKER);
	assert_int_equal(why_count(WHY_SYSCALL_LOOP), 0);
}

static uint64_t fault_many(unsigned times, uint64_t from, uint16_t between)
{
	for (unsigned n = 0; n < times; n++, from += 1000) {
		script_event(FAULT, from, 0, WORKER, V(THERE), V(0x40));
		script_event(FAULT_END, from + 1, 0, WORKER, V(THERE), "spurious\033[31m");
		if (between == DELIVER)
			script_event(DELIVER, from + 2, 0, WORKER, V(11));
		if (between == ENTER || between == DELIVER)
			script_event(ENTER, from + 3, 0, WORKER, V(15), V(0));
		if (between == FORK)
			script_event(FORK, from + 3, 0, WORKER, V(9));
	}
	return from;
}

static void repeated_fault_is_reported(void **state)
{
	(void)state;
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 0);
	why_work_until(fault_many(100, MS, 0), WORKER);
	assert_int_equal(why_judge()->verdict, WHY_FAULT_LOOP);
	/* the thread may poll a device register whose accesses the kernel emulates in its fault handler */
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
	why_says("thread 5 (worker) faults on address 0x5000 again and again");
	why_says("100 page faults in a row");
	why_says("instruction at 0x40");
	why_says("spurious\\x1b[31m");
}

/* The signal handler makes a system call. This call is not progress, and is not a loop of system calls. */
static void fault_with_signal_handler_is_reported(void **state)
{
	(void)state;
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 0);
	why_work_until(fault_many(1000, MS, DELIVER), WORKER);
	assert_int_equal(why_judge()->verdict, WHY_FAULT_LOOP);
	/* the handler may leave the faulting code with siglongjmp() */
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
	why_says("a signal is delivered for them");
	assert_int_equal(why_count(WHY_SYSCALL_LOOP), 0);
}

/*
 * It is normal that a program faults at the same address again after it has mapped its memory again, or has
 * shared it with a new child.
 */
static void calls_between_faults_are_progress(void **state)
{
	(void)state;
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 0);
	why_work_until(fault_many(100, fault_many(100, MS, ENTER), FORK), WORKER);
	assert_int_equal(why_count(WHY_FAULT_LOOP), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, why_threads_begin, why_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(repeated_failing_call_is_reported),
		TEST(successful_calls_are_progress),
		TEST(rare_calls_are_no_loop),
		TEST(finished_loop_is_not_reported),
		TEST(loop_on_cpu_delayed_by_host_is_reported),
		TEST(few_ms_of_polls_are_only_possible),
		TEST(thread_that_polls_then_sleeps_is_healthy),
		TEST(calls_that_sleep_are_no_loop),
		TEST(calls_that_fill_small_ring_are_certain),
		TEST(repeated_fault_is_reported),
		TEST(fault_with_signal_handler_is_reported),
		TEST(calls_between_faults_are_progress),
		TEST(calls_are_counted_after_gap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
