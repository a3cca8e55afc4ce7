/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests deadlocks whose rows in the kernel's table are partly out of date, rows that must not hide them, and
 * threads that have no row any more.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "ktrx/v2.h"
#include "unit/support/script.h"
#include "unit/support/why_cpus.h"
#include "unit/support/why_support.h"

#define OTHERS 7u

enum { CREATE = 40, WAKE, BLOCK };

static struct ktrx_holder *worker, *client;

static int begin(void **state)
{
	const int error = why_cpus_begin(state);

	script_type(CREATE, "sched", "create", "u32 thread");
	script_type(WAKE, "sched", "wake", "u32 thread");
	script_type(BLOCK, "sched", "block", "u32 thread,u64 queue");
	return error;
}

/* The threads worker and client hold locks A and B, and wait for B and A, since shortly after their creation. */
static void lock_each_other_out(uint8_t row_state)
{
	for (uint32_t cpu = 0; cpu < 2; cpu++)
		why_ticks(10 * MS, 3000 * MS, cpu, cpu ? IDLE1 : IDLE0, KERNEL);
	worker = why_thread_row(WORKER, "worker", row_state, 0);
	client = why_thread_row(CLIENT, "client", row_state, 0);
	worker->state_stamp = 522 * MS;
	client->state_stamp = 523 * MS;
	why_holds(worker, LOCK_A, 520 * MS);
	why_holds(client, LOCK_B, 520 * MS);
	why_waits(worker, KTRX_WAIT_LOCK, LOCK_B, "bee", 522 * MS);
	worker->owner = CLIENT + 1;
	why_waits(client, KTRX_WAIT_LOCK, LOCK_A, "aye", 523 * MS);
	client->owner = WORKER + 1;
	script_event(CREATE, 502 * MS, 0, IDLE0, V(WORKER));
	script_event(CREATE, 503 * MS, 0, IDLE0, V(CLIENT));
}

/* The kernel passes its own numbers in sched.switch: 4 means that the thread sleeps. */
static void rows_with_the_kernels_own_states_show_a_deadlock(void **state)
{
	(void)state;
	lock_each_other_out(KTRX_THREAD_UNKNOWN);
	for (uint64_t n = 0; n < 100; n++) {
		if (n % 2)
			script_event(WAKE, 1000 * MS + 2 * n * MS - 1, 1, IDLE1, V(OTHERS));
		script_event(SWITCH, 1000 * MS + 2 * n * MS, 1, IDLE1, V(IDLE1), V(OTHERS), V(0));
		script_event(SWITCH, 1001 * MS + 2 * n * MS, 1, OTHERS, V(OTHERS), V(IDLE1), V(4));
	}
	assert_int_equal(why_judge()->verdict, WHY_DEADLOCK);
}

/* The switch away from the worker was not reported, so its row says that it runs. */
static void row_that_still_runs_does_not_hide_a_deadlock(void **state)
{
	(void)state;
	lock_each_other_out(KTRX_THREAD_WAITING);
	worker->state = KTRX_THREAD_RUNNING;
	worker->state_stamp = 515 * MS;
	script_cpu(0)->switches = 100;
	script_cpu(0)->switch_stamp = 524 * MS;
	script_cpu(0)->thread = IDLE0;
	assert_int_equal(why_judge()->verdict, WHY_DEADLOCK);
	assert_int_equal(why_judge()->base.certain, FINDING_CERTAIN);
}

/*
 * The worker took lock A, another thread released it, and the worker ended. Much later, the client waits for A,
 * whose owner is another thread, as the kernel says.
 */
static void owner_that_the_kernel_names_is_no_dead_owner(void **state)
{
	struct ktrx_holder *other;

	(void)state;
	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		script_event(OTHER, 4000 * MS, cpu, cpu ? IDLE1 : IDLE0)->lost = 100;
		why_ticks(4010 * MS, 9000 * MS, cpu, cpu ? IDLE1 : IDLE0, KERNEL);
		script_cpu(cpu)->switches = 100;
		script_cpu(cpu)->switch_stamp = 40 * MS;
	}
	worker = why_thread_row(WORKER, "worker", KTRX_THREAD_UNKNOWN, 0);
	worker->state_stamp = 30 * MS;
	why_holds(worker, LOCK_A, 20 * MS);
	client = why_thread_row(CLIENT, "client", KTRX_THREAD_WAITING, 0);
	client->state_stamp = 8000 * MS;
	why_waits(client, KTRX_WAIT_LOCK, LOCK_A, "aye", 8000 * MS);
	client->owner = OTHERS + 1;
	other = why_thread_row(OTHERS, "others", KTRX_THREAD_WAITING, 0);
	other->state_stamp = 7900 * MS;
	why_waits(other, KTRX_WAIT_EVENT, 0x5000, "disk", 7900 * MS);
	why_judge();
	assert_int_equal(why_count(WHY_DEAD_OWNER), 0);
}

/*
 * The worker holds mutex A, and spins on CPU 0 for spinlock B, which CPU 1 holds. The client waits for A on CPU
 * 1. A needless wakeup came while the worker ran.
 */
static void thread_that_is_woken_while_it_spins_is_in_a_deadlock(void **state)
{
	struct ktrx_holder *spinner;

	(void)state;
	why_ticks(10 * MS, 500 * MS, 0, WORKER, KERNEL);
	why_ticks(10 * MS, 500 * MS, 1, CLIENT, KERNEL);
	script_event(OTHER, 3000 * MS, 2, 9);
	worker = why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNABLE, 0);
	worker->cause = KTRX_CAUSE_WAKE;
	worker->state_stamp = 490 * MS;
	client = why_thread_row(CLIENT, "client", KTRX_THREAD_RUNNING, 1);
	client->state_stamp = 490 * MS;
	script_cpu(0)->mode = script_cpu(1)->mode = KTRX_MODE_KERNEL;
	script_cpu(0)->switch_stamp = script_cpu(1)->switch_stamp = 480 * MS;
	script_cpu(0)->switches = script_cpu(1)->switches = 100;
	why_holds(worker, LOCK_A, 495 * MS);
	why_waits(client, KTRX_WAIT_LOCK, LOCK_A, "aye", 501 * MS);
	client->owner = WORKER + 1;
	why_holds(script_holder(KTRX_HOLDER_CPU | 1), LOCK_B, 497 * MS);
	spinner = script_holder(KTRX_HOLDER_CPU | 0);
	why_waits(spinner, KTRX_WAIT_SPIN, LOCK_B, "bee", 502 * MS);
	spinner->owner = KTRX_HOLDER_CPU | 1;
	assert_int_equal(why_judge()->verdict, WHY_DEADLOCK);
	assert_null(strstr(why_text(), "has been runnable"));
}

/*
 * CPU 0 spins for ever as a reader. CPU 1, a reader, too, waits for the other readers to become the writer.
 */
static void reader_that_spins_to_become_writer_is_no_likely_deadlock(void **state)
{
	struct ktrx_holder *spinner;

	(void)state;
	why_ticks(10 * MS, 3000 * MS, 0, WORKER, KERNEL);
	why_ticks(10 * MS, 3000 * MS, 1, CLIENT, KERNEL);
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 0)->state_stamp = 5 * MS;
	why_thread_row(CLIENT, "client", KTRX_THREAD_RUNNING, 1)->state_stamp = 5 * MS;
	script_cpu(0)->mode = script_cpu(1)->mode = KTRX_MODE_KERNEL;
	why_holds(script_holder(KTRX_HOLDER_CPU | 0), LOCK_A, 20 * MS);
	spinner = script_holder(KTRX_HOLDER_CPU | 1);
	why_holds(spinner, LOCK_A, 25 * MS);
	why_waits(spinner, KTRX_WAIT_SPIN, LOCK_A, "rw", 26 * MS);
	why_judge();
	assert_null(strstr(why_text(), "self-deadlock (likely)"));
	assert_null(strstr(why_text(), "self-deadlock (certain)"));
}

/* CPU 1 recorded that a thread went to sleep. The thread has no row in the kernel's table. */
static void sleep_without_row(void)
{
	script_event(BLOCK, 20 * MS, 1, OTHERS, V(OTHERS), V(0x7000));
	script_event(SWITCH, 21 * MS, 1, OTHERS, V(OTHERS), V(IDLE1), V(1));
	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		script_cpu(cpu)->mode = KTRX_MODE_IDLE;
		why_ticks(30 * MS, 3000 * MS, cpu, cpu ? IDLE1 : IDLE0, KERNEL);
	}
}

static void thread_that_sleeps_needs_a_row(void **state)
{
	(void)state;
	sleep_without_row();
	assert_int_equal(why_judge()->verdict, WHY_IDLE);
	why_says("the table of threads lacks 1 thread that sleeps");
}

/* The ring of CPU 0 lost its older events. They may have shown that the thread was woken and ended. */
static void thread_without_row_may_have_ended_in_lost_events(void **state)
{
	(void)state;
	sleep_without_row();
	script_event(OTHER, 1000 * MS, 0, IDLE0)->lost = 1000;
	assert_int_equal(why_judge()->verdict, WHY_IDLE);
	assert_null(strstr(why_text(), "the table of threads lacks"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, why_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(rows_with_the_kernels_own_states_show_a_deadlock),
		TEST(row_that_still_runs_does_not_hide_a_deadlock),
		TEST(owner_that_the_kernel_names_is_no_dead_owner),
		TEST(thread_that_is_woken_while_it_spins_is_in_a_deadlock),
		TEST(reader_that_spins_to_become_writer_is_no_likely_deadlock),
		TEST(thread_that_sleeps_needs_a_row),
		TEST(thread_without_row_may_have_ended_in_lost_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
