/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests waits for a lock whose recorded owner is not, or no longer, the thread that is waited for, and waits
 * for a lock that the waiter itself holds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "unit/support/script.h"
#include "unit/support/why_support.h"

#define A	0x1000u
#define B	0x2000u
#define KERNEL	UINT64_C(0xffffffff80000000)
#define PROGRAM UINT64_C(0x7f0000001000)
#define END	(3000 * MS)

enum { OTHER = 1, ACQUIRE, RELEASE };

/* The rows of two threads that sleep on CPU 0, which idles, and that CPU's row in the table of holders. */
static struct ktrx_holder *five, *six, *cpu;

static int begin(void **state)
{
	const int error = why_setup(state);

	cpu = why_cpu_row(0, KTRX_MODE_IDLE);
	five = why_thread_row(5, "five", KTRX_THREAD_WAITING, 0);
	six = why_thread_row(6, "six", KTRX_THREAD_WAITING, 0);
	script_type(OTHER, "mine", "other", "");
	script_event(OTHER, 1, 0, 0);
	script_event(OTHER, END, 0, 0);
	return error;
}

/* `owner`: number of the thread that the kernel names as the lock's owner; 0: it names none */
static void wants(struct ktrx_holder *row, uint64_t lock, const char *name, uint64_t since, uint32_t owner)
{
	why_waits(row, KTRX_WAIT_LOCK, lock, name, since);
	row->state_stamp = since;
	row->owner = owner ? owner + 1 : 0;
}

static void sleeps(struct ktrx_holder *row, uint64_t object, const char *name, uint64_t since)
{
	why_waits(row, KTRX_WAIT_EVENT, object, name, since);
	row->state_stamp = since;
}

static void runs(uint32_t thread)
{
	script_cpu(0)->mode = KTRX_MODE_KERNEL;
	why_thread_row(thread, "runs", KTRX_THREAD_RUNNING, 0);
}

/* Thread 7 holds a lock, which its row contains. */
static void seven_holds(uint64_t lock)
{
	struct ktrx_holder *seven = why_thread_row(7, "seven", KTRX_THREAD_WAITING, 0);

	why_holds(seven, lock, 10 * MS);
	sleeps(seven, 0x4000, "input", 12 * MS);
}

/* The first finding of this verdict has that certainty. */
static void has(enum why_verdict verdict, enum finding_certainty certain)
{
	const char *const words[] = { "possible", "likely", "certain" };
	char text[64];

	assert_int_equal(why_count(verdict), 1);
	snprintf(text, sizeof(text), "%s (%s", why_verdict_word(verdict), words[certain]);
	why_says(text);
}

/* Thread 5 waits for the end of thread 6, and was the owner of the lock for which thread 6 waits. */
static void five_joins_six(uint8_t cause)
{
	runs(7);
	why_waits(five, KTRX_WAIT_THREAD, 6, "join", 30 * MS);
	wants(six, A, "aye", 20 * MS, 5);
	six->state = KTRX_THREAD_RUNNABLE;
	six->cause = cause;
}

/*
 * Thread 5 has released the lock for which thread 6 waited, has woken thread 6, and waits for its end. Thread
 * 6 has not run since. The rows do not contain held locks.
 */
static void owner_that_has_woken_the_waiter_is_no_owner(void **state)
{
	(void)state;
	five_joins_six(KTRX_CAUSE_WAKE);
	six->state_stamp = 25 * MS;
	assert_int_equal(why_count(WHY_DEADLOCK), 0);
}

/*
 * The time of a wakeup in the table may be that of the last tick before it. So thread 6 may have been woken
 * after its wait began.
 */
static void wakeup_shortly_before_the_wait_makes_the_owner_doubtful(void **state)
{
	(void)state;
	five_joins_six(KTRX_CAUSE_WAKE);
	six->state_stamp = 15 * MS;
	has(WHY_DEADLOCK, FINDING_POSSIBLE);
	why_says("thread 6 (six) was woken at about the time at which this wait began, or later");
}

/*
 * A timer that fires late woke thread 6 after its wait began and before it went to sleep. So it is not
 * runnable, and does not run, although the CPU idles.
 */
static void wakeup_without_effect_does_not_hide_a_deadlock(void **state)
{
	(void)state;
	wants(five, B, "bee", 30 * MS, 6);
	wants(six, A, "aye", 20 * MS, 5);
	six->state = KTRX_THREAD_RUNNABLE;
	six->cause = KTRX_CAUSE_WAKE;
	six->state_stamp = 21 * MS;
	six->wakes = 2;
	assert_int_equal(why_judge()->verdict, WHY_BOOKKEEPING);
	has(WHY_DEADLOCK, FINDING_POSSIBLE);
}

static void wakeup_long_before_the_wait_does_not_end_it(void **state)
{
	(void)state;
	five_joins_six(KTRX_CAUSE_WAKE);
	six->wait_stamp = 500 * MS;
	six->state_stamp = 15 * MS;
	has(WHY_DEADLOCK, FINDING_CERTAIN);
}

/* Thread 6 yields instead of sleeping. It has not been woken, so thread 5 may still hold the lock. */
static void owner_of_a_waiter_that_yields_is_an_owner(void **state)
{
	(void)state;
	five_joins_six(KTRX_CAUSE_SWITCH);
	assert_int_equal(why_count(WHY_DEADLOCK), 1);
}

/* Threads 5 and 6 wait for each other's locks, which no row contains. Thread 7 holds a lock of the kernel. */
static void wait_for_each_other(uint64_t one, uint64_t two)
{
	wants(five, two, "bee", 20 * MS, 6);
	wants(six, one, "aye", 21 * MS, 5);
	seven_holds(KERNEL + 0x3000);
}

/* The kernel knows the owners of these locks of a program only when a thread waits for one. */
static void deadlock_of_a_program_is_found_beside_held_locks_of_the_kernel(void **state)
{
	(void)state;
	script_info()->self = KERNEL;
	script_cpu(0)->user_exits = 100;
	wait_for_each_other(PROGRAM, PROGRAM + 64);
	assert_int_equal(why_judge()->verdict, WHY_DEADLOCK);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
	why_says(
		"this lock is in the memory of a program: the kernel named its owner only when the wait began");
}

/*
 * These may be locks of a program. They may also be two semaphores of a producer and a consumer, which both
 * sleep as usual: the field for the owner contains the thread that last took the semaphore.
 */
static void named_owners_beside_held_locks_are_only_possible(void **state)
{
	(void)state;
	wait_for_each_other(A, B);
	has(WHY_DEADLOCK, FINDING_POSSIBLE);
	why_says("no row of the kernel's table contains this lock, although rows contain other locks");
	why_says("the lock is no longer held");
	assert_int_equal(why_count(WHY_OVERDUE), 2);
}

/* This kernel is in the lower half. As the object, it passes the number of the process and the address. */
static void lock_of_a_program_may_have_the_number_of_its_process(void **state)
{
	(void)state;
	script_info()->self = 0x100000;
	script_cpu(0)->user_exits = 100;
	wait_for_each_other(UINT64_C(5) << 40 | 0x401000, UINT64_C(5) << 40 | 0x401040);
	has(WHY_DEADLOCK, FINDING_LIKELY);
}

/* This kernel is in the lower half, so that its semaphores have addresses like those of programs. */
static void locks_of_a_low_kernel_are_not_locks_of_a_program(void **state)
{
	(void)state;
	script_info()->self = 0x100000;
	script_cpu(0)->user_exits = 100;
	wait_for_each_other(0x401000, 0x401040);
	has(WHY_DEADLOCK, FINDING_POSSIBLE);
}

/* The rows of threads contain locks in the lower half, where this kernel has its memory. */
static void memory_of_the_kernel_in_the_lower_half_is_none_of_a_program(void **state)
{
	(void)state;
	script_info()->self = KERNEL;
	script_cpu(0)->user_exits = 100;
	wait_for_each_other(PROGRAM, PROGRAM + 64);
	why_thread_row(8, "eight", KTRX_THREAD_WAITING, 0);
	why_holds(why_thread_row(9, "nine", KTRX_THREAD_WAITING, 0), 0x40000, 10 * MS);
	has(WHY_DEADLOCK, FINDING_POSSIBLE);
}

/* Thread 6 took the semaphore last, and sleeps for packets. A wakeup of thread 5 may have been lost. */
static void wait_for_an_owner_that_sleeps_stays_overdue(void **state)
{
	(void)state;
	wants(five, A, "sem", 30 * MS, 6);
	sleeps(six, 0x5000, "net", 20 * MS);
	seven_holds(B);
	has(WHY_OVERDUE, FINDING_POSSIBLE);
	why_says("the lock is no longer held");
}

/* Events show that the locks are taken, so the rows would contain them. */
static void owners_have_released_locks_whose_acquisition_is_recorded(void **state)
{
	(void)state;
	script_type(ACQUIRE, "lock", "acquire", "pointer lock,pointer place");
	script_type(RELEASE, "lock", "release", "pointer lock");
	for (uint64_t lock = A; lock <= B; lock += B - A) {
		script_event(ACQUIRE, lock, 0, 8, lock, (uint64_t)0);
		script_event(RELEASE, lock + 1, 0, 8, lock);
	}
	wait_for_each_other(A, B);
	assert_int_equal(why_count(WHY_DEADLOCK), 0);
	assert_int_equal(why_count(WHY_OVERDUE), 2);
}

/* A consumer waits for the semaphore that it took last itself. */
static void semaphore_that_was_last_taken_by_its_waiter_is_no_deadlock(void **state)
{
	(void)state;
	wants(five, A, "items", 30 * MS, 5);
	sleeps(six, 0x5000, "net", 20 * MS);
	seven_holds(B);
	assert_int_equal(why_count(WHY_SELF_DEADLOCK), 0);
}

/* Thread 6 holds the lock for which thread 5 waits, and waits for a semaphore that thread 5 took last. */
static void cycle_with_one_named_owner_is_only_possible(void **state)
{
	(void)state;
	why_holds(six, A, 10 * MS);
	wants(five, A, "aye", 20 * MS, 6);
	wants(six, B, "items", 30 * MS, 5);
	has(WHY_DEADLOCK, FINDING_POSSIBLE);
}

/*
 * Thread 5 holds the lock for which thread 6 waits, and waits for a lock of thread 6. Thread 6 has run since
 * then, and its row does not contain that lock.
 */
static void owner_that_has_run_since_has_released_the_lock(void **state)
{
	(void)state;
	why_holds(five, A, 10 * MS);
	wants(five, B, "bee", 20 * MS, 6);
	wants(six, A, "aye", 30 * MS, 5);
	assert_int_equal(why_count(WHY_DEADLOCK), 0);
}

/* Threads 5 and 6 have read-locked A. Thread 5, which was the last to do so, wants to lock it for writing. */
static void both_read(uint32_t owner)
{
	why_holds(five, A, 20 * MS);
	wants(five, A, "aye", 30 * MS, owner);
	why_holds(six, A, 10 * MS);
	sleeps(six, 0x3000, "packets", 15 * MS);
}

/* If a reader can become the writer, thread 5 waits for thread 6. Otherwise, it waits for itself. */
static void reader_that_becomes_writer_waits_for_the_other_reader(void **state)
{
	(void)state;
	both_read(0);
	has(WHY_SELF_DEADLOCK, FINDING_POSSIBLE);
	why_says("thread 6 (six) holds this lock, too: if a reader of this lock can become its writer");
}

/* The kernel names thread 5 as the owner. A lock with several readers has no owner. */
static void owner_that_waits_for_its_own_lock_is_a_likely_deadlock(void **state)
{
	(void)state;
	both_read(5);
	assert_int_equal(why_judge()->verdict, WHY_SELF_DEADLOCK);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
}

/*
 * Threads 5, 6 and 7 have read-locked A, thread 5 last. Thread 5 wants to lock it for writing, and thread 7
 * waits for a lock of thread 5.
 */
static void reader_that_becomes_writer_waits_for_all_other_readers(void **state)
{
	struct ktrx_holder *seven = why_thread_row(7, "seven", KTRX_THREAD_WAITING, 0);

	(void)state;
	why_holds(five, B, 5 * MS);
	five->held[1] = (struct ktrx_held){ .object = A, .stamp = 18 * MS };
	five->held_count = 2;
	wants(five, A, "aye", 30 * MS, 0);
	why_holds(six, A, 17 * MS);
	sleeps(six, 0x3000, "packets", 25 * MS);
	why_holds(seven, A, 10 * MS);
	wants(seven, B, "bee", 31 * MS, 0);
	assert_int_equal(why_judge()->verdict, WHY_DEADLOCK);
	assert_int_equal(why_judge()->base.certain, FINDING_CERTAIN);
	assert_int_equal(why_count(WHY_SELF_DEADLOCK), 0);
}

/* CPU 0 spins for a spinlock that it holds. The row of CPU 1 contains this lock, too. */
static void cpu_spins_for_its_own_lock(uint32_t owner)
{
	runs(7);
	why_holds(why_cpu_row(1, KTRX_MODE_IDLE), A, 40 * MS);
	why_holds(cpu, A, 90 * MS);
	why_waits(cpu, KTRX_WAIT_SPIN, A, "aye", 100 * MS);
	cpu->owner = owner;
	assert_int_equal(why_judge()->verdict, WHY_SELF_DEADLOCK);
}

/* For example, the lock was taken on CPU 1 and released on CPU 0, so the row of CPU 1 still contains it. */
static void stale_holder_does_not_hide_a_self_deadlock(void **state)
{
	(void)state;
	cpu_spins_for_its_own_lock(KTRX_HOLDER_CPU | 0);
	assert_int_equal(why_judge()->base.certain, FINDING_CERTAIN);
}

/* The spinlock may be one of readers and writers, and the waiter a reader that becomes the writer. */
static void two_holders_of_a_spinlock_make_a_self_deadlock_likely(void **state)
{
	(void)state;
	cpu_spins_for_its_own_lock(0);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
	why_says("CPU 1 holds this lock, too: if a reader of this lock can become its writer");
}

/* The holder was preempted only a moment ago; before that, it slept. */
static void holder_that_was_just_preempted_is_no_inversion(void **state)
{
	(void)state;
	runs(7);
	five->state = KTRX_THREAD_RUNNABLE;
	five->priority = 10;
	five->state_stamp = END - MS;
	why_holds(five, A, END - 1010 * MS);
	why_thread_row(8, "middle", KTRX_THREAD_RUNNING, 0)->priority = 20;
	six->priority = 30;
	wants(six, A, "aye", END - 1000 * MS, 0);
	assert_int_equal(why_count(WHY_PRIORITY_INVERSION), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, why_teardown)

/* Thread 5 has waited for a lock for 8 s. The kernel did not name its owner. */
static void waits_for_unnamed(uint64_t lock)
{
	script_event(OTHER, 8000 * MS, 0, 0);
	wants(five, lock, "aye", 30 * MS, 0);
	sleeps(six, 0x5000, "net", 20 * MS);
}

/*
 * No row contains the lock, although another row contains a lock: it was released without waking thread 5, or
 * its holder has ended.
 */
static void lock_without_a_holder_is_possibly_free(void **state)
{
	(void)state;
	waits_for_unnamed(A);
	seven_holds(B);
	assert_int_equal(why_judge()->verdict, WHY_IDLE);
	assert_int_equal(why_judge()->base.certain, FINDING_POSSIBLE);
	has(WHY_OVERDUE, FINDING_POSSIBLE);
	why_says(
		"thread 5 (five) has waited 7.97 s for lock aye (0x1000); no holder of the lock is recorded");
	why_says("check whether the kernel calls ktrace_acquire() for this lock");
}

/* No row contains a lock, so the kernel may not report that threads take locks. */
static void lock_of_a_kernel_without_held_locks_may_be_held(void **state)
{
	(void)state;
	waits_for_unnamed(A);
	assert_int_equal(why_count(WHY_OVERDUE), 0);
}

static void lock_that_a_row_contains_is_not_free(void **state)
{
	(void)state;
	waits_for_unnamed(A);
	seven_holds(A);
	assert_null(strstr(why_text(), "no holder of the lock"));
}

/* Thread 7 holds more locks than its row can name. */
static void lock_may_be_one_that_does_not_fit_into_a_row(void **state)
{
	(void)state;
	waits_for_unnamed(A);
	why_holds(why_thread_row(7, "seven", KTRX_THREAD_WAITING, 0), B, 10 * MS);
	why_thread_row(7, "seven", KTRX_THREAD_WAITING, 0)->held_count = KTRX_HELD + 1;
	assert_int_equal(why_count(WHY_OVERDUE), 0);
}

/* Kernels do not report that programs take locks. */
static void unnamed_lock_of_a_program_may_be_held(void **state)
{
	(void)state;
	script_info()->self = KERNEL;
	script_cpu(0)->user_exits = 100;
	waits_for_unnamed(PROGRAM);
	seven_holds(KERNEL + 0x3000);
	assert_int_equal(why_count(WHY_OVERDUE), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(owner_that_has_woken_the_waiter_is_no_owner),
		TEST(wakeup_shortly_before_the_wait_makes_the_owner_doubtful),
		TEST(wakeup_without_effect_does_not_hide_a_deadlock),
		TEST(wakeup_long_before_the_wait_does_not_end_it),
		TEST(owner_of_a_waiter_that_yields_is_an_owner),
		TEST(deadlock_of_a_program_is_found_beside_held_locks_of_the_kernel),
		TEST(named_owners_beside_held_locks_are_only_possible),
		TEST(lock_of_a_program_may_have_the_number_of_its_process),
		TEST(locks_of_a_low_kernel_are_not_locks_of_a_program),
		TEST(memory_of_the_kernel_in_the_lower_half_is_none_of_a_program),
		TEST(wait_for_an_owner_that_sleeps_stays_overdue),
		TEST(owners_have_released_locks_whose_acquisition_is_recorded),
		TEST(semaphore_that_was_last_taken_by_its_waiter_is_no_deadlock),
		TEST(cycle_with_one_named_owner_is_only_possible),
		TEST(owner_that_has_run_since_has_released_the_lock),
		TEST(reader_that_becomes_writer_waits_for_the_other_reader),
		TEST(owner_that_waits_for_its_own_lock_is_a_likely_deadlock),
		TEST(reader_that_becomes_writer_waits_for_all_other_readers),
		TEST(stale_holder_does_not_hide_a_self_deadlock),
		TEST(two_holders_of_a_spinlock_make_a_self_deadlock_likely),
		TEST(holder_that_was_just_preempted_is_no_inversion),
		TEST(lock_without_a_holder_is_possibly_free),
		TEST(lock_of_a_kernel_without_held_locks_may_be_held),
		TEST(lock_that_a_row_contains_is_not_free),
		TEST(lock_may_be_one_that_does_not_fit_into_a_row),
		TEST(unnamed_lock_of_a_program_may_be_held),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
