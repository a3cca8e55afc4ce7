/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests findings about a thread that spins, in a kernel that takes locks at the end of an interrupt, after it
 * has reported the end of the handler: the lock of the run queue, to preempt the thread, or the lock of the
 * thread's signals. The thread itself does nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ktrx/slot.h"
#include "unit/support/script.h"
#include "unit/support/why_support.h"

#define V(value) ((uint64_t)(value))

#define WORKER	5u
#define CLIENT	6u
#define KERNEL	UINT64_C(0x100000)
#define LOOP	(KERNEL + 0x1000)
#define PROGRAM UINT64_C(0x10000001000)
#define PLACE	(KERNEL + 0x2000) /* the code that takes locks */
#define RUNS	V(0x5000)	  /* lock of the run queue */
#define SIGNALS V(0x6000)	  /* lock of the worker's signals */
#define LAST	(3000 * MS)
#define TICK	(10 * MS)

enum { CALL = 1, RETURN, SWITCH, ENTER, EXIT, BLOCK, WAKE, ACQUIRE, RELEASE };

static int begin(void **state)
{
	int error = why_setup(state);

	script_type(CALL, "syscall", "enter", "u32 nr");
	script_type(RETURN, "syscall", "exit", "u32 nr,i64 result");
	script_type(SWITCH, "sched", "switch", "u32 prev,u32 next,u8 state");
	script_type(ENTER, "irq", "enter", "u32 irq,u64 ip");
	script_type(EXIT, "irq", "exit", "u32 irq");
	script_type(BLOCK, "sched", "block", "u64 queue,u32 thread,u8 kind");
	script_type(WAKE, "sched", "wake", "u32 thread");
	script_type(ACQUIRE, "lock", "acquire", "u64 lock,u64 place");
	script_type(RELEASE, "lock", "release", "u64 lock");
	script_thread(WORKER, "worker");
	script_info()->cpus = 1;
	script_info()->self = KERNEL;
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 0);
	why_cpu_row(0, KTRX_MODE_KERNEL);
	why_cpu_beats(0, 300, LAST);
	script_cpu(0)->thread = WORKER;
	script_event(SWITCH, MS, 0, CLIENT, V(CLIENT), V(WORKER), V(1));
	return error;
}

/* A timer tick interrupts the worker at `ip`. */
static void tick(uint64_t stamp, uint64_t ip)
{
	script_event(ENTER, stamp, 0, WORKER, V(0), ip);
	script_event(EXIT, stamp + 10, 0, WORKER, V(0));
}

static void take(uint64_t stamp, uint32_t thread, uint64_t lock)
{
	script_event(ACQUIRE, stamp, 0, thread, lock, PLACE);
	script_event(RELEASE, stamp + 10, 0, thread, lock);
}

/* After a tick, the kernel switches from the worker to the client, which runs shortly and sleeps again. */
static void preempt(uint64_t stamp)
{
	take(stamp + 100, WORKER, RUNS);
	script_event(SWITCH, stamp + 200, 0, WORKER, V(WORKER), V(CLIENT), V(0));
	take(stamp + 300, CLIENT, RUNS); /* puts the worker into the run queue */
	script_event(BLOCK, stamp + 400, 0, CLIENT, V(0x7000), V(CLIENT), V(KTRX_WAIT_TIME));
	take(stamp + 500, CLIENT, RUNS);
	script_event(SWITCH, stamp + 600, 0, CLIENT, V(CLIENT), V(WORKER), V(1));
}

/* The worker spins at `ip`. Every fourth tick wakes the client, which preempts the worker. */
static void spin(uint64_t ip, uint64_t after_tick)
{
	for (uint64_t n = 1; n * TICK <= LAST; n++) {
		tick(n * TICK, ip);
		if (n % 4 == 0)
			preempt(n * TICK);
		else if (after_tick)
			take(n * TICK + 100, WORKER, after_tick);
	}
}

static void preemption_is_no_action_of_the_thread(void **state)
{
	(void)state;
	spin(LOOP, 0);
	assert_int_equal(why_judge()->verdict, WHY_KERNEL_SPIN);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
	why_says("thread 5 (worker) spins in the kernel on CPU 0");
}

/* Another CPU took the only runnable thread, so the scheduler takes its lock and does not switch. */
static void search_for_a_thread_is_no_action_of_the_thread(void **state)
{
	(void)state;
	spin(LOOP, RUNS);
	assert_int_equal(why_judge()->verdict, WHY_KERNEL_SPIN);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
}

/* Two threads spin, and preempt each other. */
static void spinning_threads_preempt_each_other(void **state)
{
	uint32_t runs = WORKER;

	(void)state;
	for (uint64_t stamp = TICK; stamp <= LAST; stamp += TICK) {
		const uint32_t next = WORKER + CLIENT - runs;

		script_event(ENTER, stamp, 0, runs, V(0), LOOP + 64 * runs);
		script_event(EXIT, stamp + 10, 0, runs, V(0));
		take(stamp + 100, runs, RUNS);
		script_event(SWITCH, stamp + 200, 0, runs, V(runs), V(next), V(0));
		take(stamp + 300, next, RUNS);
		runs = next;
	}
	why_thread_row(CLIENT, "client", KTRX_THREAD_RUNNABLE, 0);
	script_cpu(0)->thread = runs;
	assert_int_equal(why_judge()->verdict, WHY_KERNEL_SPIN);
}

/* The kernel looks for signals before it returns to the program. */
static void check_for_signals_is_no_action_of_the_program(void **state)
{
	(void)state;
	script_cpu(0)->mode = KTRX_MODE_USER;
	script_event(CALL, 2 * MS, 0, WORKER, V(1));
	script_event(RETURN, 3 * MS, 0, WORKER, V(1), V(0));
	spin(PROGRAM, SIGNALS);
	assert_int_equal(why_judge()->verdict, WHY_USER_SPIN);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
	why_says("thread 5 (worker) spins in user mode on CPU 0, for 3.00 s since its last system call");
}

/* The rings contain only the last second, so the loop may have lasted for longer. */
static void loop_older_than_the_rings_needs_more_slots(void **state)
{
	(void)state;
	spin(LOOP, 0);
	script_event(EXIT, 2000 * MS + 20, 0, WORKER, V(0))->lost = 1000;
	script_sort();
	assert_int_equal(why_count(WHY_KERNEL_SPIN), 1);
	why_says("kernel-spin (possible");
	why_says("use rings with more slots, because the loop may have lasted for longer than they show");
}

static void expect_no_spin(void)
{
	why_judge();
	assert_int_equal(why_count(WHY_KERNEL_SPIN), 0);
	assert_int_equal(why_count(WHY_USER_SPIN), 0);
}

/* The kernel waits for each tick, and then does some work: it takes a lock that is not the scheduler's. */
static void work_after_each_tick_is_an_action(void **state)
{
	(void)state;
	spin(LOOP, SIGNALS);
	expect_no_spin();
}

/* The thread yields again and again. Only the first of these yields comes directly after the tick. */
static void yields_are_actions(void **state)
{
	(void)state;
	spin(LOOP, 0);
	for (uint64_t stamp = TICK + MS; stamp <= LAST; stamp += TICK)
		take(stamp, WORKER, RUNS);
	expect_no_spin();
}

/* Each yield finds the client runnable, which then sleeps at once. */
static void yields_that_switch_are_actions(void **state)
{
	(void)state;
	for (uint64_t stamp = TICK; stamp <= LAST; stamp += TICK) {
		tick(stamp, LOOP);
		preempt(stamp);
		take(stamp + MS, WORKER, RUNS);
		script_event(SWITCH, stamp + MS + 100, 0, WORKER, V(WORKER), V(CLIENT), V(0));
		script_event(BLOCK, stamp + MS + 200, 0, CLIENT, V(0x7000), V(CLIENT), V(KTRX_WAIT_TIME));
		script_event(SWITCH, stamp + MS + 300, 0, CLIENT, V(CLIENT), V(WORKER), V(1));
	}
	expect_no_spin();
}

/* The program's page faults are not recorded, but the locks that the kernel takes for them are. */
static void page_faults_are_actions(void **state)
{
	(void)state;
	script_cpu(0)->mode = KTRX_MODE_USER;
	spin(PROGRAM, 0);
	for (uint64_t stamp = TICK + 100; stamp <= LAST; stamp += TICK) {
		take(stamp + MS, WORKER, SIGNALS);
		take(stamp + 2 * MS, WORKER, SIGNALS);
	}
	expect_no_spin();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(preemption_is_no_action_of_the_thread, begin, why_teardown),
		cmocka_unit_test_setup_teardown(search_for_a_thread_is_no_action_of_the_thread, begin,
						why_teardown),
		cmocka_unit_test_setup_teardown(spinning_threads_preempt_each_other, begin, why_teardown),
		cmocka_unit_test_setup_teardown(check_for_signals_is_no_action_of_the_program, begin,
						why_teardown),
		cmocka_unit_test_setup_teardown(loop_older_than_the_rings_needs_more_slots, begin,
						why_teardown),
		cmocka_unit_test_setup_teardown(work_after_each_tick_is_an_action, begin, why_teardown),
		cmocka_unit_test_setup_teardown(yields_are_actions, begin, why_teardown),
		cmocka_unit_test_setup_teardown(yields_that_switch_are_actions, begin, why_teardown),
		cmocka_unit_test_setup_teardown(page_faults_are_actions, begin, why_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
