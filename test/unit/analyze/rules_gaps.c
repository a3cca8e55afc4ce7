/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests the results of rules if events are missing: lost, cut off, or not recorded because they were
 * disabled. If a missing event could have decided a rule, the rule is left undecided.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "unit/support/checking.h"
#include "unit/support/script.h"

static void lost_before(struct ktread_event *event)
{
	event->lost = 3;
}

/* Checks that the last rule was left undecided `times` times because `event` was disabled. */
static void was_off(uint64_t times, uint32_t event)
{
	const struct check_result *last = &checking_result[checking_rules->count - 1];

	assert_int_equal(last->switched_off, times);
	assert_int_equal(last->off, event);
}

static void order_rules_are_undecided_across_gaps(void **state)
{
	(void)state;
	script_event(END, 10, 0, 1, V(7), V(0));
	lost_before(script_event(WAKE, 15, 0, 1, V(1)));
	script_event(EXEC, 30, 1, 2, V(7), "x");
	checking_run("a: never process.exec after process.exit by process");
	checking_expect(0, 0, 1);
	was_off(0, 0);
}

/* Lost slots of other CPUs cannot contain events of this CPU, so they do not make the rule undecided. */
static void gaps_of_other_cpus_do_not_hide_events_of_one_cpu(void **state)
{
	(void)state;
	script_event(IRQ, 10, 0, 1, V(9));
	lost_before(script_event(WAKE, 15, 1, 3, V(1)));
	script_event(SWITCH, 20, 0, 1, V(1), V(2), V(0));
	checking_run("a: never sched.switch after irq.enter by @cpu");
	checking_expect(0, 1, 0);
	checking_run("a: never sched.switch after irq.enter by @cpu needs sched.wake");
	checking_expect(0, 1, 0);
}

/* If the end of a ring is missing in the file, any event may be missing. */
static void order_rules_are_undecided_at_a_cut_end(void **state)
{
	(void)state;
	script_event(END, 10, 0, 1, V(7), V(0));
	script_event(WAKE, 15, 1, 1, V(1));
	script_event(EXEC, 30, 1, 2, V(7), "x");
	script_ring(0)->cut = 1;
	checking_run("a: never process.exec after process.exit by process");
	checking_expect(0, 0, 1);
	script_ring(0)->cut = 0;
	checking_run("a: never process.exec after process.exit by process");
	checking_expect(0, 1, 0);
}

static void switched(uint64_t stamp, uint16_t first, uint16_t last, unsigned is)
{
	script_event(SWITCHED, stamp, 0, 0, V(first), V(last), V(is));
}

/* The event that decides a rule may have occurred without a record while it was disabled. */
static void nothing_is_judged_while_its_events_are_off(void **state)
{
	(void)state;
	script_event(ENTER, 10, 0, 7, V(1));
	switched(20, LEAVE, LEAVE, 0);
	switched(30, LEAVE, LEAVE, 1);
	script_event(ENTER, 40, 0, 7, V(1));
	switched(50, IRQ, IRQ_END, 0); /* the rule does not depend on this event */
	switched(60, IRQ, IRQ_END, 1);
	script_event(ENTER, 70, 0, 7, V(1));
	checking_run("a: never syscall.enter after syscall.enter unless syscall.exit by @thread");
	checking_expect(1, 1, 1);
	was_off(1, LEAVE);
	script_event(WAKE, 100, 0, 7, V(3));
	switched(110, SWITCH, SWITCH, 0);
	script_event(IRQ, 100000, 0, 7, V(3));
	checking_run("a: every sched.wake then sched.switch within 10us by thread/next");
	checking_expect(0, 0, 1);
	checking_run(
		"depth d: up lock.acquire, down lock.release by @thread\na: never sched.exit while d > 0 by "
		"@thread");
	checking_expect(0, 0, 0);
}

static void depth_is_unknown_after_its_events_were_off(void **state)
{
	(void)state;
	script_event(LOCK, 10, 0, 7, V(1));
	switched(20, UNLOCK, UNLOCK, 0);
	switched(30, UNLOCK, UNLOCK, 1);
	script_event(EXIT, 40, 0, 7, V(7));
	checking_run(
		"depth d: up lock.acquire, down lock.release by @thread\na: never sched.exit while d > 0 by "
		"@thread");
	checking_expect(0, 0, 1);
	was_off(1, UNLOCK);
}

static void thread_states_are_unknown_after_scheduling_was_off(void **state)
{
	(void)state;
	script_event(SWITCH, 10, 0, 5, V(5), V(6), V(1)); /* thread 5 goes to sleep */
	switched(20, WAKE, WAKE, 0);
	switched(30, WAKE, WAKE, 1);
	script_event(SWITCH, 40, 0, 6, V(6), V(5), V(0));
	checking_run("a: never sched.switch while next is sleeping");
	checking_expect(1, 0, 1);
	was_off(1, WAKE);
}

/*
 * The event was recorded before, and is off at the end of the trace. No record shows when it was disabled.
 */
static void an_event_that_is_off_at_the_end_was_recorded_before(void **state)
{
	(void)state;
	script_switch_off(LOCK);
	script_switch_off(EOI);
	script_event(LOCK, 10, 0, 7, V(1));
	script_event(LOCK, 20, 0, 7, V(2));
	checking_run("a: at most 1 lock.acquire");
	assert_true(checking_rules->rule[0].checked);
	checking_expect(1, 1, 0);
	checking_run("optional\na: never irq.eoi");
	assert_false(checking_rules->rule[0].checked);
	assert_string_equal(checking_rules->rule[0].why, "irq.eoi was not recorded");
}

static void repeat(uint64_t stamp, uint16_t event, uint64_t first, uint64_t last)
{
	script_event(REPEAT, stamp, 0, 7, V(event), V(3), V(first), V(last));
}

static const char calls[] = "a: never syscall.enter after syscall.enter unless syscall.exit by @thread";

/* An event that is equal to the previous one has no record, only a place in ktrace.repeat. */
static void nothing_is_judged_while_its_events_are_folded(void **state)
{
	(void)state;
	script_event(ENTER, 10, 0, 7, V(1));
	script_event(LEAVE, 11, 0, 7, V(1), V(0));
	script_event(ENTER, 20, 0, 7, V(2));
	script_event(ENTER, 30, 0, 7, V(1)); /* the call returned at 21 */
	repeat(40, LEAVE, 21, 31);
	script_event(LEAVE, 40, 0, 7, V(1), V(5));
	script_event(ENTER, 50, 0, 7, V(1));
	script_event(ENTER, 60, 0, 7, V(1));
	checking_run(calls);
	checking_expect(3, 1, 1);
	was_off(1, LEAVE);
	assert_true(checking_result[0].folded);
}

/* The kernel was still counting the repetitions when the trace was taken. */
static void repetitions_that_are_still_counted_leave_a_rule_undecided(void **state)
{
	(void)state;
	script_event(ENTER, 10, 0, 7, V(1));
	script_event(LEAVE, 11, 0, 7, V(1), V(0));
	script_event(ENTER, 20, 0, 7, V(2));
	script_event(ENTER, 30, 0, 7, V(1));
	script_fold(LEAVE, 21, 31);
	checking_run(calls);
	checking_expect(2, 0, 1);
	was_off(1, LEAVE);
}

/* ktrace.repeat may be among the missing slots. The repetitions that it reports came before these slots. */
static void a_lost_record_of_repetitions_leaves_a_rule_undecided(void **state)
{
	(void)state;
	script_event(ENTER, 10, 0, 7, V(1));
	script_event(LEAVE, 11, 0, 7, V(1), V(0));
	script_event(ENTER, 20, 0, 7, V(2));
	script_event(ENTER, 30, 0, 7, V(1));
	script_event(IRQ, 35, 0, 7, V(1));
	lost_before(script_event(LEAVE, 40, 0, 7, V(1), V(5)));
	script_event(ENTER, 50, 0, 7, V(1));
	script_event(ENTER, 60, 0, 7, V(1));
	script_fold(LEAVE, 70, 70);
	checking_run(calls);
	checking_expect(3, 1, 1);
	was_off(1, LEAVE);
}

/* The states of threads come from folded events, too. */
static void thread_states_are_unknown_while_wakeups_are_folded(void **state)
{
	(void)state;
	script_event(SWITCH, 10, 0, 5, V(5), V(6), V(1));
	repeat(30, WAKE, 20, 21);
	script_event(SWITCH, 40, 0, 6, V(6), V(5), V(0));
	checking_run("a: never sched.switch while next is sleeping");
	checking_expect(1, 0, 1);
	was_off(1, WAKE);
}

/* A limit may have been exceeded by repetitions. */
static void a_limit_is_undecided_if_events_were_folded(void **state)
{
	(void)state;
	script_event(LOCK, 10, 0, 7, V(1));
	script_fold(LOCK, 20, 30);
	script_event(IRQ, 40, 0, 7, V(1));
	checking_run("a: at most 2 lock.acquire");
	checking_expect(1, 0, 1);
}

/* Gives CPU 1 a ring whose oldest records, up to `stamp`, were overwritten. */
static void overwritten_until(uint64_t stamp)
{
	script_ring(1)->overwritten = 100;
	script_event(EOI, stamp, 1, 9, V(1))->index = 100;
}

/* CPU 1 ran thread 5, but its switch was overwritten. */
static void a_state_that_lost_slots_may_have_changed_is_undecided(void **state)
{
	(void)state;
	script_event(SWITCH, 10, 0, 6, V(6), V(5), V(0));
	script_event(SWITCH, 20, 0, 5, V(5), V(6), V(0));
	script_event(SWITCH, 30, 0, 6, V(6), V(5), V(0));
	overwritten_until(40);
	script_event(SWITCH, 50, 0, 5, V(5), V(6), V(0));
	script_event(SWITCH, 60, 0, 6, V(6), V(5), V(0));
	checking_run("a: never sched.switch while next is running");
	checking_expect(1, 0, 4);
	script_ring(1)->overwritten = 0;
	checking_run("a: never sched.switch while next is running");
	checking_expect(5, 0, 0);
}

/* Only the CPU of a running thread can switch away from it. */
static void slots_of_other_cpus_do_not_hide_the_state_of_a_running_thread(void **state)
{
	(void)state;
	script_event(SWITCH, 10, 0, 6, V(6), V(5), V(0));
	script_event(WAKE, 20, 0, 5, V(5));
	overwritten_until(40);
	checking_run("a: never sched.wake while thread is dead");
	checking_expect(1, 0, 0);
}

/* The first call of the thread may have been overwritten. After one return, no call is open. */
static void an_order_is_undecided_if_its_cause_may_be_lost(void **state)
{
	(void)state;
	script_event(ENTER, 10, 0, 7, V(1));
	script_event(LEAVE, 11, 0, 7, V(1), V(0));
	overwritten_until(40);
	script_event(ENTER, 50, 0, 7, V(1));
	script_event(LEAVE, 60, 0, 7, V(1), V(0));
	script_event(ENTER, 70, 0, 7, V(1));
	script_event(ENTER, 80, 0, 7, V(1));
	script_event(EXEC, 90, 0, 7, V(3), "x");
	script_event(EXEC, 91, 0, 7, V(3), "x");
	checking_run(calls);
	checking_expect(2, 1, 1);
	checking_run("a: never process.exec after process.exit by process");
	checking_expect(1, 0, 1);
	script_ring(1)->overwritten = 0;
	checking_run(calls);
	checking_expect(3, 1, 0);
}

/*
 * A thread that ran on the CPU before missing slots is not the one that runs there afterwards, although no switch
 * has shown that. Missing slots of other CPUs do not hide calls of the thread that runs now.
 */
static void a_thread_that_ran_before_lost_slots_does_not_hide_the_one_that_runs(void **state)
{
	(void)state;
	script_event(WAKE, 5, 1, 0, V(1))->ring = 0; /* an early event, before CPU 1 had a ring */
	script_event(SWITCH, 10, 2, 6, V(6), V(5), V(0));
	overwritten_until(40); /* thread 9 runs on CPU 1 */
	script_event(ENTER, 50, 1, 9, V(1));
	script_event(LEAVE, 55, 1, 9, V(1), V(0));
	lost_before(script_event(WAKE, 60, 2, 5, V(1)));
	script_event(ENTER, 65, 1, 9, V(1));
	script_event(LEAVE, 70, 1, 9, V(1), V(0));
	checking_run(calls);
	checking_expect(1, 0, 1);
	lost_before(script_event(IRQ, 80, 1, 7, V(1))); /* the switch from thread 9 to thread 7 is missing */
	script_event(ENTER, 85, 1, 7, V(1));
	script_event(LEAVE, 90, 1, 7, V(1), V(0));
	lost_before(script_event(WAKE, 95, 2, 5, V(1)));
	script_event(ENTER, 99, 1, 7, V(1));
	checking_run(calls);
	checking_expect(2, 0, 2);
}

/*
 * Thread 7 was preempted after sched.exit, or the kernel records state 0 for a thread that has ended. If the
 * kernel records state 4 as well, the former is certain.
 */
static void a_thread_that_may_live_after_sched_exit_leaves_a_rule_undecided(void **state)
{
	static const char deaths[] = "a: never sched.switch (next == 7) while next is dead";

	(void)state;
	script_event(SWITCH, 5, 0, 8, V(8), V(7), V(1));
	script_event(EXIT, 10, 0, 7, V(7));
	script_event(SWITCH, 20, 0, 7, V(7), V(5), V(0));
	script_event(SWITCH, 30, 0, 5, V(5), V(7), V(0));
	checking_run(deaths);
	checking_expect(1, 0, 0);
	assert_int_equal(checking_result[0].may_live, 1);
	script_event(SWITCH, 40, 0, 7, V(7), V(5), V(4));
	checking_run(deaths);
	checking_expect(2, 0, 0);
	assert_int_equal(checking_result[0].may_live, 0);
	script_event(SWITCH, 50, 0, 5, V(5), V(7), V(0));
	checking_run(deaths);
	checking_expect(2, 1, 0);
}

/*
 * Lost slots of the ring of rare events may have contained ktrace.switched, so an event that is not rare may be
 * missing on any CPU, although its CPU's ring is complete.
 */
static void an_event_may_have_been_off_if_slots_of_rare_events_are_lost(void **state)
{
	(void)state;
	script_ring(3)->kind = KTRX_RING_SHARED;
	script_ring(3)->cpu = KTRX_NO_CPU;
	script_ring(3)->overwritten = 100;
	script_event(EOI, 10, 0, 7, V(1));
	script_event(EOI, 20, 0, 7, V(1));
	script_event(EXEC, 30, 1, 2, V(7), "x")->index = 100;
	script_change(2)->ring = 3;
	script_event(IRQ, 40, 0, 7, V(1));
	script_event(EOI, 50, 0, 7, V(1));
	script_event(EOI, 60, 0, 7, V(1));
	checking_run("a: never irq.eoi after irq.eoi unless irq.enter by @cpu, irq");
	checking_expect(1, 1, 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, checking_begin, checking_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(order_rules_are_undecided_across_gaps),
		TEST(gaps_of_other_cpus_do_not_hide_events_of_one_cpu),
		TEST(order_rules_are_undecided_at_a_cut_end),
		TEST(nothing_is_judged_while_its_events_are_off),
		TEST(depth_is_unknown_after_its_events_were_off),
		TEST(thread_states_are_unknown_after_scheduling_was_off),
		TEST(an_event_that_is_off_at_the_end_was_recorded_before),
		TEST(a_state_that_lost_slots_may_have_changed_is_undecided),
		TEST(slots_of_other_cpus_do_not_hide_the_state_of_a_running_thread),
		TEST(an_order_is_undecided_if_its_cause_may_be_lost),
		TEST(a_thread_that_ran_before_lost_slots_does_not_hide_the_one_that_runs),
		TEST(a_thread_that_may_live_after_sched_exit_leaves_a_rule_undecided),
		TEST(nothing_is_judged_while_its_events_are_folded),
		TEST(repetitions_that_are_still_counted_leave_a_rule_undecided),
		TEST(a_lost_record_of_repetitions_leaves_a_rule_undecided),
		TEST(thread_states_are_unknown_while_wakeups_are_folded),
		TEST(an_event_may_have_been_off_if_slots_of_rare_events_are_lost),
		TEST(a_limit_is_undecided_if_events_were_folded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
