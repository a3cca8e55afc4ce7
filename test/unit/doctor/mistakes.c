/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests that mistakes in the calls of hooks are found. Each test trace contains one mistake. Also tests
 * correct traces.
 */
#include "doctor/mistakes_state.h"
#include "unit/doctor/hooks.h"

static void correct_trace_has_no_mistakes(void **state)
{
	(void)state;
	for (unsigned n = 0; n < 8; n++) {
		some_turns(1);
		script_event(IRQ, soon(), 0, 5, V(33))->context = KTRX_CONTEXT_INTERRUPT;
		script_event(IRQ, soon(), 0, 5, V(34))->context = KTRX_CONTEXT_INTERRUPT;
		script_event(IRQ_END, soon(), 0, 5, V(34))->context = KTRX_CONTEXT_INTERRUPT;
		script_event(IRQ_END, soon(), 0, 5, V(33))->context = KTRX_CONTEXT_INTERRUPT;
		lock(CONTEND, 5, 0x10);
		lock(ACQUIRE, 5, 0x10);
		lock(CONTEND, 5, 0x20);
		lock(ACQUIRE, 5, 0x20);
		lock(RELEASE, 5, 0x10);
		lock(RELEASE, 5, 0x20);
		script_event(CREATE, soon(), 0, 5, V(9));
		script_event(EXIT, soon(), 1, 9, V(9));
	}
	only(MISTAKES);
}

/*
 * Each switch goes to a scheduler context, which has thread id 0, and from there to the next thread. All CPUs
 * have an idle thread.
 */
static void idle_threads_may_run_on_several_cpus(void **state)
{
	(void)state;
	for (unsigned n = 0; n < 20; n++) {
		switches(0, 0, 5, 0);
		switches(1, 0, 1, 0);
		switches(0, 5, 0, 1);
		switches(0, 0, 1, 0);
		now += 100 * MS;
		switches(0, 1, 0, 0);
		switches(1, 1, 0, 0);
	}
	only(MISTAKES);
}

/*
 * The clock of CPU 1 shows an earlier time than that of CPU 0. So a thread that moves to CPU 1 seems to start
 * there while it still runs on CPU 0.
 */
static void differing_clocks_are_no_mistake(void **state)
{
	(void)state;
	for (unsigned n = 0; n < 20; n++) {
		switches(0, 1, 5, 1);
		switches(1, 2, 5, 1); /* CPU 1 begins to run thread 5, 2 ms before thread 5 leaves CPU 0 */
		now += MS;
		switches(0, 5, 1, 1); /* CPU 0 switches away from thread 5 */
		switches(1, 5, 2, 1);
	}
	only(MISTAKES);
}

static void thread_id_minus_one_is_found(void **state)
{
	(void)state;
	for (unsigned n = 0; n < 8; n++) {
		switches(0, 5, UINT32_MAX, 1);
		switches(0, UINT32_MAX, 5, 0);
	}
	assert_int_equal(mistakes_read(&mistakes, script_trace()), 0);
	assert_true(mistakes_made(&mistakes, MISTAKE_ID_WIDE));
	/* the thread with id -1 recorded half of the events */
	assert_true(mistakes_made(&mistakes, MISTAKE_ID_ONES));
	assert_int_equal(mistakes.of[MISTAKE_ID_WIDE].value, UINT32_MAX);
	assert_false(mistakes_made(&mistakes, MISTAKE_TWO_CPUS));
}

static void sleep_of_thread_zero_is_found(void **state)
{
	(void)state;
	some_turns(4);
	blocks(0, 0, 0);
	only(MISTAKE_ID_ZERO);
}

static void reused_id_without_exit_is_found(void **state)
{
	(void)state;
	some_turns(4);
	script_event(CREATE, soon(), 0, 5, V(9));
	script_event(CREATE, soon(), 0, 5, V(9));
	only(MISTAKE_ID_REUSED);
}

/* The event of the end of the previous thread with this id may be among the lost slots. */
static void reused_id_after_gap_is_correct(void **state)
{
	(void)state;
	some_turns(4);
	script_event(CREATE, soon(), 0, 5, V(9));
	script_event(CREATE, soon(), 0, 5, V(9))->lost = 3;
	only(MISTAKES);
}

static void swapped_prev_and_next_are_found(void **state)
{
	(void)state;
	for (unsigned n = 0; n < 8; n++) {
		switches(0, 6, 5, 1); /* a mistake: in truth, CPU 0 has switched from 5 to 6 */
		switches(0, 7, 6, 1);
		switches(0, 5, 7, 1);
	}
	only(MISTAKE_SWAPPED);
}

static void switch_without_hook_is_found(void **state)
{
	(void)state;
	for (unsigned n = 0; n < 8; n++) {
		switches(0, 5, 6, 1);
		switches(0, 7, 5, 1); /* the switch from 6 to 7 was not recorded */
	}
	only(MISTAKE_PREVIOUS);
}

static void switches_to_same_thread_are_found(void **state)
{
	(void)state;
	some_turns(4);
	for (unsigned n = 0; n < 8; n++)
		switches(0, 5, 5, 0);
	only(MISTAKE_SAME);
}

static void state_always_zero_is_found(void **state)
{
	(void)state;
	for (unsigned n = 0; n < 10; n++) {
		blocks(0, 5, 5);
		switches(0, 5, 6, 0);
		wakes(0, 6, 5);
		switches(0, 6, 5, 0);
	}
	only(MISTAKE_STATE_ZERO);
}

/* A thread that never sleeps is always runnable when it does not run. */
static void state_zero_of_threads_that_never_sleep_is_correct(void **state)
{
	(void)state;
	for (unsigned n = 0; n < 20; n++) {
		switches(0, 5, 6, 0);
		switches(0, 6, 5, 0);
	}
	only(MISTAKES);
}

/* CPU 1 records with the number of CPU 0, so threads of both CPUs seem to alternate on CPU 0. */
static void two_cpus_with_one_number_are_found(void **state)
{
	(void)state;
	some_turns(2);
	for (unsigned n = 0; n < 20; n++) {
		script_event(CALL, soon(), 0, 5, V(1));
		script_event(CALL, soon(), 0, 9, V(1));
		script_event(RETURN, soon(), 0, 5, V(1));
		script_event(RETURN, soon(), 0, 9, V(1));
	}
	for (unsigned n = 0; n < 4; n++) {
		switches(0, 5, 6, 1);
		switches(0, 9, 8, 1);
		switches(0, 6, 5, 1);
		switches(0, 8, 9, 1);
	}
	only(MISTAKE_CPU_SHARED);
}

/*
 * The kernel records each switch shortly after it has changed current(). So the new thread makes one record
 * before the record of the switch.
 */
static void late_switch_event_is_correct(void **state)
{
	(void)state;
	for (unsigned n = 0; n < 40; n++) {
		script_event(CALL, soon(), 0, 5, V(1));
		script_event(RETURN, soon(), 0, 6, V(1));
		switches(0, 5, 6, 1);
		script_event(CALL, soon(), 0, 6, V(1));
		script_event(RETURN, soon(), 0, 5, V(1));
		switches(0, 6, 5, 1);
	}
	only(MISTAKES);
}

static void wait_left_without_hook_is_found(void **state)
{
	(void)state;
	some_turns(2);
	waits_since(now, 0);
	now += 500 * MS;
	script_event(CALL, soon(), 0, 5, V(1));
	script_event(RETURN, soon(), 0, 5, V(1));
	only(MISTAKE_WAIT_LEFT);
	assert_int_equal(mistakes.of[MISTAKE_WAIT_LEFT].value, 0x2000);
}

/* The waiting thread has made no system call since the wait began, or only one shortly after it. */
static void lasting_wait_is_correct(void **state)
{
	(void)state;
	some_turns(2);
	script_event(CALL, soon(), 0, 5, V(1));
	waits_since(now, 0);
	script_event(RETURN, soon(), 0, 5, V(1));
	now += 500 * MS;
	switches(0, 5, 6, 1);
	only(MISTAKES);
}

static void unknown_holder_named_as_zero_is_found(void **state)
{
	struct ktrx_holder *holder = script_holder(7 + 1);

	(void)state;
	some_turns(2);
	holder->held[0] = (struct ktrx_held){ .object = 0x2000, .stamp = now };
	holder->held_count = 1;
	now += 5 * MS;
	waits_since(now, KTRX_HOLDER_CPU);
	only(MISTAKE_OWNER);
}

/* CPU 0 held the lock when thread 5 began to wait for it. Thread 7 took the lock later. */
static void lock_passed_to_other_thread_is_correct(void **state)
{
	struct ktrx_holder *holder = script_holder(7 + 1);

	(void)state;
	some_turns(2);
	waits_since(now, KTRX_HOLDER_CPU);
	now += 5 * MS;
	holder->held[0] = (struct ktrx_held){ .object = 0x2000, .stamp = now };
	holder->held_count = 1;
	only(MISTAKES);
}

static struct ktrx_holder *row_of_5(void **state)
{
	end(state);
	begin(state);
	some_turns(2);
	return script_holder(5 + 1);
}

static void thread_that_left_unreported_is_found(void **state)
{
	for (uint32_t n = 0; n < 4; n++) {
		*row_of_5(state) =
			(struct ktrx_holder){ .id = 6, .state = KTRX_THREAD_RUNNING, .state_stamp = now };
		script_cpu(0)->thread = n & 1 ? 6 : 5;
		script_cpu(0)->switch_stamp = now + (n & 2 ? 500 : 10) * MS;
		only(n == 3 ? MISTAKE_STILL_RUNS : MISTAKES);
	}
}

/* A program may sleep for years. But if all threads do so, the deadlines have the wrong unit. */
static void deadline_that_is_no_timestamp_is_found(void **state)
{
	static const int64_t ms[] = { -2000, -50, 2592000000, 1L << 42, 1L << 42, 1L << 42 };

	for (size_t n = 0; n < 6; n++) {
		struct ktrx_holder *row = row_of_5(state);

		*row = (struct ktrx_holder){ 6, .state = KTRX_THREAD_WAITING, .wait_stamp = now + 3000 * MS };
		row->deadline = row->wait_stamp + (uint64_t)ms[n] * MS;
		if (n > 3)
			row[1] = *row, row[1].id = script_holder(7)->id;
		row[n == 5].deadline -= n == 5 ? (UINT64_C(1) << 42) * MS : 0;
		only(n == 0 || n == 4 ? MISTAKE_DEADLINE : MISTAKES);
	}
}

static void thread_on_two_cpus_is_found(void **state)
{
	(void)state;
	some_turns(2);
	switches(1, 2, 5, 1);
	now += 50 * MS;
	switches(0, 5, 1, 1);
	switches(1, 5, 2, 1);
	only(MISTAKE_TWO_CPUS);
	assert_int_equal(mistakes.of[MISTAKE_TWO_CPUS].value, 5);
}

/*
 * When CPU 0 switches away from thread 5 for the first time, CPU 1 has only just begun to run it. So this
 * time is not counted.
 */
static void thread_on_two_cpus_repeatedly_is_found(void **state)
{
	(void)state;
	some_turns(2);
	switches(1, 2, 5, 1);
	for (uint32_t turn = 0; turn < 10; turn++) {
		switches(0, 5, 1, 1);
		switches(0, 1, 5, 1);
		now += 50 * MS;
	}
	only(MISTAKE_TWO_CPUS);
	assert_int_equal(mistakes.of[MISTAKE_TWO_CPUS].count, 9);
}

static void block_for_other_thread_is_found(void **state)
{
	(void)state;
	for (unsigned n = 0; n < 8; n++) {
		switches(0, 5, 6, 1);
		blocks(0, 6, 5); /* the hook is called after the switch */
		switches(0, 6, 5, 1);
		blocks(0, 5, 6);
	}
	only(MISTAKE_BLOCK_ELSEWHERE);
}

static void wake_of_running_thread_is_found(void **state)
{
	(void)state;
	switches(0, 6, 5, 1);
	for (unsigned n = 0; n < 8; n++)
		wakes(0, 5, 5);
	only(MISTAKE_WAKE_RUNNING);
}

static void interrupt_without_exit_is_found(void **state)
{
	(void)state;
	some_turns(2);
	for (unsigned n = 0; n < 8; n++)
		script_event(IRQ, soon(), 0, 5, V(33))->context = KTRX_CONTEXT_INTERRUPT;
	only(MISTAKE_IRQ_EXIT);
}

/* The timer's interrupt ends each time. Another interrupt came 20 times, and ended `ends` times. */
static void rare_interrupt_ends(unsigned ends)
{
	some_turns(2);
	for (unsigned n = 0; n < 400; n++) {
		script_event(IRQ, soon(), 0, 5, V(32))->context = KTRX_CONTEXT_INTERRUPT;
		script_event(IRQ_END, soon(), 0, 5, V(32))->context = KTRX_CONTEXT_INTERRUPT;
		if (n % 20)
			continue;
		script_event(IRQ, soon(), 0, 5, V(33))->context = KTRX_CONTEXT_INTERRUPT;
		if (n / 20 < ends)
			script_event(IRQ_END, soon(), 0, 5, V(33))->context = KTRX_CONTEXT_INTERRUPT;
	}
}

static void rare_interrupt_without_exit_is_found(void **state)
{
	(void)state;
	rare_interrupt_ends(0);
	only(MISTAKE_IRQ_EXIT);
}

static void some_ends_of_a_rare_interrupt_may_be_missing(void **state)
{
	(void)state;
	rare_interrupt_ends(15);
	only(MISTAKES);
}

static void interrupt_without_enter_is_found(void **state)
{
	(void)state;
	some_turns(2);
	for (unsigned n = 0; n < 8; n++)
		script_event(IRQ_END, soon(), 0, 5, V(33))->context = KTRX_CONTEXT_INTERRUPT;
	only(MISTAKE_IRQ_ENTER);
}

static void calls_without_returns_are_found(void **state)
{
	(void)state;
	some_turns(2);
	for (unsigned n = 0; n < 20; n++)
		script_event(CALL, soon(), 0, 5, V(n));
	only(MISTAKE_SYSCALL_EXIT);
}

static void free_balances(struct mistakes_reading *r)
{
	for (int mistake = 0; mistake < MISTAKES; mistake++)
		keyed_free(&r->balance[mistake].open);
}

/* Thread 5 uses more locks than a table has room for. Then thread 6 makes a call that never returns. */
static void many_locks_hide_no_calls_without_returns(void **state)
{
	static struct mistakes_reading r = { .mistakes = &mistakes };

	(void)state;
	memset(&mistakes, 0, sizeof(mistakes));
	for (uint64_t which = 0; which < KEYED_MAX + 100; which++) {
		mistakes_balance(&r, MISTAKE_CONTEND, 5, which, false);
		mistakes_balance(&r, MISTAKE_RELEASE, 5, which, false);
		mistakes_balance(&r, MISTAKE_RELEASE, 5, which, true);
	}
	assert_false(mistakes_balance(&r, MISTAKE_SYSCALL_EXIT, 6, 0, true));
	assert_true(mistakes_balance(&r, MISTAKE_SYSCALL_EXIT, 6, 0, true));
	assert_int_equal(mistakes.of[MISTAKE_SYSCALL_EXIT].sure, 1);
	/* all locks were released, so there is room for what another thread releases */
	assert_false(mistakes_balance(&r, MISTAKE_RELEASE, 6, 1, true));
	assert_true(mistakes_balance(&r, MISTAKE_RELEASE, 6, 1, true));
	free_balances(&r);
}

/* The table is full when thread 6 acquires a lock. There is room when it contends the lock later. */
static void end_without_room_makes_no_later_beginning_certain(void **state)
{
	static struct mistakes_reading r = { .mistakes = &mistakes };

	(void)state;
	memset(&mistakes, 0, sizeof(mistakes));
	for (uint64_t which = 0; which < KEYED_MAX; which++)
		mistakes_balance(&r, MISTAKE_CONTEND, 5, which, false);
	for (unsigned n = 0; n < 4; n++)
		mistakes_balance(&r, MISTAKE_CONTEND, 6, 1, false);
	for (uint64_t which = 0; which < KEYED_MAX; which++)
		mistakes_balance(&r, MISTAKE_CONTEND, 5, which, true);
	for (unsigned n = 0; n < 4; n++)
		assert_false(mistakes_balance(&r, MISTAKE_CONTEND, 6, 1, true));
	assert_int_equal(mistakes.of[MISTAKE_CONTEND].sure, 0);
	free_balances(&r);
}

/* If the events of returns are disabled, missing returns are no mistake. */
static void switched_off_returns_are_not_missing(void **state)
{
	(void)state;
	script_switch_off(RETURN);
	script_switch_off(IRQ_END);
	for (unsigned n = 0; n < 20; n++) {
		script_event(CALL, soon(), 0, 5, V(n));
		script_event(IRQ, soon(), 0, 5, V(33))->context = KTRX_CONTEXT_INTERRUPT;
	}
	only(MISTAKES);
}

static void release_by_other_thread_is_found(void **state)
{
	(void)state;
	for (unsigned n = 0; n < 8; n++) {
		lock(ACQUIRE, 5, 0x10);
		lock(RELEASE, 6, 0x10);
	}
	only(MISTAKE_RELEASE);
}

static void contend_without_acquire_is_found(void **state)
{
	(void)state;
	for (unsigned n = 0; n < 8; n++)
		lock(CONTEND, 5, 0x10 * (n % 2 + 1));
	only(MISTAKE_CONTEND);
}

/*
 * Some events were disabled for a while. The events that seem to be missing may have occurred in this
 * time.
 */
static void switched_off_period_resets_state(void **state)
{
	(void)state;
	for (unsigned n = 0; n < 8; n++) {
		script_event(IRQ, soon(), 0, 5, V(33))->context = KTRX_CONTEXT_INTERRUPT;
		script_event(SWITCHED, soon(), 0, 5, V(IRQ_END), V(IRQ_END), V(n % 2));
		switches(0, 5, 6, 1);
		script_event(SWITCHED, soon(), 0, 5, V(IRQ_END), V(IRQ_END), V(n % 2));
		switches(0, 7, 5, 1);
	}
	only(MISTAKES);
}

/*
 * The kernel calls all hooks. But the hooks of locks and threads store no state, because ktrace_init() got no
 * memory for the table of holders.
 */
static void views_of_hooks_without_table_are_dark(void **state)
{
	struct findings report = { 0 };
	struct facts facts = { 0 };
	struct subject subject = { .facts = &facts };
	unsigned dark = 0;

	(void)state;
	script_cpu(0)->hooks = KTRX_HOOK_LOCK | KTRX_HOOK_THREAD | KTRX_HOOK_IRQ;
	some_turns(2);
	assert_int_equal(facts_read(&facts, script_trace()), 0);
	examine_views(&report, &subject);
	for (uint32_t n = 0; n < report.count; n++)
		dark += report.finding[n].mark == FINDING_DARK &&
			strstr(report.finding[n].what, "without .holders");
	/* the views threads and lock-state need this table, and the hooks for interrupts do not */
	assert_int_equal(dark, 2);
	findings_free(&report);
	facts_free(&facts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(correct_trace_has_no_mistakes),
		TEST(idle_threads_may_run_on_several_cpus),
		TEST(differing_clocks_are_no_mistake),
		TEST(thread_id_minus_one_is_found),
		TEST(sleep_of_thread_zero_is_found),
		TEST(reused_id_without_exit_is_found),
		TEST(reused_id_after_gap_is_correct),
		TEST(swapped_prev_and_next_are_found),
		TEST(switch_without_hook_is_found),
		TEST(switches_to_same_thread_are_found),
		TEST(state_always_zero_is_found),
		TEST(state_zero_of_threads_that_never_sleep_is_correct),
		TEST(two_cpus_with_one_number_are_found),
		TEST(late_switch_event_is_correct),
		TEST(wait_left_without_hook_is_found),
		TEST(lasting_wait_is_correct),
		TEST(unknown_holder_named_as_zero_is_found),
		TEST(lock_passed_to_other_thread_is_correct),
		TEST(thread_that_left_unreported_is_found),
		TEST(deadline_that_is_no_timestamp_is_found),
		TEST(thread_on_two_cpus_is_found),
		TEST(thread_on_two_cpus_repeatedly_is_found),
		TEST(block_for_other_thread_is_found),
		TEST(wake_of_running_thread_is_found),
		TEST(interrupt_without_exit_is_found),
		TEST(rare_interrupt_without_exit_is_found),
		TEST(some_ends_of_a_rare_interrupt_may_be_missing),
		TEST(interrupt_without_enter_is_found),
		TEST(calls_without_returns_are_found),
		TEST(many_locks_hide_no_calls_without_returns),
		TEST(end_without_room_makes_no_later_beginning_certain),
		TEST(switched_off_returns_are_not_missing),
		TEST(release_by_other_thread_is_found),
		TEST(contend_without_acquire_is_found),
		TEST(switched_off_period_resets_state),
		TEST(views_of_hooks_without_table_are_dark),
	};

	return cmocka_run_group_tests_name("doctor mistakes", tests, NULL, NULL);
}
