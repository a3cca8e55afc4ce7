/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests each form of rule with scripts that obey it and scripts that violate it, rules on the state of CPUs,
 * and the default rules.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "ktrx/slot.h"
#include "ktrx/v2.h"
#include "unit/support/checking.h"
#include "unit/support/script.h"

static void value_rules_are_checked(void **state)
{
	(void)state;
	script_event(LEAVE, 10, 0, 1, V(5), (uint64_t)-11);
	script_event(LEAVE, 20, 0, 1, V(6), V(3));
	script_event(EXEC, 30, 0, 1, V(7), "/bin/sh");
	checking_run("a: always syscall.exit has (result >= 0)");
	checking_expect(1, 1, 0);
	assert_int_equal(checking_result[0].first.stamp, 10);
	checking_run("a: always syscall.exit has (result >= -11, nr & 4)");
	checking_expect(2, 0, 0);
	checking_run("a: never syscall.exit (nr < result)");
	checking_expect(0, 0, 0);
	checking_run("a: never process.exec (path == \"/bin/sh\")");
	checking_expect(0, 1, 0);
	checking_run("a: never process.exec (path != \"/bin/sh\")");
	checking_expect(0, 0, 0);
	script_event(ENTER, 40, 0, 1, V(5))->context = KTRX_CONTEXT_INTERRUPT;
	checking_run("a: never syscall.enter in nmi or irq");
	checking_expect(0, 1, 0);
}

/*
 * Checks that `rule`, in line 2 of a file, is refused with the reason `why`. Also checks that an optional
 * rule with this text is accepted, but not checked, for the same reason.
 */
static void expect_refused(const char *rule, const char *why, uint32_t column)
{
	char text[200];

	snprintf(text, sizeof(text), "ok: never sched.wake\n%s", rule);
	assert_int_equal(checking_parse(text), 0);
	assert_int_equal(rules_bind(checking_rules, script_trace(), &checking_error), KTREAD_E_FORMAT);
	assert_string_equal(checking_error.text, why);
	assert_int_equal(checking_error.line, 2);
	assert_int_equal(checking_error.column, column);
	snprintf(text, sizeof(text), "optional\n%s", rule);
	checking_run(text);
	assert_false(checking_rules->rule[0].checked);
	assert_string_equal(checking_rules->rule[0].why, why);
}

static void conditions_of_the_wrong_type_are_refused(void **state)
{
	static const char number[] = "syscall.exit.result is not a string: it cannot be compared with \"x\"";
	static const char string[] =
		"process.exec.path is a string: it can only be compared with a \"string\"";

	(void)state;
	script_event(LEAVE, 10, 0, 1, V(5), V(1));
	script_event(EXEC, 20, 0, 1, V(7), "x");
	expect_refused("a: never syscall.exit (result == \"x\")", number, 10);
	expect_refused("a: never syscall.exit (nr == 5, result != \"x\")", number, 10);
	expect_refused("a: always syscall.exit has (result == \"x\")", number, 11);
	expect_refused("a: never sched.wake after syscall.exit (result == \"x\")", number, 27);
	expect_refused("a: never process.exec (path == 5)", string, 10);
	expect_refused("a: never process.exec (path < process)", string, 10);
	expect_refused("a: never process.exec (process == path)", string, 10);
}

static void order_rules_are_checked(void **state)
{
	(void)state;
	script_event(END, 10, 0, 1, V(7), V(0));
	script_event(EXEC, 20, 1, 2, V(8), "x");
	script_event(EXEC, 30, 1, 2, V(7), "x");
	script_event(END, 40, 0, 1, V(7), V(0));
	script_event(FORK, 50, 0, 1, V(1), V(7));
	script_event(EXEC, 60, 1, 2, V(7), "x");
	checking_run("a: never process.exec after process.exit unless process.fork by process/process/child");
	checking_expect(2, 1, 0);
	assert_int_equal(checking_result[0].first.stamp, 30);
	assert_int_equal(checking_result[0].first.cause_stamp, 10);
}

static void latency_rules_are_checked(void **state)
{
	(void)state;
	script_event(WAKE, 1000, 0, 1, V(5));
	script_event(WAKE, 2000, 0, 1, V(5));
	script_event(WAKE, 2100, 0, 1, V(6));
	script_event(SWITCH, 3000, 1, 0, V(0), V(5), V(0));
	script_event(SWITCH, 9000, 1, 0, V(5), V(0), V(0));
	checking_run("a: every sched.wake then sched.switch within 2us by thread/next");
	checking_expect(1, 1, 0);
	/* sched.switch should have occurred at this time or before */
	assert_int_equal(checking_result[0].first.stamp, 4100);
	assert_int_equal(checking_result[0].first.number, 0);
	checking_run("a: every sched.wake then sched.switch within 1.9us by thread/next");
	checking_expect(0, 2, 0);
	assert_int_equal(checking_result[0].first.stamp, 3000);
	checking_run("a: every sched.wake then sched.switch within 1s by thread/next");
	checking_expect(1, 0, 0);
}

static void rate_rules_are_checked(void **state)
{
	(void)state;
	for (uint64_t n = 0; n < 5; n++)
		script_event(WAKE, 1000 + 100 * n, 0, 1, V(5));
	script_event(WAKE, 5000, 0, 1, V(5));
	checking_run("a: at most 3 sched.wake per 1us by thread");
	checking_expect(4, 1, 0);
	assert_int_equal(checking_result[0].first.stamp, 1300);
	checking_run("a: at most 5 sched.wake by thread");
	checking_expect(5, 1, 0);
	checking_run("a: at most 6 sched.wake");
	checking_expect(6, 0, 0);
}

/* If the clock is set back, no event counts as late. */
static void clock_that_goes_back_makes_nothing_late(void **state)
{
	(void)state;
	script_event(WAKE, 5000, 0, 1, V(5));
	script_event(SWITCH, 3000, 0, 1, V(1), V(5), V(0));
	checking_run("a: every sched.wake then sched.switch within 2us by thread/next");
	checking_expect(1, 0, 0);
	checking_run("a: every sched.wake then sched.exit within 2us");
	checking_expect(0, 0, 0);
	script_event(WAKE, 2000, 0, 1, V(5));
	checking_run("a: at most 1 sched.wake per 10us");
	checking_expect(1, 1, 0);
}

static bool is_on_cpu_1(void *context, const struct ktread_event *event)
{
	(void)context;
	return event->cpu == 1;
}

static bool is_late(void *context, const struct ktread_event *event)
{
	(void)context;
	return event->stamp >= 100;
}

static void only_chosen_events_are_judged(void **state)
{
	(void)state;
	script_event(LOCK, 10, 0, 1, V(7));
	script_event(LOCK, 20, 1, 2, V(8));
	script_event(ENTER, 30, 0, 1, V(5));
	script_event(ENTER, 40, 1, 2, V(6));
	script_event(UNLOCK, 50, 0, 1, V(7));
	script_event(LOCK, 110, 0, 1, V(9));
	script_event(LEAVE, 120, 1, 2, V(6), V(0));
	checking_judges = is_on_cpu_1;
	checking_run("a: never syscall.enter (nr == 5)");
	checking_expect(0, 0, 0);
	checking_run("a: never syscall.enter");
	checking_expect(0, 1, 0);
	assert_int_equal(checking_result[0].first.stamp, 40);
	checking_run("a: always syscall.enter has (nr == 6)");
	checking_expect(1, 0, 0);
	checking_run("a: at most 0 lock.acquire");
	checking_expect(0, 1, 0);
	/* events that are not chosen still count as causes and as ends */
	checking_run("a: never syscall.exit after lock.acquire (lock == 7)");
	checking_expect(0, 1, 0);
	checking_run("depth d: up lock.acquire, down lock.release\na: never syscall.exit while d > 1");
	checking_expect(0, 1, 0);
	checking_run("a: every lock.acquire then syscall.exit within 1ms");
	checking_expect(1, 0, 0);
	checking_judges = is_late;
	checking_run("a: every syscall.enter then lock.release within 1ns by @thread");
	checking_expect(0, 0, 0);
	checking_run("a: every lock.acquire then lock.release within 1ns by lock");
	checking_expect(0, 1, 0);
}

static void depth_rules_are_checked(void **state)
{
	static const char text[] = "depth d: up irq.enter, down irq.exit, none syscall.enter by @cpu\n"
				   "a: never sched.switch while d > 1 by @cpu";

	(void)state;
	script_event(IRQ, 10, 0, 1, V(1));
	script_event(SWITCH, 20, 0, 1, V(1), V(2), V(0));
	script_event(IRQ, 30, 0, 1, V(1));
	script_event(SWITCH, 35, 1, 3, V(3), V(4), V(0));
	script_event(SWITCH, 40, 0, 2, V(2), V(1), V(0));
	checking_run(text);
	checking_expect(2, 1, 0);
	assert_int_equal(checking_result[1].first.stamp, 40);
	assert_int_equal(checking_result[1].first.count, 2);
	script_event(IRQ_END, 50, 0, 1, V(1))->lost = 3;
	script_event(SWITCH, 60, 0, 1, V(1), V(2), V(0));
	checking_run(text);
	checking_expect(2, 1, 1);
	script_event(ENTER, 70, 0, 2, V(1));
	script_event(SWITCH, 80, 0, 2, V(2), V(1), V(0));
	checking_run(text);
	checking_expect(3, 1, 1);
}

/* If the payload of an event lacks the key, the event does not decide a rule, and is not counted. */
static void events_without_the_key_are_left_out(void **state)
{
	(void)state;
	script_event(END, 10, 0, 1, V(7), V(0));
	script_event(EXEC, 20, 1, 2, V(7), "x")->payload_size = 0;
	checking_run("a: never process.exec after process.exit by process");
	checking_expect(0, 0, 0);
	assert_int_equal(checking_result[0].lacking, 1);
	script_event(IRQ, 30, 0, 1, V(4))->payload_size = 0;
	script_event(EOI, 40, 0, 1, V(4));
	checking_run("depth d: up irq.enter, down irq.exit by irq\na: never irq.eoi while d > 0 by irq");
	checking_expect(1, 0, 0);
	assert_int_equal(checking_result[0].lacking, 1);
	assert_int_equal(checking_result[1].lacking, 1);
}

/*
 * One interrupt handler switches threads before it signals the end of the interrupt, another one after it.
 * NMIs need no such signal.
 */
static void switch_before_the_end_of_an_interrupt_is_found(void **state)
{
	(void)state;
	script_event(IRQ, 10, 0, 1, V(9))->context = KTRX_CONTEXT_INTERRUPT;
	script_event(EOI, 20, 0, 1, V(9))->context = KTRX_CONTEXT_INTERRUPT;
	script_event(SWITCH, 30, 0, 1, V(1), V(2), V(0));
	script_event(IRQ, 40, 0, 2, V(2))->context = KTRX_CONTEXT_NMI;
	script_event(SWITCH, 50, 0, 2, V(2), V(1), V(0));
	script_event(IRQ, 60, 0, 1, V(9))->context = KTRX_CONTEXT_INTERRUPT;
	script_event(EOI, 65, 1, 3, V(9))->context = KTRX_CONTEXT_INTERRUPT;
	script_event(SWITCH, 70, 0, 1, V(1), V(2), V(0));
	checking_run("a: never sched.switch after irq.enter in irq unless irq.eoi by @cpu");
	assert_int_equal(checking_result[0].violated, 1);
	assert_int_equal(checking_result[0].first.stamp, 70);
}

/* A rule uses the state in the CPU descriptors only if the kernel calls the hooks that store this state. */
static void cpu_descriptors_count_if_their_hooks_are_called(void **unused)
{
	struct ktrx_cpu *cpu = script_cpu(2);

	(void)unused;
	script_event(WAKE, 10, 0, 1, V(1));
	*script_cpu(0) = *script_cpu(1) = (struct ktrx_cpu){ .online = 1 };
	*cpu = (struct ktrx_cpu){ .online = 1,
				  .hooks = KTRX_HOOK_THREAD | KTRX_HOOK_PREEMPT,
				  .broken = KTRX_BROKEN_SWITCH_PREEMPT,
				  .broken_thread = 7,
				  .broken_stamp = 30,
				  .broken_pc = 0xabc };
	checking_run("a: never broken switch-preempt");
	checking_expect(2, 1, 0);
	assert_true(checking_result[0].first.in_state);
	assert_int_equal(checking_result[0].first.cpu, 2);
	assert_int_equal(checking_result[0].first.thread, 7);
	assert_int_equal(checking_result[0].first.stamp, 30);
	assert_int_equal(checking_result[0].first.pc, 0xabc);
	checking_judges =
		is_on_cpu_1; /* the violation on CPU 2 is not judged; whether CPU 2 violates the rule later is unknown */
	checking_run("a: never broken switch-preempt");
	checking_expect(2, 0, 1);
	checking_judges = NULL;
	checking_run("optional\na: never broken switch-locked");
	assert_false(checking_rules->rule[0].checked);
	assert_string_equal(checking_rules->rule[0].why,
			    "ktrace_acquire() was not called, or debug.ktr.state is 0, "
			    "or the kernel is built with KTRACE_STATE=0");
	assert_int_equal(checking_parse("ok: never sched.wake\na: never broken release"), 0);
	assert_int_equal(rules_bind(checking_rules, script_trace(), &checking_error), KTREAD_E_FORMAT);
	assert_int_equal(checking_error.line, 2);
	cpu->hooks |= KTRX_HOOK_LOCK;
	script_holder(7);
	assert_int_equal(checking_parse("a: never broken release needs sched.swtich"), 0);
	assert_int_equal(rules_bind(checking_rules, script_trace(), &checking_error), KTREAD_E_FORMAT);
	assert_int_equal(checking_error.column, 31);
	checking_run("a: never broken switch-locked");
	checking_expect(2, 0, 1);
	cpu->broken = 4711; /* a trace may be damaged, so `broken` may have any value */
	checking_run("a: never broken acquire");
	checking_expect(2, 0, 1);
}

/* Without entries in the table of holders, hooks know no lock. */
static void mistakes_about_locks_need_the_table_of_holders(void **unused)
{
	struct ktrx_cpu *cpu = script_cpu(0);

	(void)unused;
	script_event(WAKE, 10, 0, 1, V(1));
	*cpu = (struct ktrx_cpu){ .online = 1, .hooks = KTRX_HOOK_THREAD | KTRX_HOOK_LOCK };
	checking_run("optional\na: never broken release");
	assert_false(checking_rules->rule[0].checked);
	assert_string_equal(checking_rules->rule[0].why,
			    "the trace has no table of holders (.holders in struct ktrace_config)");
	cpu->broken = KTRX_BROKEN_RELEASE;
	checking_run("a: never broken release");
	checking_expect(0, 1, 0);
	cpu->broken = KTRX_BROKEN_NOTHING;
	script_holder(7);
	checking_run("a: never broken switch-locked");
	checking_expect(1, 0, 0);
	cpu->refused = 1;
	checking_run("a: never broken acquire");
	checking_expect(0, 0, 1);
	script_cpu(2)->online = 0; /* CPUs 1 and 2 never came online, so they made no mistake */
	checking_run("a: never broken acquire");
	checking_expect(0, 0, 1);
	script_cpu(2)->broken = KTRX_BROKEN_RELEASE; /* CPU 2 is offline again */
	checking_run("a: never broken acquire");
	checking_expect(0, 0, 2);
}

/* The idle threads of all CPUs have the id 9. The clocks are not measured. */
static void idle_threads_with_one_id_run_on_several_cpus(void **unused)
{
	static const char twice[] = "a: never sched.switch (prev != next, next != 0) while next is running";

	(void)unused;
	script_thread(9, "idle");
	for (uint32_t cpu = 0; cpu < 3; cpu++)
		script_event(SWITCH, 10 + cpu, cpu, 0, V(0), V(9), V(0));
	script_event(SWITCH, 20, 1, 9, V(9), V(5), V(0));
	script_event(SWITCH, 30, 1, 5, V(5), V(9), V(1));
	checking_run(twice);
	checking_expect(2, 0, 0);
	script_thread(9, "worker");
	checking_run(twice);
	checking_expect(3, 2, 0);
}

static void state_that_is_off_decides_nothing(void **unused)
{
	(void)unused;
	script_event(WAKE, 10, 0, 1, V(1));
	*script_cpu(0) = (struct ktrx_cpu){ .online = 1, .hooks = KTRX_HOOK_THREAD };
	script_setting("debug.verbose", 1);
	script_setting("debug.ktr.state", 0);
	checking_run("optional\na: never broken switch-locked");
	assert_false(checking_rules->rule[0].checked);
	assert_string_equal(checking_rules->rule[0].why,
			    "debug.ktr.state is 0: ktrace_acquire() keeps no state");
	/*
	 * The hooks were called before debug.ktr.state became 0. A violation that a hook has stored counts.
	 * If none is stored, this does not prove that there was no violation.
	 */
	*script_cpu(0) = (struct ktrx_cpu){ .online = 1, .hooks = KTRX_HOOK_LOCK };
	*script_cpu(1) =
		(struct ktrx_cpu){ .online = 1, .hooks = KTRX_HOOK_LOCK, .broken = KTRX_BROKEN_RELEASE };
	checking_run("a: never broken release");
	checking_expect(0, 1, 1);
}

static void hooks_that_were_not_called_are_named(void **unused)
{
	(void)unused;
	script_event(WAKE, 10, 0, 1, V(1));
	*script_cpu(0) = (struct ktrx_cpu){ .online = 1, .hooks = KTRX_HOOK_LOCK };
	script_setting("debug.ktr.state", 1);
	checking_run("optional\na: never broken switch-locked");
	assert_string_equal(checking_rules->rule[0].why, "ktrace_switch() was not called");
}

/* Reads the default rules. */
static char *default_rules_text(void)
{
	FILE *file = fopen("share/default.rules", "r");
	char *text = calloc(1, 65536);

	assert_non_null(file);
	assert_true(fread(text, 1, 65535, file) > 0);
	fclose(file);
	return text;
}

/* Checks that each default rule can be violated, and that each script violates only the intended rules. */
static void each_default_rule_can_be_violated(void **state)
{
	static const char *const wanted[] = {
		"switch-in-interrupt",
		"sleep-in-interrupt",
		"syscall-in-interrupt",
		"run-without-wake",
		"run-after-death",
		"run-twice",
		"wake-after-death",
		"eoi-twice",
		"syscall-in-syscall",
		"fault-unfinished",
		"exec-after-exit",
		"exit-twice",
		"exit-with-lock",
		"return-with-lock",
		"switch-with-lock",
		"switch-with-preemption-off",
		"switch-in-handler",
		"unlock-unheld",
		"lock-held",
	};
	char *text = default_rules_text();
	uint32_t found = 0;

	(void)state;
	script_event(IRQ, 10, 0, 1, V(9))->context = KTRX_CONTEXT_INTERRUPT;
	script_event(BLOCK, 20, 0, 1, V(0x10), V(1))->context = KTRX_CONTEXT_INTERRUPT;
	script_event(ENTER, 25, 1, 3, V(1))->context = KTRX_CONTEXT_INTERRUPT;
	script_event(SWITCH, 30, 0, 1, V(1), V(2), V(1));
	script_event(SWITCH, 40, 0, 2, V(2), V(1), V(0)); /* thread 1 goes to sleep */
	script_event(SWITCH, 50, 1, 3, V(3), V(1), V(0)); /* a violation: thread 1 already runs on CPU 0 */
	script_event(EXIT, 60, 1, 1, V(1));
	script_event(SWITCH, 70, 1, 1, V(1), V(3), V(4));
	script_event(SWITCH, 80, 1, 3, V(3), V(1), V(0)); /* thread 1 has ended */
	script_event(EXIT, 90, 1, 1, V(1));
	script_event(SWITCH, 100, 1, 1, V(1), V(3), V(4));
	script_event(WAKE, 110, 1, 3, V(1));
	script_event(EOI, 120, 0, 2, V(9));
	script_event(EOI, 130, 0, 2, V(9));
	script_event(FAULT, 140, 1, 3, V(0));
	script_event(ENTER, 150, 1, 3, V(1));
	script_event(LOCK, 160, 1, 3, V(0x20));
	script_event(LEAVE, 170, 1, 3, V(1), V(0));
	script_event(END, 180, 1, 3, V(3), V(0));
	script_event(EXEC, 190, 1, 3, V(3), "x");
	script_event(END, 200, 1, 3, V(3), V(0));
	script_event(END, 205, 1, 3, V(3), V(0));
	script_event(EXIT, 210, 1, 3, V(3));
	for (uint32_t broken = 1; broken <= KTRX_BROKEN_ACQUIRE; broken++)
		*script_cpu(broken - 1) = (struct ktrx_cpu){ .hooks = 0x7f, .broken = broken };
	checking_run(text);
	for (uint32_t n = 0; n < checking_rules->count; n++) {
		if (checking_rules->rule[n].form == RULE_DEPTH)
			continue;
		if (!checking_rules->rule[n].checked || checking_result[n].violated == 0)
			print_message("%s: %s\n", checking_rules->rule[n].name, checking_rules->rule[n].why);
		assert_true(checking_rules->rule[n].checked);
		assert_true(checking_result[n].violated > 0);
		assert_string_equal(checking_rules->rule[n].name, wanted[found++]);
	}
	assert_int_equal(found, sizeof(wanted) / sizeof(wanted[0]));
	free(text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, checking_begin, checking_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(value_rules_are_checked),
		TEST(conditions_of_the_wrong_type_are_refused),
		TEST(order_rules_are_checked),
		TEST(latency_rules_are_checked),
		TEST(rate_rules_are_checked),
		TEST(clock_that_goes_back_makes_nothing_late),
		TEST(only_chosen_events_are_judged),
		TEST(depth_rules_are_checked),
		TEST(events_without_the_key_are_left_out),
		TEST(switch_before_the_end_of_an_interrupt_is_found),
		TEST(cpu_descriptors_count_if_their_hooks_are_called),
		TEST(mistakes_about_locks_need_the_table_of_holders),
		TEST(idle_threads_with_one_id_run_on_several_cpus),
		TEST(state_that_is_off_decides_nothing),
		TEST(hooks_that_were_not_called_are_named),
		TEST(each_default_rule_can_be_violated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
