/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests findings about waits that are deadlocks or priority inversions, and similar waits that are neither.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "unit/support/script.h"
#include "unit/support/why_support.h"

#define A 0x1000u
#define B 0x2000u

enum { OTHER = 1, CONTEND, ACQUIRE, RELEASE };

static void declare_locks(void)
{
	script_type(ACQUIRE, "lock", "acquire", "pointer lock");
	script_type(RELEASE, "lock", "release", "pointer lock");
}

static void end_at(uint64_t stamp)
{
	script_type(OTHER, "mine", "other", "");
	script_event(OTHER, 1, 0, 0);
	script_event(OTHER, stamp, 0, 0);
}

static void crossed_mutexes_deadlock(void **state)
{
	struct ktrx_holder *one = why_thread_row(5, "five", KTRX_THREAD_WAITING, 0);
	struct ktrx_holder *two = why_thread_row(6, "six", KTRX_THREAD_WAITING, 1);

	(void)state;
	why_cpu_row(0, KTRX_MODE_IDLE);
	why_holds(one, A, 10 * MS);
	why_waits(one, KTRX_WAIT_LOCK, B, "bee", 20 * MS);
	why_holds(two, B, 11 * MS);
	why_waits(two, KTRX_WAIT_LOCK, A, "aye", 21 * MS);
	end_at(2021 * MS);
	assert_int_equal(why_judge()->verdict, WHY_DEADLOCK);
	assert_int_equal(why_judge()->base.certain, FINDING_CERTAIN);
	assert_int_equal(why_count(WHY_DEADLOCK), 1);
	assert_int_equal(why_judge()->actors, 2);
	/* the hook recorded a return address, which is not exact */
	assert_false(why_judge()->actor[0].exact);
	why_says("thread 5 (five)");
	why_says("thread 6 (six)");
	why_says("bee (0x2000)");
	why_says("aye (0x1000)");
	why_says("2.00 s");
}

/*
 * Adds threads with ids from 5 on. Each thread holds a lock, and waits for the lock of the next thread; the
 * last one waits for that of the first.
 */
static void ring_of(uint32_t count, uint64_t since)
{
	for (uint32_t n = 0; n < count; n++) {
		struct ktrx_holder *one = why_thread_row(5 + n, "ring", KTRX_THREAD_WAITING, 0);

		why_holds(one, A + 0x100 * n, 1 * MS);
		why_waits(one, KTRX_WAIT_LOCK, A + 0x100 * ((n + 1) % count), "link", since);
	}
}

static void long_cycle_is_one_deadlock(void **state)
{
	(void)state;
	why_cpu_row(0, KTRX_MODE_IDLE);
	ring_of(20, 20 * MS);
	end_at(1020 * MS);
	assert_int_equal(why_judge()->verdict, WHY_DEADLOCK);
	assert_int_equal(why_count(WHY_DEADLOCK), 1);
	assert_int_equal(why_judge()->actors, WHY_ACTORS);
	why_says("and 18 others have waited");
}

static void new_cycle_is_only_possible(void **state)
{
	(void)state;
	why_cpu_row(0, KTRX_MODE_IDLE);
	ring_of(2, 1015 * MS);
	end_at(1020 * MS);
	assert_int_equal(why_count(WHY_DEADLOCK), 1);
	assert_int_not_equal(why_judge()->verdict, WHY_DEADLOCK);
}

/*
 * The machine was halted, so all tables show the same point in time. So a thread holds a lock only if its
 * table row names the lock.
 */
static void new_cycle_is_certain_on_halted_machine(void **state)
{
	(void)state;
	script_info()->registers = "cpu 0 pc=1000\n";
	why_cpu_row(0, KTRX_MODE_IDLE);
	ring_of(2, 1020 * MS);
	end_at(1020 * MS);
	assert_int_equal(why_judge()->verdict, WHY_DEADLOCK);
	assert_int_equal(why_judge()->base.certain, FINDING_CERTAIN);
}

/* The machine was silent for a while after the newest timestamp, and this time counts as part of the wait. */
static void silence_adds_to_length_of_wait(void **state)
{
	(void)state;
	script_info()->note = "captured by: ktrace extract\nsilent: 1.5 s or more\n";
	why_cpu_row(0, KTRX_MODE_IDLE);
	ring_of(2, 1020 * MS);
	end_at(1020 * MS);
	assert_int_equal(why_judge()->verdict, WHY_DEADLOCK);
	why_says("have waited 1.50 s for each other");
	why_says("it may have been stopped for longer");
}

/* The thread that owned the lock when the wait began may have released it since then. */
static void new_cycle_by_old_owner_is_only_possible(void **state)
{
	struct ktrx_holder *one = why_thread_row(5, "five", KTRX_THREAD_WAITING, 0);

	(void)state;
	script_info()->registers = "cpu 0 pc=1000\n";
	why_cpu_row(0, KTRX_MODE_IDLE);
	why_waits(one, KTRX_WAIT_LOCK, A, "aye", 1015 * MS);
	one->owner = 5 + 1;
	end_at(1020 * MS);
	assert_int_equal(why_count(WHY_SELF_DEADLOCK), 1);
	assert_int_not_equal(why_judge()->verdict, WHY_SELF_DEADLOCK);
}

static void wait_with_timeout_is_no_deadlock(void **state)
{
	struct ktrx_holder *one = why_thread_row(5, "five", KTRX_THREAD_WAITING, 0);
	struct ktrx_holder *two = why_thread_row(6, "six", KTRX_THREAD_WAITING, 0);

	(void)state;
	why_cpu_row(0, KTRX_MODE_IDLE);
	why_holds(one, A, 10 * MS);
	why_waits(one, KTRX_WAIT_LOCK, B, "bee", 20 * MS);
	one->deadline = 3000 * MS;
	why_holds(two, B, 11 * MS);
	why_waits(two, KTRX_WAIT_LOCK, A, "aye", 21 * MS);
	end_at(1020 * MS);
	assert_int_equal(why_count(WHY_DEADLOCK), 0);
}

static void wait_for_running_holder_is_no_deadlock(void **state)
{
	struct ktrx_holder *one = why_thread_row(5, "five", KTRX_THREAD_WAITING, 0);

	(void)state;
	why_cpu_row(0, KTRX_MODE_KERNEL);
	why_holds(why_thread_row(6, "six", KTRX_THREAD_RUNNING, 0), B, 10 * MS);
	why_waits(one, KTRX_WAIT_LOCK, B, "bee", 20 * MS);
	end_at(1020 * MS);
	assert_int_equal(why_count(WHY_DEADLOCK), 0);
	assert_int_equal(why_count(WHY_SELF_DEADLOCK), 0);
}

static void threads_that_join_each_other_deadlock(void **state)
{
	(void)state;
	why_cpu_row(0, KTRX_MODE_IDLE);
	why_waits(why_thread_row(5, "five", KTRX_THREAD_WAITING, 0), KTRX_WAIT_THREAD, 6, "", 20 * MS);
	why_waits(why_thread_row(6, "six", KTRX_THREAD_WAITING, 0), KTRX_WAIT_THREAD, 5, "", 20 * MS);
	end_at(1020 * MS);
	assert_int_equal(why_judge()->verdict, WHY_DEADLOCK);
	why_says("for the end of thread 6 (six)");
}

/* The waiters of two mutexes yield and try again: one waiter is running, the other is runnable. */
static void two_that_yield(uint8_t one, uint8_t two)
{
	struct ktrx_holder *five = why_thread_row(5, "five", one, 0);
	struct ktrx_holder *six = why_thread_row(6, "six", two, 0);

	why_cpu_row(0, KTRX_MODE_KERNEL);
	why_holds(five, A, 10 * MS);
	why_waits(five, KTRX_WAIT_LOCK, B, "bee", 20 * MS);
	why_holds(six, B, 11 * MS);
	why_waits(six, KTRX_WAIT_LOCK, A, "aye", 21 * MS);
	end_at(19021 * MS);
}

static void yielding_waiters_deadlock(void **state)
{
	(void)state;
	two_that_yield(KTRX_THREAD_RUNNING, KTRX_THREAD_RUNNABLE);
	assert_int_equal(why_judge()->verdict, WHY_DEADLOCK);
	assert_int_equal(why_judge()->base.certain, FINDING_CERTAIN);
	assert_int_equal(why_count(WHY_DEADLOCK), 1);
	assert_int_equal(why_judge()->actors, 2);
	why_says("thread 5 (five) has spun 19.00 s for lock bee (0x2000)");
	why_says("thread 6 (six) is runnable (retrying or just woken) and has waited 19.00 s "
		 "for lock aye (0x1000)");
	why_says("        has waited 19.00 s for lock aye (0x1000)");
}

static void runnable_waiters_deadlock(void **state)
{
	(void)state;
	two_that_yield(KTRX_THREAD_RUNNABLE, KTRX_THREAD_RUNNABLE);
	assert_int_equal(why_judge()->verdict, WHY_DEADLOCK);
	assert_int_equal(why_judge()->base.certain, FINDING_CERTAIN);
}

/*
 * The thread that held the lock when the wait began has released it: the table row of this thread no longer
 * names the lock.
 */
static void runnable_waiter_ignores_earlier_holder(void **state)
{
	struct ktrx_holder *five = why_thread_row(5, "five", KTRX_THREAD_RUNNABLE, 0);
	struct ktrx_holder *six = why_thread_row(6, "six", KTRX_THREAD_WAITING, 0);

	(void)state;
	why_cpu_row(0, KTRX_MODE_KERNEL);
	why_holds(five, A, 10 * MS);
	why_waits(five, KTRX_WAIT_LOCK, B, "bee", 20 * MS);
	five->owner = 7;
	why_waits(six, KTRX_WAIT_LOCK, A, "aye", 21 * MS);
	end_at(2021 * MS);
	assert_int_equal(why_count(WHY_DEADLOCK), 0);
}

/*
 * Interrupts are disabled only for a thread switch: the waiter yields, so other threads can run on the CPU.
 */
static void disabled_interrupts_of_switch_do_not_keep_cpu(void **state)
{
	struct ktrx_holder *five = why_thread_row(5, "five", KTRX_THREAD_RUNNING, 0);
	struct ktrx_holder *six = why_thread_row(6, "six", KTRX_THREAD_RUNNABLE, 0);

	(void)state;
	why_cpu_row(0, KTRX_MODE_KERNEL);
	script_cpu(0)->interrupts = KTRX_INTERRUPTS_OFF;
	script_cpu(0)->interrupts_stamp = 2021 * MS;
	five->state_stamp = 2020 * MS;
	why_waits(five, KTRX_WAIT_LOCK, B, "bee", 20 * MS);
	why_holds(six, B, 11 * MS);
	six->state_stamp = 1000 * MS;
	end_at(2021 * MS);
	assert_int_equal(why_count(WHY_DEADLOCK), 0);
}

static void waiter_that_cannot_be_preempted_deadlocks(void **state)
{
	struct ktrx_holder *five = why_thread_row(5, "five", KTRX_THREAD_RUNNING, 0);
	struct ktrx_holder *six = why_thread_row(6, "six", KTRX_THREAD_RUNNABLE, 0);

	(void)state;
	why_cpu_row(0, KTRX_MODE_KERNEL);
	script_cpu(0)->preempt = 1;
	five->state_stamp = 20 * MS;
	why_waits(five, KTRX_WAIT_LOCK, B, "bee", 20 * MS);
	why_holds(six, B, 11 * MS);
	six->state_stamp = 20 * MS;
	end_at(2021 * MS);
	assert_int_equal(why_judge()->verdict, WHY_DEADLOCK);
	assert_int_equal(why_judge()->base.certain, FINDING_CERTAIN);
}

static void wait_for_own_lock_is_self_deadlock(void **state)
{
	struct ktrx_holder *one = why_thread_row(5, "five", KTRX_THREAD_WAITING, 0);

	(void)state;
	why_cpu_row(0, KTRX_MODE_IDLE);
	why_holds(one, A, 10 * MS);
	why_waits(one, KTRX_WAIT_LOCK, A, "aye", 20 * MS);
	end_at(1020 * MS);
	assert_int_equal(why_judge()->verdict, WHY_SELF_DEADLOCK);
	why_says("thread 5 (five) has waited 1.00 s for lock aye (0x1000), which it already holds");
}

/* If a lock has no name, the event's field `name` is "(null)". This does not count as a name. */
static void lock_without_name_has_address(void **state)
{
	struct ktrx_holder *one = why_thread_row(5, "five", KTRX_THREAD_WAITING, 0);

	(void)state;
	script_type(CONTEND, "lock", "contend", "pointer lock,string name");
	script_event(CONTEND, 20 * MS, 0, 5, (uint64_t)A, "(null)");
	why_cpu_row(0, KTRX_MODE_IDLE);
	why_holds(one, A, 10 * MS);
	why_waits(one, KTRX_WAIT_LOCK, A, "", 20 * MS);
	end_at(1020 * MS);
	assert_int_equal(why_judge()->verdict, WHY_SELF_DEADLOCK);
	why_says("thread 5 (five) has waited 1.00 s for lock 0x1000, which it already holds");
}

/* An interrupt handler waits for a spinlock that the interrupted thread holds. */
static void handler_that_waits_for_interrupted_lock_deadlocks(void **state)
{
	struct ktrx_holder *cpu = why_cpu_row(0, KTRX_MODE_KERNEL);

	(void)state;
	script_cpu(0)->nesting = 1;
	script_cpu(0)->irq = 44;
	why_holds(why_thread_row(5, "five", KTRX_THREAD_RUNNING, 0), A, 10 * MS);
	why_waits(cpu, KTRX_WAIT_SPIN, A, "aye", 20 * MS);
	end_at(1020 * MS);
	assert_int_equal(why_judge()->verdict, WHY_SELF_DEADLOCK);
	why_says("in the handler of interrupt 44");
}

/* CPU 0 holds a lock and waits for an IPI answer of CPU 1, which spins for the lock. */
static void cpus_over_an_answer_until(uint64_t end, uint8_t interrupts, uint64_t answered)
{
	struct ktrx_holder *asker = why_cpu_row(0, KTRX_MODE_KERNEL),
			   *asked = why_cpu_row(1, KTRX_MODE_KERNEL);

	script_cpu(0)->ipi_cpu = 2;
	script_cpu(0)->ipi_stamp = 20 * MS;
	script_cpu(1)->interrupts = interrupts;
	script_cpu(1)->ipi_answered = answered;
	why_holds(asker, A, 10 * MS);
	why_waits(asked, KTRX_WAIT_SPIN, A, "aye", 19 * MS);
	end_at(end);
}

static void cpus_over_an_answer(uint8_t interrupts, uint64_t answered)
{
	cpus_over_an_answer_until(1020 * MS, interrupts, answered);
}

static void short_wait_for_answer_is_only_possible(void **state)
{
	(void)state;
	cpus_over_an_answer_until(220 * MS, KTRX_INTERRUPTS_OFF, 5 * MS);
	assert_int_equal(why_judge()->base.certain, FINDING_POSSIBLE);
}

static void short_wait_for_answer_beside_work_is_healthy(void **state)
{
	(void)state;
	why_cpu_row(2, KTRX_MODE_KERNEL);
	cpus_over_an_answer_until(220 * MS, KTRX_INTERRUPTS_OFF, 5 * MS);
	assert_int_equal(why_count(WHY_DEADLOCK), 0);
}

/* All CPUs wait, but the host saw the machine make progress until the capture. */
static void short_wait_for_answer_of_live_machine_is_healthy(void **state)
{
	(void)state;
	script_info()->note = "silent: 0.0 s\n";
	cpus_over_an_answer_until(220 * MS, KTRX_INTERRUPTS_OFF, 5 * MS);
	assert_int_equal(why_count(WHY_DEADLOCK), 0);
}

static void missing_answer_of_waiting_cpu_is_deadlock(void **state)
{
	(void)state;
	cpus_over_an_answer(KTRX_INTERRUPTS_OFF, 5 * MS);
	assert_int_equal(why_judge()->verdict, WHY_DEADLOCK);
	why_says("interrupts are disabled there");
}

static void missing_answer_of_waiting_handler_is_deadlock(void **state)
{
	(void)state;
	script_cpu(1)->nesting = 1;
	script_cpu(1)->irq_stamp = 15 * MS;
	cpus_over_an_answer(KTRX_INTERRUPTS_UNKNOWN, 5 * MS);
	assert_int_equal(why_judge()->verdict, WHY_DEADLOCK);
	why_says("has not answered the IPI: that CPU runs an interrupt handler");
	assert_null(strstr(why_text(), "interrupts are disabled there"));
}

/* The handler may have enabled interrupts, so a nested interrupt could answer. */
static void missing_answer_of_handler_with_interrupts_enabled_is_likely(void **state)
{
	(void)state;
	script_cpu(1)->nesting = 1;
	script_cpu(1)->irq_stamp = 15 * MS;
	cpus_over_an_answer(KTRX_INTERRUPTS_ON, 5 * MS);
	assert_int_equal(why_judge()->verdict, WHY_DEADLOCK);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
	why_says("interrupts were last recorded as enabled");
}

static void answer_with_interrupts_enabled_is_no_deadlock(void **state)
{
	(void)state;
	cpus_over_an_answer(KTRX_INTERRUPTS_ON, 5 * MS);
	assert_int_equal(why_count(WHY_DEADLOCK), 0);
}

static void given_answer_is_no_deadlock(void **state)
{
	(void)state;
	cpus_over_an_answer(KTRX_INTERRUPTS_OFF, 25 * MS);
	assert_int_equal(why_count(WHY_DEADLOCK), 0);
}

/* Adds only events, no table rows: each of two threads holds a lock and waits for the lock of the other. */
static void cross_by_events(void)
{
	script_type(CONTEND, "lock", "contend", "pointer lock,string name");
	declare_locks();
	script_event(ACQUIRE, 10 * MS, 0, 5, (uint64_t)A);
	script_event(ACQUIRE, 11 * MS, 1, 6, (uint64_t)B);
	script_event(CONTEND, 20 * MS, 0, 5, (uint64_t)B, "bee");
	script_event(CONTEND, 21 * MS, 1, 6, (uint64_t)A, "aye");
}

static void events_without_hooks_make_deadlock_likely(void **state)
{
	(void)state;
	cross_by_events();
	end_at(1021 * MS);
	assert_int_equal(why_judge()->verdict, WHY_DEADLOCK);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
	assert_false(why_judge()->base.partial);
	why_says("concluded from events");
}

/*
 * The kernel calls the hooks of locks and threads, but they store no state, because ktrace_init() got no
 * memory for the table of holders.
 */
static void hooks_without_table_of_holders_leave_deadlock_to_events(void **state)
{
	(void)state;
	cross_by_events();
	script_cpu(0)->hooks = KTRX_HOOK_LOCK | KTRX_HOOK_THREAD;
	script_cpu(1)->hooks = KTRX_HOOK_LOCK | KTRX_HOOK_THREAD;
	end_at(1021 * MS);
	assert_int_equal(why_judge()->verdict, WHY_DEADLOCK);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
	why_says("set .holders in the configuration of ktrace_init()");
}

static void gap_forgets_held_locks(void **state)
{
	(void)state;
	cross_by_events();
	script_type(OTHER, "mine", "other", "");
	script_event(OTHER, 30 * MS, 2, 0)->lost = 1;
	script_event(OTHER, 1021 * MS, 0, 0);
	assert_int_equal(why_count(WHY_DEADLOCK), 0);
}

/* Thread 7 waits for a lock of thread 5, which is runnable while thread 6 runs. */
static void three_of_priorities(uint8_t holder, uint8_t between, uint8_t urgent, uint64_t since)
{
	struct ktrx_holder *row;

	why_cpu_row(0, KTRX_MODE_KERNEL);
	row = why_thread_row(5, "low", KTRX_THREAD_RUNNABLE, 0);
	row->priority = holder;
	row->state_stamp = since;
	why_holds(row, A, 10 * MS);
	why_thread_row(6, "middle", KTRX_THREAD_RUNNING, 0)->priority = between;
	row = why_thread_row(7, "high", KTRX_THREAD_WAITING, 0);
	row->priority = urgent;
	why_waits(row, KTRX_WAIT_LOCK, A, "aye", since);
	end_at(1020 * MS);
}

static void medium_priority_blocks_holder(void **state)
{
	(void)state;
	three_of_priorities(10, 20, 30, 20 * MS);
	assert_int_equal(why_judge()->verdict, WHY_PRIORITY_INVERSION);
	why_says("thread 6 (middle), priority 20, runs on CPU 0");
}

static void highest_priority_thread_is_no_inversion(void **state)
{
	(void)state;
	three_of_priorities(10, 40, 30, 20 * MS);
	assert_int_equal(why_count(WHY_PRIORITY_INVERSION), 0);
}

static void short_wait_is_no_inversion(void **state)
{
	(void)state;
	three_of_priorities(10, 20, 30, 1010 * MS);
	assert_int_equal(why_count(WHY_PRIORITY_INVERSION), 0);
}

/*
 * Thread 5 waits for lock B, and no table row shows a holder of B. According to an older event, thread 5
 * itself took B, but the table overrules the event.
 */
static void tables_override_events(void **state)
{
	(void)state;
	why_cpu_row(0, KTRX_MODE_IDLE);
	declare_locks();
	script_event(ACQUIRE, 10 * MS, 0, 5, (uint64_t)B);
	why_waits(why_thread_row(5, "five", KTRX_THREAD_WAITING, 0), KTRX_WAIT_LOCK, B, "bee", 20 * MS);
	end_at(1020 * MS);
	assert_int_equal(why_count(WHY_SELF_DEADLOCK), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, why_setup, why_teardown)
	const struct CMUnitTest tests[] = {
		TEST(crossed_mutexes_deadlock),
		TEST(long_cycle_is_one_deadlock),
		TEST(new_cycle_is_only_possible),
		TEST(new_cycle_is_certain_on_halted_machine),
		TEST(silence_adds_to_length_of_wait),
		TEST(new_cycle_by_old_owner_is_only_possible),
		TEST(wait_with_timeout_is_no_deadlock),
		TEST(wait_for_running_holder_is_no_deadlock),
		TEST(threads_that_join_each_other_deadlock),
		TEST(yielding_waiters_deadlock),
		TEST(runnable_waiters_deadlock),
		TEST(runnable_waiter_ignores_earlier_holder),
		TEST(disabled_interrupts_of_switch_do_not_keep_cpu),
		TEST(waiter_that_cannot_be_preempted_deadlocks),
		TEST(wait_for_own_lock_is_self_deadlock),
		TEST(lock_without_name_has_address),
		TEST(handler_that_waits_for_interrupted_lock_deadlocks),
		TEST(short_wait_for_answer_is_only_possible),
		TEST(short_wait_for_answer_beside_work_is_healthy),
		TEST(short_wait_for_answer_of_live_machine_is_healthy),
		TEST(missing_answer_of_waiting_cpu_is_deadlock),
		TEST(missing_answer_of_waiting_handler_is_deadlock),
		TEST(missing_answer_of_handler_with_interrupts_enabled_is_likely),
		TEST(answer_with_interrupts_enabled_is_no_deadlock),
		TEST(given_answer_is_no_deadlock),
		TEST(events_without_hooks_make_deadlock_likely),
		TEST(hooks_without_table_of_holders_leave_deadlock_to_events),
		TEST(gap_forgets_held_locks),
		TEST(medium_priority_blocks_holder),
		TEST(highest_priority_thread_is_no_inversion),
		TEST(short_wait_is_no_inversion),
		TEST(tables_override_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
