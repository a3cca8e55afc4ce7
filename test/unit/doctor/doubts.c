/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests that correct hooks are not blamed for what a trace does not show: the order of events of CPUs whose
 * clocks were not measured, lost slots, and events that were off or folded.
 */
#include "unit/doctor/hooks.h"

/* The clock of CPU 1 may be 100 ms ahead. */
static void thread_on_two_cpus_by_unknown_clocks_is_uncertain(void **state)
{
	(void)state;
	some_turns(2);
	switches(1, 2, 5, 1);
	now += 50 * MS;
	switches(0, 5, 1, 1);
	switches(1, 5, 2, 1);
	clocks_are_unknown();
	only_if_ordered(MISTAKE_TWO_CPUS, false);
	script_info()->clock = KTREAD_CLOCK_MEASURED;
	script_info()->clock_cpus = 1;
	script_info()->clock_error = 10;
	only_if_ordered(MISTAKE_TWO_CPUS, true);
}

/* Slots of CPU 0 are missing after its last event, where CPU 0 switches away from thread 5. */
static void thread_that_left_in_a_gap_is_correct(void **state)
{
	(void)state;
	some_turns(2);
	script_ring(0)->dropped = 3;
	for (unsigned n = 0; n < 4; n++) {
		switches(1, 2, 5, 0);
		now += 50 * MS;
		switches(1, 5, 2, 1);
	}
	only(MISTAKES);
}

/* Each thread 9 ends on CPU 1, whose clock may be ahead. */
static void reused_id_by_unknown_clocks_is_uncertain(void **state)
{
	(void)state;
	clocks_are_unknown();
	some_turns(4);
	for (unsigned n = 0; n < 3; n++)
		script_event(CREATE, soon(), 0, 5, V(9));
	for (unsigned n = 0; n < 3; n++)
		script_event(EXIT, soon(), 1, 9, V(9));
	only_if_ordered(MISTAKE_ID_REUSED, false);
	script_event(CREATE, soon(), 0, 5, V(8));
	script_event(CREATE, soon(), 1, 5, V(8));
	only_if_ordered(MISTAKE_ID_REUSED, true);
}

static void reused_id_without_recorded_ends_is_correct(void **state)
{
	(void)state;
	script_switch_off(EXIT);
	some_turns(4);
	script_event(CREATE, soon(), 0, 5, V(9));
	script_event(CREATE, soon(), 0, 5, V(9));
	only(MISTAKES);
}

/* Threads alternate without switches, because sched.switch is off. */
static void threads_alternate_while_switches_are_off(void **state)
{
	(void)state;
	some_turns(2);
	script_event(SWITCHED, soon(), 0, 5, V(SWITCH), V(SWITCH), V(0));
	for (unsigned n = 0; n < 40; n++) {
		script_event(CALL, soon(), 0, 5 + n % 2, V(1));
		script_event(RETURN, soon(), 0, 5 + n % 2, V(1));
	}
	script_switch_off(SWITCH);
	only(MISTAKES);
}

/* While debug.ktr.state is 0, hooks do not update the table, so it shows waits that have ended. */
static void table_that_is_not_updated_shows_no_mistake(void **state)
{
	(void)state;
	some_turns(2);
	waits_since(now, 0);
	now += 500 * MS;
	script_event(CALL, soon(), 0, 5, V(1));
	script_setting("debug.ktr.state", 0);
	only(MISTAKES);
}

/* The call was recorded on another CPU than the wait. */
static void wait_left_by_unknown_clocks_is_uncertain(void **state)
{
	(void)state;
	clocks_are_unknown();
	some_turns(2);
	waits_since(now, 0)->cpu = 0;
	now += 500 * MS;
	script_event(CALL, soon(), 1, 5, V(1));
	only_if_ordered(MISTAKE_WAIT_LEFT, false);
	script_event(CALL, soon(), 0, 5, V(1));
	only_if_ordered(MISTAKE_WAIT_LEFT, true);
}

/* Threads that wait in their first call, such as servers that receive a message, have no return yet. */
static void first_calls_that_wait_are_not_missing_returns(void **state)
{
	(void)state;
	for (uint32_t n = 0; n < 40; n++) {
		switches(0, n ? 9 + n : 5, 10 + n, 1);
		script_event(CALL, soon(), 0, 10 + n, V(1));
	}
	only(MISTAKES);
}

/* The events of returns fold: ktrace.repeat counts their repetitions. */
static void folded_returns_are_not_missing(void **state)
{
	(void)state;
	some_turns(2);
	for (unsigned n = 0; n < 20; n++)
		script_event(CALL, soon(), 0, 5, V(n));
	script_event(RETURN, soon(), 0, 5, V(3));
	script_event(REPEAT, soon(), 0, 5, V(RETURN), V(19), V(MS), now);
	only(MISTAKES);
}

/* Threads 5 and 6 take the lock in turns. The clock of thread 6's CPU is 1.5 ms ahead. */
static void release_by_unknown_clocks_is_uncertain(void **state)
{
	(void)state;
	clocks_are_unknown();
	for (unsigned n = 0; n < 20; n++) {
		script_event(ACQUIRE, now + 1000000, 0, 5, V(0x10));
		script_event(ACQUIRE, now + 1700000, 1, 6, V(0x10));
		script_event(RELEASE, now + 2000000, 0, 5, V(0x10));
		script_event(RELEASE, now + 2700000, 1, 6, V(0x10));
		now += 4 * MS;
	}
	only_if_ordered(MISTAKE_RELEASE, false);
}

/* Thread 6 never takes the lock. */
static void release_by_other_thread_does_not_depend_on_clocks(void **state)
{
	(void)state;
	clocks_are_unknown();
	for (unsigned n = 0; n < 8; n++) {
		lock(ACQUIRE, 5, 0x10);
		lock(RELEASE, 6, 0x10);
	}
	only_if_ordered(MISTAKE_RELEASE, true);
}

/* CPUs count heartbeats since the start, but the ring covers only the last second. */
static void length_of_a_run_with_overwritten_records_is_unknown(void **state)
{
	struct facts facts;

	(void)state;
	script_event(CALL, 0, 0, 5, V(1));
	script_event(CALL, 1000 * MS, 0, 5, V(1));
	assert_int_equal(facts_read(&facts, script_trace()), 0);
	assert_true(facts.seconds > 0.99);
	facts_free(&facts);
	script_ring(0)->overwritten = 5;
	assert_int_equal(facts_read(&facts, script_trace()), 0);
	assert_true(facts.seconds <= 0);
	facts_free(&facts);
}

/*
 * Thread 5 contends two locks in turn and never acquires them after that. It also acquires both without
 * contention, on the CPU `elsewhere`. `switches`: CPU 0 switches between the contentions.
 */
static void contends_and_acquires(uint32_t elsewhere, bool switches)
{
	for (unsigned n = 0; n < 20; n++) {
		lock(CONTEND, 5, 0x10);
		if (switches)
			some_turns(1);
		lock(CONTEND, 5, 0x20);
		for (uint64_t which = 0x10; which <= 0x20; which += 0x10) {
			script_event(ACQUIRE, soon(), elsewhere, 5, which);
			script_event(RELEASE, soon(), elsewhere, 5, which);
		}
	}
}

static void contend_of_a_thread_that_stays_does_not_depend_on_clocks(void **state)
{
	(void)state;
	clocks_are_unknown();
	contends_and_acquires(0, false);
	only_if_ordered(MISTAKE_CONTEND, true);
}

/*
 * The oldest slots of CPU 1 are lost. They may contain acquires of thread 5 if it moved to CPU 1 and back. It
 * can do so only if CPU 0 switches.
 */
static void contend_without_switch_does_not_depend_on_lost_slots(void **state)
{
	for (int moves = 0; moves < 2; moves++) {
		end(state);
		begin(state);
		clocks_are_unknown();
		script_ring(1)->overwritten = 100;
		script_event(WAKE, soon(), 1, 1, V(6));
		some_turns(1);
		contends_and_acquires(0, moves);
		only_if_ordered(MISTAKE_CONTEND, !moves);
	}
}

/* If the clock of CPU 1 is ahead, each acquire may belong to the contention before it. */
static void contend_of_a_thread_that_moves_is_uncertain(void **state)
{
	(void)state;
	clocks_are_unknown();
	contends_and_acquires(1, false);
	only_if_ordered(MISTAKE_CONTEND, false);
}

/* The clock of CPU 1 is so far behind that all acquires there come before all contentions on CPU 0. */
static void contend_after_all_acquires_is_uncertain(void **state)
{
	(void)state;
	clocks_are_unknown();
	lock(ACQUIRE, 5, 0x30);
	lock(RELEASE, 5, 0x30);
	for (unsigned n = 0; n < 40; n++) {
		script_event(ACQUIRE, soon(), 1, 5, V(n % 2 ? 0x20 : 0x10));
		script_event(RELEASE, soon(), 1, 5, V(n % 2 ? 0x20 : 0x10));
	}
	for (unsigned n = 0; n < 40; n++)
		lock(CONTEND, 5, n % 2 ? 0x20 : 0x10);
	only_if_ordered(MISTAKE_CONTEND, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(thread_on_two_cpus_by_unknown_clocks_is_uncertain),
		TEST(thread_that_left_in_a_gap_is_correct),
		TEST(reused_id_by_unknown_clocks_is_uncertain),
		TEST(reused_id_without_recorded_ends_is_correct),
		TEST(threads_alternate_while_switches_are_off),
		TEST(table_that_is_not_updated_shows_no_mistake),
		TEST(wait_left_by_unknown_clocks_is_uncertain),
		TEST(first_calls_that_wait_are_not_missing_returns),
		TEST(folded_returns_are_not_missing),
		TEST(release_by_unknown_clocks_is_uncertain),
		TEST(release_by_other_thread_does_not_depend_on_clocks),
		TEST(contend_of_a_thread_that_stays_does_not_depend_on_clocks),
		TEST(contend_without_switch_does_not_depend_on_lost_slots),
		TEST(contend_of_a_thread_that_moves_is_uncertain),
		TEST(contend_after_all_acquires_is_uncertain),
		TEST(length_of_a_run_with_overwritten_records_is_unknown),
	};

	return cmocka_run_group_tests_name("doctor doubts", tests, NULL, NULL);
}
