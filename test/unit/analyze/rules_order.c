/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests rules whose verdict depends on the order of events of different CPUs. Each clock has an error of 10
 * ns.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/rules.h"
#include "unit/support/script.h"

#define V(value) ((uint64_t)(value))
#define CLOSE	 20u /* sum of the errors of two clocks, in ns */
#define FAR	 21u

#define RUN   "a: never sched.switch (prev != next, next != 0) while next is sleeping or waiting"
#define AFTER "a: never process.exec after process.exit unless process.fork by process"
#define WITHIN \
	"a: every sched.wake then process.exec within 1us unless process.fork by thread/process/process"
#define DEPTH                                                                                           \
	"depth d: up process.fork, down process.exit by process\na: never process.exec while d > 0 by " \
	"process"
#define BY_CPU	"a: never process.exec after process.exit by @cpu, process"
#define DECIDED "a: always process.exec has (process > 100)"

enum { SWITCH = 1, BLOCK, WAKE, FORK, EXEC, END };

static struct check_result result;

static int begin(void **state)
{
	struct ktread_info *info;

	(void)state;
	script_begin(2);
	info = script_info();
	info->clock = KTREAD_CLOCK_MEASURED;
	info->clock_cpus = info->cpus - 1;
	info->clock_samples = 8;
	info->clock_error = CLOSE / 2;
	info->clock_to = UINT64_MAX;
	script_type(SWITCH, "sched", "switch", "u32 prev,u32 next,u8 state");
	script_type(BLOCK, "sched", "block", "u64 queue,u32 thread");
	script_type(WAKE, "sched", "wake", "u32 thread");
	script_type(FORK, "process", "fork", "u32 process");
	script_type(EXEC, "process", "exec", "u32 process");
	script_type(END, "process", "exit", "u32 process");
	return 0;
}

static int end(void **state)
{
	(void)state;
	script_end();
	return 0;
}

static void forget(void)
{
	end(NULL);
	begin(NULL);
}

static void count(void *context, const struct check_violation *violation)
{
	(void)violation;
	++*(uint64_t *)context;
}

static void check(const char *text, uint64_t violated, uint64_t unordered, uint64_t uncertain)
{
	struct check_result results[RULES_MAX];
	struct rules_error error;
	struct rules *rules;
	uint64_t reported = 0;

	memset(results, 0, sizeof(results));
	assert_int_equal(rules_parse(&rules, text, strlen(text), &error), 0);
	assert_int_equal(rules_bind(rules, script_trace(), &error), 0);
	assert_int_equal(ktread_rewind(script_trace()), 0);
	assert_int_equal(check_read(rules, script_trace(), 0, results, count, &reported), 0);
	result = results[rules->count - 1];
	assert_int_equal(result.violated, violated);
	assert_int_equal(result.unordered, unordered);
	assert_int_equal(result.uncertain, uncertain);
	assert_int_equal(reported, violated);
	free(rules);
}

/* Thread 5 goes to sleep on CPU 0 at 1000, and runs on CPU 1 at 5000. */
static void sleep_and_run(void)
{
	script_event(SWITCH, 500, 0, 0, V(1), V(5), V(0));
	script_event(BLOCK, 999, 0, 5, V(0x77), V(5));
	script_event(SWITCH, 1000, 0, 5, V(5), V(1), V(1));
	script_event(SWITCH, 5000, 1, 2, V(2), V(5), V(0));
}

static void wakeup_shortly_after_its_effect_is_unordered(void **state)
{
	(void)state;
	sleep_and_run();
	script_event(WAKE, 5000 + CLOSE, 2, 9, V(5));
	check(RUN, 0, 1, 0);
	forget();
	sleep_and_run();
	script_event(WAKE, 5000 + FAR, 2, 9, V(5));
	check(RUN, 1, 0, 0);
	forget();
	/* The order of events of the same CPU is certain. */
	sleep_and_run();
	script_event(WAKE, 5000 + CLOSE, 1, 5, V(5));
	check(RUN, 1, 0, 0);
}

static void wakeup_shortly_before_the_sleep_is_unordered(void **state)
{
	(void)state;
	script_event(WAKE, 1000 - CLOSE, 2, 9, V(5));
	sleep_and_run();
	script_sort();
	check(RUN, 0, 1, 0);
	forget();
	script_event(WAKE, 998 - FAR, 2, 9, V(5));
	sleep_and_run();
	script_sort();
	check(RUN, 1, 0, 0);
}

/*
 * The host may pause a CPU between a thread's announcement that it will sleep and its switch. A wakeup in
 * this pause has a timestamp long before the switch. Because of the clocks' errors, this timestamp may even
 * be slightly before the announcement.
 */
static void put_late_switch(uint64_t wake)
{
	script_event(SWITCH, 500, 0, 0, V(1), V(5), V(0));
	script_event(WAKE, wake, 2, 9, V(5));
	script_event(BLOCK, 1000, 0, 5, V(0x77), V(5));
	script_event(SWITCH, 9000, 0, 5, V(5), V(1), V(1));
	script_event(SWITCH, 9040, 0, 1, V(1), V(5), V(0));
}

static void wakeup_shortly_before_the_announcement_is_unordered(void **state)
{
	(void)state;
	put_late_switch(1000 - CLOSE);
	check(RUN, 0, 1, 0);
	forget();
	put_late_switch(1000 - FAR);
	check(RUN, 1, 0, 0);
	/* This wakeup does not count as a wakeup from the next sleep. */
	forget();
	put_late_switch(1000 - CLOSE);
	script_event(BLOCK, 10000, 0, 5, V(0x77), V(5));
	script_event(SWITCH, 10001, 0, 5, V(5), V(1), V(1));
	script_event(SWITCH, 12000, 0, 1, V(1), V(5), V(0));
	check(RUN, 1, 1, 0);
}

static void cause_on_another_cpu_must_be_clearly_earlier(void **state)
{
	(void)state;
	script_event(END, 1000, 0, 1, V(7));
	script_event(EXEC, 1000 + CLOSE, 1, 2, V(7));
	check(AFTER, 0, 1, 0);
	forget();
	script_event(END, 1000, 0, 1, V(7));
	script_event(EXEC, 1000 + FAR, 1, 2, V(7));
	check(AFTER, 1, 0, 0);
	forget();
	script_event(END, 1000, 0, 1, V(7));
	script_event(EXEC, 1001, 0, 2, V(7));
	check(AFTER, 1, 0, 0);
	forget();
	/* A rule about process 7 does not depend on the fork that makes process 8. */
	script_event(END, 1000, 0, 1, V(7));
	script_event(FORK, 2000, 1, 1, V(8));
	script_event(EXEC, 2001, 0, 2, V(7));
	check(AFTER, 1, 0, 0);
}

static void close_release_may_have_come_before(void **state)
{
	(void)state;
	script_event(END, 1000, 0, 1, V(7));
	script_event(EXEC, 2000, 0, 2, V(7));
	script_event(FORK, 2000 + CLOSE, 1, 2, V(7));
	check(AFTER, 0, 1, 0);
	forget();
	script_event(FORK, 1000 - CLOSE, 1, 1, V(7));
	script_event(END, 1000, 0, 1, V(7));
	script_event(EXEC, 9000, 0, 2, V(7));
	check(AFTER, 0, 1, 0);
}

static void close_answer_before_its_question_counts(void **state)
{
	(void)state;
	script_event(EXEC, 1000, 1, 1, V(7));
	script_event(WAKE, 1000 + CLOSE, 0, 1, V(7));
	script_event(FORK, 9000, 2, 1, V(1)); /* an event that only advances the time */
	check(WITHIN, 0, 1, 0);
	forget();
	script_event(EXEC, 1000, 1, 1, V(7));
	script_event(WAKE, 1000 + FAR, 0, 1, V(7));
	script_event(FORK, 9000, 2, 1, V(1));
	check(WITHIN, 1, 0, 0);
}

static void time_just_exceeded_is_unordered(void **state)
{
	(void)state;
	script_event(WAKE, 1000, 0, 1, V(7));
	script_event(EXEC, 2000 + CLOSE, 1, 1, V(7));
	check(WITHIN, 0, 1, 0);
	forget();
	script_event(WAKE, 1000, 0, 1, V(7));
	script_event(EXEC, 2000 + FAR, 1, 1, V(7));
	check(WITHIN, 1, 0, 0);
	forget();
	script_event(WAKE, 1000, 0, 1, V(7));
	script_event(EXEC, 2001, 0, 1, V(7));
	check(WITHIN, 1, 0, 0);
}

static void depth_needs_ordered_events(void **state)
{
	(void)state;
	script_event(FORK, 1000, 0, 1, V(7));
	script_event(EXEC, 2000, 1, 1, V(7));
	script_event(END, 2000 + CLOSE, 0, 1, V(7));
	check(DEPTH, 0, 1, 0);
	forget();
	script_event(FORK, 1000, 0, 1, V(7));
	script_event(EXEC, 2000, 1, 1, V(7));
	script_event(END, 2000 + FAR, 0, 1, V(7));
	check(DEPTH, 1, 0, 0);
}

static void rules_without_order_are_decided(void **state)
{
	(void)state;
	script_event(END, 1000, 0, 1, V(7));
	script_event(EXEC, 1001, 0, 1, V(7));
	script_event(FORK, 1002, 1, 1, V(7));
	check(BY_CPU, 1, 0, 0);
	check(DECIDED, 1, 0, 0);
}

/*
 * At the same time, 100 violations wait for a decision, but only 64 can be stored. The other 36 are counted
 * as unordered.
 */
static void waiting_violations_beyond_the_limit_are_unordered(void **state)
{
	(void)state;
	for (uint64_t n = 0; n < 100; n++)
		script_event(END, 1000, 0, 1, V(n));
	for (uint64_t n = 0; n < 100; n++)
		script_event(EXEC, 2000, 0, 1, V(n));
	check(AFTER, 64, 36, 0);
}

/*
 * The alignment (ktread_align()) may have moved each clock by up to its measured error, in addition to that
 * error. So the order of two events is uncertain up to a distance of 2 * CLOSE, instead of CLOSE. At greater
 * distances, a violation is certain.
 */
static void aligned_measured_clocks_double_the_doubt(void **state)
{
	(void)state;
	sleep_and_run();
	script_event(WAKE, 5000 + 2 * CLOSE, 2, 9, V(5));
	script_info()->clock = KTREAD_CLOCK_ALIGNED;
	check(RUN, 0, 1, 0);
	forget();
	sleep_and_run();
	script_event(WAKE, 5000 + 2 * CLOSE + 1, 2, 9, V(5));
	script_info()->clock = KTREAD_CLOCK_ALIGNED;
	check(RUN, 1, 0, 0);
}

/*
 * The errors of the clocks are unknown. All violations count. Violations that depend on the clocks are also
 * counted separately.
 */
static void without_measurement_violations_are_uncertain(void **state)
{
	(void)state;
	script_info()->clock = KTREAD_CLOCK_RAW;
	sleep_and_run();
	check(RUN, 1, 0, 1);
	forget();
	script_info()->clock = KTREAD_CLOCK_RAW;
	script_event(END, 1000, 0, 1, V(7));
	script_event(EXEC, 900000, 1, 2, V(7));
	check(AFTER, 1, 0, 1);
	forget();
	script_info()->clock = KTREAD_CLOCK_RAW;
	script_event(END, 1000, 0, 1, V(7));
	script_event(EXEC, 900000, 0, 2, V(7));
	check(AFTER, 1, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(wakeup_shortly_after_its_effect_is_unordered, begin, end),
		cmocka_unit_test_setup_teardown(wakeup_shortly_before_the_sleep_is_unordered, begin, end),
		cmocka_unit_test_setup_teardown(wakeup_shortly_before_the_announcement_is_unordered, begin,
						end),
		cmocka_unit_test_setup_teardown(cause_on_another_cpu_must_be_clearly_earlier, begin, end),
		cmocka_unit_test_setup_teardown(close_release_may_have_come_before, begin, end),
		cmocka_unit_test_setup_teardown(close_answer_before_its_question_counts, begin, end),
		cmocka_unit_test_setup_teardown(time_just_exceeded_is_unordered, begin, end),
		cmocka_unit_test_setup_teardown(depth_needs_ordered_events, begin, end),
		cmocka_unit_test_setup_teardown(rules_without_order_are_decided, begin, end),
		cmocka_unit_test_setup_teardown(waiting_violations_beyond_the_limit_are_unordered, begin,
						end),
		cmocka_unit_test_setup_teardown(aligned_measured_clocks_double_the_doubt, begin, end),
		cmocka_unit_test_setup_teardown(without_measurement_violations_are_uncertain, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
