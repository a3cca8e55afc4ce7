/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests waits for a lock whose recorded owner is not, or no longer, the thread that is waited for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "unit/support/script.h"
#include "unit/support/why_support.h"

#define A 0x1000u
#define B 0x2000u

enum { OTHER = 1 };

static void end_at(uint64_t stamp)
{
	script_type(OTHER, "mine", "other", "");
	script_event(OTHER, 1, 0, 0);
	script_event(OTHER, stamp, 0, 0);
}

/*
 * Thread 5 has released the lock for which thread 6 waited, has woken thread 6, and waits for its end. Thread 6
 * has not run since. The rows do not contain held locks.
 */
static void owner_that_has_woken_the_waiter_is_no_owner(void **state)
{
	struct ktrx_holder *five = why_thread_row(5, "five", KTRX_THREAD_WAITING, 0);
	struct ktrx_holder *six = why_thread_row(6, "six", KTRX_THREAD_RUNNABLE, 0);

	(void)state;
	why_cpu_row(0, KTRX_MODE_KERNEL);
	why_waits(five, KTRX_WAIT_THREAD, 6, "join", 30 * MS);
	why_waits(six, KTRX_WAIT_LOCK, A, "aye", 20 * MS);
	six->owner = 5 + 1;
	six->cause = KTRX_CAUSE_WAKE;
	six->state_stamp = 25 * MS;
	why_thread_row(7, "seven", KTRX_THREAD_RUNNING, 0);
	end_at(2021 * MS);
	assert_int_equal(why_count(WHY_DEADLOCK), 0);
}

/* Thread 6 yields instead of sleeping. It has not been woken, so thread 5 may still hold the lock. */
static void owner_of_a_waiter_that_yields_is_an_owner(void **state)
{
	struct ktrx_holder *five = why_thread_row(5, "five", KTRX_THREAD_WAITING, 0);
	struct ktrx_holder *six = why_thread_row(6, "six", KTRX_THREAD_RUNNABLE, 0);

	(void)state;
	why_cpu_row(0, KTRX_MODE_KERNEL);
	why_waits(five, KTRX_WAIT_THREAD, 6, "join", 30 * MS);
	why_waits(six, KTRX_WAIT_LOCK, A, "aye", 20 * MS);
	six->owner = 5 + 1;
	six->cause = KTRX_CAUSE_SWITCH;
	end_at(2021 * MS);
	assert_int_equal(why_count(WHY_DEADLOCK), 1);
}

/*
 * Two threads of a program wait for each other's locks, which the kernel knows only when a thread waits for one.
 * Thread 7 holds a lock of the kernel.
 */
static void deadlock_of_a_program_is_found_beside_held_locks_of_the_kernel(void **state)
{
	struct ktrx_holder *five = why_thread_row(5, "five", KTRX_THREAD_WAITING, 0);
	struct ktrx_holder *six = why_thread_row(6, "six", KTRX_THREAD_WAITING, 0);
	struct ktrx_holder *seven = why_thread_row(7, "seven", KTRX_THREAD_WAITING, 0);

	(void)state;
	why_cpu_row(0, KTRX_MODE_IDLE);
	why_waits(five, KTRX_WAIT_LOCK, B, "bee", 20 * MS);
	five->owner = 6 + 1;
	five->state_stamp = 20 * MS;
	why_waits(six, KTRX_WAIT_LOCK, A, "aye", 21 * MS);
	six->owner = 5 + 1;
	six->state_stamp = 21 * MS;
	why_holds(seven, 0x3000, 10 * MS);
	why_waits(seven, KTRX_WAIT_EVENT, 0x4000, "input", 12 * MS);
	end_at(3000 * MS);
	assert_int_equal(why_judge()->verdict, WHY_DEADLOCK);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
}

/* Threads 5 and 6 have read-locked A. Thread 5, which was the last to do so, wants to lock it for writing. */
static void reader_that_becomes_writer_waits_for_the_other_reader(void **state)
{
	struct ktrx_holder *five = why_thread_row(5, "five", KTRX_THREAD_WAITING, 0);
	struct ktrx_holder *six = why_thread_row(6, "six", KTRX_THREAD_WAITING, 0);

	(void)state;
	why_cpu_row(0, KTRX_MODE_IDLE);
	why_holds(five, A, 20 * MS);
	why_waits(five, KTRX_WAIT_LOCK, A, "aye", 30 * MS);
	why_holds(six, A, 10 * MS);
	why_waits(six, KTRX_WAIT_EVENT, 0x3000, "packets", 15 * MS);
	end_at(2021 * MS);
	assert_int_equal(why_count(WHY_SELF_DEADLOCK), 0);
}

/*
 * Threads 5, 6 and 7 have read-locked A. Thread 5 wants to lock it for writing, and thread 7 waits for a lock of
 * thread 5. Thread 6 was the last to read-lock A.
 */
static void reader_that_becomes_writer_waits_for_all_other_readers(void **state)
{
	struct ktrx_holder *five = why_thread_row(5, "five", KTRX_THREAD_WAITING, 0);
	struct ktrx_holder *six = why_thread_row(6, "six", KTRX_THREAD_WAITING, 0);
	struct ktrx_holder *seven = why_thread_row(7, "seven", KTRX_THREAD_WAITING, 0);

	(void)state;
	why_cpu_row(0, KTRX_MODE_IDLE);
	why_holds(five, B, 5 * MS);
	five->held[1] = (struct ktrx_held){ .object = A, .stamp = 18 * MS };
	five->held_count = 2;
	why_waits(five, KTRX_WAIT_LOCK, A, "aye", 30 * MS);
	why_holds(six, A, 17 * MS);
	why_waits(six, KTRX_WAIT_EVENT, 0x3000, "packets", 25 * MS);
	why_holds(seven, A, 10 * MS);
	why_waits(seven, KTRX_WAIT_LOCK, B, "bee", 31 * MS);
	end_at(2021 * MS);
	assert_int_equal(why_judge()->verdict, WHY_DEADLOCK);
	assert_int_equal(why_count(WHY_SELF_DEADLOCK), 0);
}

/* The holder was preempted only a moment ago; before that, it slept. */
static void holder_that_was_just_preempted_is_no_inversion(void **state)
{
	struct ktrx_holder *row = why_thread_row(5, "low", KTRX_THREAD_RUNNABLE, 0);

	(void)state;
	why_cpu_row(0, KTRX_MODE_KERNEL);
	row->priority = 10;
	row->state_stamp = 1019 * MS;
	why_holds(row, A, 10 * MS);
	why_thread_row(6, "middle", KTRX_THREAD_RUNNING, 0)->priority = 20;
	row = why_thread_row(7, "high", KTRX_THREAD_WAITING, 0);
	row->priority = 30;
	why_waits(row, KTRX_WAIT_LOCK, A, "aye", 20 * MS);
	end_at(1020 * MS);
	assert_int_equal(why_count(WHY_PRIORITY_INVERSION), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, why_setup, why_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(owner_that_has_woken_the_waiter_is_no_owner),
		TEST(owner_of_a_waiter_that_yields_is_an_owner),
		TEST(deadlock_of_a_program_is_found_beside_held_locks_of_the_kernel),
		TEST(reader_that_becomes_writer_waits_for_the_other_reader),
		TEST(reader_that_becomes_writer_waits_for_all_other_readers),
		TEST(holder_that_was_just_preempted_is_no_inversion),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
