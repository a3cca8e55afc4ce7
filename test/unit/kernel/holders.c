/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests the entries of threads. An entry describes the waits, wakeups and switches of one thread. If there
 * are more threads than entries, some threads have no entry.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/core/hook.h"
#include "test/fake/machine.h"

#define QUEUE ((const void *)0x4000)
#define MUTEX ((const void *)0x5000)

static int boot(void **state)
{
	fake_reset(state);
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	fake.thread = 7;
	return 0;
}

static volatile struct ktrx_holder *entry_of(uint32_t thread)
{
	volatile struct ktrx_holder *entry = ktrace_holder_find(thread);

	assert_non_null(entry);
	assert_int_equal(entry->id, thread + 1);
	return entry;
}

static uint64_t cpu_now(void)
{
	return ktrace_state.cpu[fake.cpu].now;
}

static uint32_t entries_of(uint32_t thread)
{
	uint32_t entries = 0;

	for (uint32_t n = 0; n < FAKE_HOLDERS; n++)
		entries += ktrace_state.holder[FAKE_CPUS + n].id == thread + 1;
	return entries;
}

/* Makes thread 7 wait, and thread `waker` wake it `ticks` ticks after the CPU's last clock reading. */
static void wait_and_wake(const void *object, uint32_t kind, uint64_t deadline, uint64_t ticks,
			  uint32_t waker)
{
	const uint64_t next = cpu_now() + ticks;

	fake.thread = 7;
	ktrace_thread_block_at(object, NULL, kind, deadline, 0x88);
	fake.thread = waker;
	fake.clock = next;
	ktrace_heartbeat(0x5000);
	ktrace_thread_wake(7);
}

static void an_entry_counts_waits_for_one_object(void **state)
{
	volatile struct ktrx_holder *entry;
	uint64_t first;

	(void)state;
	wait_and_wake(QUEUE, KTRX_WAIT_EVENT, 0, 1000, 8);
	entry = entry_of(7);
	first = cpu_now();
	assert_int_equal(entry->habit_object, (uintptr_t)QUEUE);
	assert_int_equal(entry->habit_wakes, 1);
	assert_int_equal(entry->habit_first, first);
	for (unsigned n = 0; n < 9; n++)
		wait_and_wake(QUEUE, KTRX_WAIT_EVENT, 0, 100000, 8);
	wait_and_wake(QUEUE, KTRX_WAIT_DEVICE, 0, 900000, 9);
	assert_int_equal(entry->habit_wakes, 11);
	assert_int_equal(entry->habit_alike, 9);
	assert_int_equal(entry->habit_first, first);
	assert_int_equal(entry->habit_last, cpu_now());
	assert_in_range(entry->habit_longest, 900000, 900100);
	assert_in_range(entry->habit_usual, 200000, 200100);
	assert_int_equal(entry->habit_waker, 10);
}

static void timeouts_are_no_habit(void **state)
{
	(void)state;
	wait_and_wake(QUEUE, KTRX_WAIT_EVENT, 0, 1000, 8);
	wait_and_wake(QUEUE, KTRX_WAIT_EVENT, 0, 1000, 8);
	wait_and_wake(MUTEX, KTRX_WAIT_TIME, 99, 1000, 9);
	wait_and_wake(MUTEX, KTRX_WAIT_TIME, 0, 1000, 9);
	wait_and_wake(MUTEX, KTRX_WAIT_EVENT, 99, 1000, 9);
	ktrace_thread_wake(7); /* wakes the thread once more */
	assert_int_equal(entry_of(7)->habit_wakes, 2);
	assert_int_equal(entry_of(7)->habit_object, (uintptr_t)QUEUE);
	assert_int_equal(entry_of(7)->habit_waker, 9);
}

/* For example, a server waits for requests with a timeout. Requests wake it long before the deadline. */
static void waits_that_end_long_before_their_deadline_are_a_habit(void **state)
{
	(void)state;
	fake.clock = 1000000;
	for (unsigned n = 0; n < 5; n++)
		wait_and_wake(QUEUE, KTRX_WAIT_EVENT, fake.clock + 1000000, 50000, 8);
	assert_int_equal(entry_of(7)->habit_wakes, 5);
	wait_and_wake(QUEUE, KTRX_WAIT_EVENT, fake.clock + 1000000, 999000, 8);
	wait_and_wake(QUEUE, KTRX_WAIT_EVENT, fake.clock + 1000000, 1100000, 8);
	assert_int_equal(entry_of(7)->habit_wakes, 5);
	wait_and_wake(QUEUE, KTRX_WAIT_EVENT, 0, 50000, 8);
	assert_int_equal(entry_of(7)->habit_wakes, 6);
}

static void another_object_begins_another_habit(void **state)
{
	(void)state;
	wait_and_wake(QUEUE, KTRX_WAIT_EVENT, 0, 1000, 8);
	wait_and_wake(QUEUE, KTRX_WAIT_EVENT, 0, 5000, 8);
	wait_and_wake(MUTEX, KTRX_WAIT_EVENT, 0, 1000, 9);
	assert_int_equal(entry_of(7)->habit_wakes, 1);
	assert_int_equal(entry_of(7)->habit_object, (uintptr_t)MUTEX);
	assert_int_equal(entry_of(7)->habit_longest, 0);
	assert_int_equal(entry_of(7)->habit_alike, 0);
	assert_int_equal(entry_of(7)->habit_first, cpu_now());
}

static void a_clock_that_is_late_makes_no_long_wait(void **state)
{
	(void)state;
	wait_and_wake(QUEUE, KTRX_WAIT_EVENT, 0, 900000, 8);
	fake.clock -= 500000;
	wait_and_wake(QUEUE, KTRX_WAIT_EVENT, 0, (uint64_t)-400000, 8);
	assert_int_equal(entry_of(7)->habit_wakes, 2);
	assert_int_equal(entry_of(7)->habit_longest, 0);
}

/* An interrupt may switch from the idle thread to another thread, and ktrace_mode() is not called. */
static void a_switch_to_another_thread_ends_idling(void **state)
{
	volatile struct ktrx_cpu *cpu = &ktrace_state.cpu[fake.cpu];

	(void)state;
	ktrace_mode(KTRX_MODE_IDLE);
	ktrace_thread_switch(3, 3);
	assert_int_equal(cpu->mode, KTRX_MODE_IDLE);
	ktrace_thread_switch(3, 7);
	assert_int_equal(cpu->mode, KTRX_MODE_KERNEL);
	assert_int_equal(cpu->mode_stamp, cpu->switch_stamp);
	ktrace_mode(KTRX_MODE_USER);
	ktrace_thread_switch(7, 3);
	assert_int_equal(cpu->mode, KTRX_MODE_USER);
}

static void a_thread_sleeps_and_is_woken(void **state)
{
	(void)state;
	ktrace_thread_switch(3, 7);
	assert_int_equal(entry_of(7)->state, KTRX_THREAD_RUNNING);
	assert_null(ktrace_holder_find(3));
	ktrace_thread_block_at(QUEUE, "pipe", KTRX_WAIT_EVENT, 99, 0x88);
	assert_int_equal(entry_of(7)->state, KTRX_THREAD_WAITING);
	assert_int_equal(entry_of(7)->state_stamp, fake.clock);
	assert_int_equal(entry_of(7)->wait, KTRX_WAIT_EVENT);
	assert_int_equal(entry_of(7)->object, (uintptr_t)QUEUE);
	assert_int_equal(entry_of(7)->wait_pc, 0x88);
	assert_int_equal(entry_of(7)->deadline, 99);
	assert_string_equal((const char *)entry_of(7)->object_name, "pipe");
	fake.thread = 8;
	ktrace_thread_switch(7, 8);
	assert_int_equal(entry_of(7)->state, KTRX_THREAD_WAITING);
	fake.cpu = 1;
	fake.thread = 9;
	ktrace_thread_wake(7);
	assert_int_equal(entry_of(7)->state, KTRX_THREAD_RUNNABLE);
	assert_int_equal(entry_of(7)->wait, KTRX_WAIT_NONE);
	assert_int_equal(entry_of(7)->waker, 10);
	assert_int_equal(entry_of(7)->wakes, 1);
	assert_int_equal(entry_of(7)->deadline, 0);
	ktrace_thread_switch(9, 7);
	assert_int_equal(entry_of(7)->cpu, 1);
	assert_int_equal(entry_of(8)->cpu, 0);
	assert_int_equal(entry_of(7)->state, KTRX_THREAD_RUNNING);
	ktrace_thread_switch(7, 9);
	assert_int_equal(entry_of(7)->state, KTRX_THREAD_RUNNABLE);
}

static void a_thread_woken_before_its_switch_stays_running(void **state)
{
	(void)state;
	ktrace_thread_block(QUEUE, "pipe", KTRX_WAIT_EVENT, 0);
	ktrace_thread_wake(7);
	ktrace_thread_switch(7, 7);
	assert_int_equal(entry_of(7)->state, KTRX_THREAD_RUNNING);
	assert_int_equal(ktrace_state.cpu[0].switches, 0);
}

/* The thread runs on, and is switched out later. It has been runnable since that switch. */
static void a_thread_woken_before_its_switch_is_runnable_since_the_switch(void **state)
{
	(void)state;
	ktrace_thread_switch(3, 7);
	ktrace_thread_block(QUEUE, "pipe", KTRX_WAIT_EVENT, 0);
	ktrace_thread_wake(7);
	fake.clock += 1000;
	ktrace_switch(7, 3, 0);
	assert_int_equal(entry_of(7)->state, KTRX_THREAD_RUNNABLE);
	assert_int_equal(entry_of(7)->cause, KTRX_CAUSE_WAKE);
	assert_int_equal(entry_of(7)->state_stamp, ktrace_state.cpu[0].switch_stamp);
}

/*
 * A timer that fires late wakes the thread while it runs. After that, the thread waits for a lock, and reports
 * its sleep only by the state of the switch.
 */
static void a_wakeup_before_a_wait_for_a_lock_does_not_end_the_wait(void **state)
{
	uint64_t waits;

	(void)state;
	ktrace_thread_switch(3, 7);
	ktrace_thread_wake(7);
	fake.clock += 1000;
	ktrace_lock_wait_at(MUTEX, "inode", KTRACE_BY_THREAD, 4, 0x99);
	waits = entry_of(7)->wait_stamp;
	assert_int_equal(entry_of(7)->state, KTRX_THREAD_RUNNING);
	assert_true(entry_of(7)->state_stamp <= waits);
	assert_int_equal(entry_of(7)->cause, KTRX_CAUSE_UNKNOWN);
	fake.clock += 1000;
	ktrace_switch(7, 3, 1);
	assert_int_equal(entry_of(7)->state, KTRX_THREAD_WAITING);
	assert_int_equal(entry_of(7)->wait, KTRX_WAIT_LOCK);
	assert_int_equal(entry_of(7)->wait_stamp, waits);
	assert_int_equal(entry_of(7)->owner, 5);
}

/* The thread is woken after its wait for the lock began, and before it leaves the CPU. */
static void a_wakeup_during_a_wait_for_a_lock_makes_the_thread_runnable(void **state)
{
	(void)state;
	ktrace_thread_switch(3, 7);
	ktrace_lock_wait_at(MUTEX, "inode", KTRACE_BY_THREAD, 4, 0x99);
	ktrace_thread_wake(7);
	fake.clock += 1000;
	ktrace_switch(7, 3, 1);
	assert_int_equal(entry_of(7)->state, KTRX_THREAD_RUNNABLE);
	assert_int_equal(entry_of(7)->cause, KTRX_CAUSE_WAKE);
	assert_true(entry_of(7)->state_stamp > entry_of(7)->wait_stamp);
}

/* State 4 of a switch: the thread has ended. Its end may be reported later, or not at all. */
static void a_thread_that_leaves_as_ended_is_not_runnable(void **state)
{
	(void)state;
	ktrace_thread_switch(3, 7);
	ktrace_switch(7, 3, 4);
	assert_int_equal(entry_of(7)->state, KTRX_THREAD_UNKNOWN);
	assert_int_equal(entry_of(7)->state_stamp, ktrace_state.cpu[0].switch_stamp);
	ktrace_thread_switch(3, 7);
	ktrace_thread_wake(7); /* it runs: the wakeup has no effect in the kernel */
	ktrace_switch(7, 3, 4);
	assert_int_equal(entry_of(7)->state, KTRX_THREAD_UNKNOWN);
	/* the entry that a new thread gets does not look like that of a thread that has ended */
	ktrace_thread_exit(7);
	ktrace_thread_stack(7, (void *)0x1000, (void *)0x2000);
	assert_int_equal(entry_of(7)->state, KTRX_THREAD_UNKNOWN);
	assert_int_equal(entry_of(7)->state_stamp, 0);
}

static void a_wakeup_by_an_interrupt_has_no_waker(void **state)
{
	(void)state;
	fake.thread = 5 | KTRX_CONTEXT_INTERRUPT << KTRX_W1_CONTEXT_SHIFT;
	ktrace_thread_wake(7);
	assert_int_equal(entry_of(7)->waker, 0);
	assert_int_equal(entry_of(7)->wakes, 1);
}

/* The port does not add the context to the thread's id, but the kernel reports its interrupts. */
static void a_wakeup_by_a_handler_has_no_waker(void **state)
{
	(void)state;
	ktrace_irq_enter(3);
	wait_and_wake(QUEUE, KTRX_WAIT_EVENT, 0, 1000, 9);
	assert_int_equal(entry_of(7)->waker, 0);
	assert_int_equal(entry_of(7)->habit_waker, 0);
	ktrace_irq_exit(3);
	wait_and_wake(QUEUE, KTRX_WAIT_EVENT, 0, 1000, 9);
	assert_int_equal(entry_of(7)->waker, 10);
	assert_int_equal(entry_of(7)->habit_waker, 10);
}

static void a_wait_for_a_lock_lasts_until_it_is_taken(void **state)
{
	(void)state;
	ktrace_lock_wait_at(MUTEX, "inode", KTRACE_BY_THREAD, 4, 0x99);
	for (unsigned n = 0; n < 2; n++) {
		ktrace_thread_block(QUEUE, "queue", KTRX_WAIT_EVENT, 0);
		ktrace_thread_wake(7);
		ktrace_thread_switch(8, 7);
		assert_int_equal(entry_of(7)->wait, KTRX_WAIT_LOCK);
		assert_int_equal(entry_of(7)->object, (uintptr_t)MUTEX);
		assert_int_equal(entry_of(7)->owner, 5);
		assert_int_equal(entry_of(7)->wait_pc, 0x99);
		assert_string_equal((const char *)entry_of(7)->object_name, "inode");
	}
	ktrace_lock_acquire_at(MUTEX, KTRACE_BY_THREAD, 0x9a);
	assert_int_equal(entry_of(7)->wait, KTRX_WAIT_NONE);
	assert_int_equal(entry_of(7)->held[0].object, (uintptr_t)MUTEX);
	assert_int_equal(entry_of(7)->held[0].pc, 0x9a);
	ktrace_thread_switch(7, 8); /* not a violation */
	assert_int_equal(ktrace_state.cpu[0].broken, KTRX_BROKEN_NOTHING);
}

/* For example, a timer interrupt occurs while thread 7 spins, and the handler takes the lock of the timer. */
static void a_lock_taken_in_an_interrupt_does_not_end_the_threads_wait(void **state)
{
	(void)state;
	ktrace_lock_wait_at(MUTEX, "inode", KTRACE_BY_THREAD, 4, 0x99);
	fake.thread = 7 | KTRX_CONTEXT_INTERRUPT << KTRX_W1_CONTEXT_SHIFT;
	ktrace_lock_acquire_at(QUEUE, KTRACE_BY_THREAD, 0x9a);
	ktrace_lock_release_at(QUEUE, KTRACE_BY_THREAD, 0x9b);
	assert_int_equal(entry_of(7)->wait, KTRX_WAIT_LOCK);
	fake.thread = 7;
	/* from here on, the port behaves as if it did not report the interrupt context */
	ktrace_irq_enter(33);
	ktrace_lock_acquire_at(QUEUE, KTRACE_BY_THREAD, 0x9a);
	ktrace_lock_release_at(QUEUE, KTRACE_BY_THREAD, 0x9b);
	ktrace_irq_exit(33);
	assert_int_equal(entry_of(7)->wait, KTRX_WAIT_LOCK);
	assert_int_equal(entry_of(7)->object, (uintptr_t)MUTEX);
	ktrace_lock_acquire_at(MUTEX, KTRACE_BY_THREAD, 0x9c);
	assert_int_equal(entry_of(7)->wait, KTRX_WAIT_NONE);
}

static void a_wait_reported_at_each_try_is_one_wait(void **state)
{
	uint64_t first;

	(void)state;
	ktrace_thread_switch(3, 7);
	ktrace_lock_wait_at(MUTEX, "inode", KTRACE_BY_THREAD, 4, 0x99);
	first = entry_of(7)->wait_stamp;
	assert_int_not_equal(first, 0);
	for (unsigned n = 0; n < 3; n++) {
		fake.clock += 1000;
		ktrace_thread_switch(7, 8);
		assert_int_equal(entry_of(7)->state, KTRX_THREAD_RUNNABLE);
		assert_int_equal(entry_of(7)->wait, KTRX_WAIT_LOCK);
		ktrace_thread_switch(8, 7);
		ktrace_lock_wait_at(MUTEX, "inode", KTRACE_BY_THREAD, 5, 0x99);
		assert_int_equal(entry_of(7)->wait_stamp, first);
		assert_int_equal(entry_of(7)->owner, 6);
	}
	/* waiting for another lock is a new wait */
	ktrace_lock_wait_at(QUEUE, "journal", KTRACE_BY_THREAD, 5, 0x9a);
	assert_int_equal(entry_of(7)->object, (uintptr_t)QUEUE);
	assert_true(entry_of(7)->wait_stamp > first);
	first = entry_of(7)->wait_stamp;
	ktrace_lock_acquire_at(QUEUE, KTRACE_BY_THREAD, 0x9a);
	fake.clock += 1000;
	ktrace_lock_release_at(QUEUE, KTRACE_BY_THREAD, 0x9b);
	/* also a new wait, because the thread held the lock between the two waits */
	ktrace_lock_wait_at(QUEUE, "journal", KTRACE_BY_THREAD, 5, 0x9a);
	assert_true(entry_of(7)->wait_stamp > first);
}

static void all_locks_are_known_of_a_thread_known_from_its_start(void **state)
{
	(void)state;
	/* thread 7 reports its own stack, so it may hold locks that are not recorded */
	ktrace_thread_stack(7, (void *)0x1000, (void *)0x2000);
	assert_int_equal(entry_of(7)->whole, 0);
	ktrace_thread_stack(8, (void *)0x1000, (void *)0x2000);
	assert_int_equal(entry_of(8)->whole, 1);
	assert_int_equal(entry_of(8)->stack_low, 0x1000);
	assert_int_equal(entry_of(8)->stack_high, 0x2000);
	ktrace_lock_release(MUTEX, KTRACE_BY_THREAD);
	assert_int_equal(ktrace_state.cpu[0].broken, KTRX_BROKEN_NOTHING);
	fake.thread = 8;
	ktrace_lock_release(MUTEX, KTRACE_BY_THREAD);
	assert_int_equal(ktrace_state.cpu[0].broken, KTRX_BROKEN_RELEASE);
	ktrace_thread_priority(8, 31);
	assert_int_equal(entry_of(8)->priority, 31);
}

/*
 * The cause in the entry is the thread's first wakeup, a later wakeup, or a switch from this thread to
 * another one.
 */
static void an_entry_has_the_cause_why_a_thread_is_runnable(void **state)
{
	(void)state;
	ktrace_thread_wake(7);
	assert_int_equal(entry_of(7)->cause, KTRX_CAUSE_START);
	ktrace_thread_wake(7);
	assert_int_equal(entry_of(7)->cause, KTRX_CAUSE_START);
	ktrace_thread_switch(3, 7);
	assert_int_equal(entry_of(7)->cause, KTRX_CAUSE_UNKNOWN);
	ktrace_thread_switch(7, 3);
	assert_int_equal(entry_of(7)->cause, KTRX_CAUSE_SWITCH);
	ktrace_thread_switch(3, 7);
	ktrace_thread_block(QUEUE, "pipe", KTRX_WAIT_EVENT, 0);
	ktrace_thread_switch(7, 3);
	assert_int_equal(entry_of(7)->cause, KTRX_CAUSE_UNKNOWN);
	ktrace_thread_wake(7);
	assert_int_equal(entry_of(7)->cause, KTRX_CAUSE_WAKE);
}

static void a_thread_that_ended_before_its_last_switch_has_no_entry(void **state)
{
	(void)state;
	ktrace_thread_switch(3, 7);
	fake.thread = 7;
	ktrace_thread_exit(8);
	assert_int_equal(ktrace_state.cpu[0].hooks & KTRX_HOOK_EXIT, 0);
	ktrace_thread_exit(7);
	assert_int_equal(ktrace_state.cpu[0].hooks & KTRX_HOOK_EXIT, KTRX_HOOK_EXIT);
	ktrace_thread_switch(7, 3);
	assert_null(ktrace_holder_find(7));
	ktrace_thread_exit(7);
	assert_null(ktrace_holder_find(7));
}

/*
 * Ids of threads are cut to 22 bits, as in records. The result is never the id that marks an empty entry, or
 * the id of a CPU.
 */
static void thread_numbers_have_the_bits_of_records(void **state)
{
	(void)state;
	ktrace_thread_wake(UINT32_MAX);
	ktrace_thread_wake(KTRX_HOLDER_CPU - 1);
	assert_int_equal(entries_of(UINT32_MAX), FAKE_HOLDERS - 1);
	assert_int_equal(entry_of(KTRX_THREAD_MAX)->wakes, 2);
	ktrace_thread_switch(7, UINT32_MAX);
	assert_int_equal(ktrace_state.cpu[0].thread, KTRX_THREAD_MAX);
	ktrace_lock_wait(MUTEX, "mutex", KTRACE_BY_THREAD, KTRX_HOLDER_CPU | 5);
	assert_int_equal(entry_of(7)->owner, 6);
	ktrace_thread_exit(UINT32_MAX);
	assert_null(ktrace_holder_find(KTRX_THREAD_MAX));
	ktrace_thread_exit(7);
	/* cut to 22 bits, the id is 7, the current thread, so the thread reports its own stack */
	ktrace_thread_stack(UINT32_MAX << 22 | 7, NULL, NULL);
	assert_int_equal(entry_of(7)->whole, 0);
}

/*
 * A thread takes more locks than its entry can count. It is no violation to release locks that were not
 * counted.
 */
static void counting_very_many_locks_saturates(void **state)
{
	(void)state;
	ktrace_thread_stack(8, NULL, NULL);
	fake.thread = 8;
	for (uintptr_t lock = 1; lock <= 300; lock++)
		ktrace_lock_acquire((void *)lock, KTRACE_BY_THREAD);
	for (uintptr_t lock = 300; lock > 0; lock--)
		ktrace_lock_release((void *)lock, KTRACE_BY_THREAD);
	assert_int_equal(entry_of(8)->held_count, 0);
	assert_int_equal(ktrace_state.cpu[0].broken, KTRX_BROKEN_NOTHING);
}

/*
 * A port may find the running thread through the number of the CPU. If the thread moves to another CPU
 * between these two steps, the result is another thread.
 */
static void the_thread_is_only_read_while_it_is_pinned(void **state)
{
	(void)state;
	fake.unpinned_reads = 0;
	ktrace_lock_wait_at(MUTEX, "", KTRACE_BY_THREAD, 8, 0x88);
	ktrace_thread_block_at(QUEUE, NULL, KTRX_WAIT_EVENT, 0, 0x88);
	ktrace_thread_wake(7);
	ktrace_lock_acquire_at(MUTEX, KTRACE_BY_THREAD, 0x88);
	ktrace_lock_release_at(MUTEX, KTRACE_BY_THREAD, 0x88);
	ktrace_lock_give_up(KTRACE_BY_THREAD);
	ktrace_thread_stack(9, (const void *)0x1000, (const void *)0x2000);
	ktrace_thread_exit(7);
	assert_int_equal(fake.unpinned_reads, 0);
	assert_int_equal(fake.pins, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_switch_to_another_thread_ends_idling, boot),
		cmocka_unit_test_setup(a_thread_sleeps_and_is_woken, boot),
		cmocka_unit_test_setup(the_thread_is_only_read_while_it_is_pinned, boot),
		cmocka_unit_test_setup(an_entry_counts_waits_for_one_object, boot),
		cmocka_unit_test_setup(timeouts_are_no_habit, boot),
		cmocka_unit_test_setup(waits_that_end_long_before_their_deadline_are_a_habit, boot),
		cmocka_unit_test_setup(another_object_begins_another_habit, boot),
		cmocka_unit_test_setup(a_clock_that_is_late_makes_no_long_wait, boot),
		cmocka_unit_test_setup(a_thread_woken_before_its_switch_stays_running, boot),
		cmocka_unit_test_setup(a_thread_woken_before_its_switch_is_runnable_since_the_switch, boot),
		cmocka_unit_test_setup(a_wakeup_before_a_wait_for_a_lock_does_not_end_the_wait, boot),
		cmocka_unit_test_setup(a_wakeup_during_a_wait_for_a_lock_makes_the_thread_runnable, boot),
		cmocka_unit_test_setup(a_thread_that_leaves_as_ended_is_not_runnable, boot),
		cmocka_unit_test_setup(a_wakeup_by_an_interrupt_has_no_waker, boot),
		cmocka_unit_test_setup(a_wakeup_by_a_handler_has_no_waker, boot),
		cmocka_unit_test_setup(a_wait_for_a_lock_lasts_until_it_is_taken, boot),
		cmocka_unit_test_setup(a_lock_taken_in_an_interrupt_does_not_end_the_threads_wait, boot),
		cmocka_unit_test_setup(a_wait_reported_at_each_try_is_one_wait, boot),
		cmocka_unit_test_setup(all_locks_are_known_of_a_thread_known_from_its_start, boot),
		cmocka_unit_test_setup(an_entry_has_the_cause_why_a_thread_is_runnable, boot),
		cmocka_unit_test_setup(a_thread_that_ended_before_its_last_switch_has_no_entry, boot),
		cmocka_unit_test_setup(thread_numbers_have_the_bits_of_records, boot),
		cmocka_unit_test_setup(counting_very_many_locks_saturates, boot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
