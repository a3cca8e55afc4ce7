/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests which differences between two scripted traces are found, and which are ignored. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "diff/trace.h"
#include "ktrx/slot.h"
#include "unit/support/script.h"

#define V(value) ((uint64_t)(value))

enum { SWITCH = 1, BLOCK, WAKE, NOBODY, ENTER, RETURN, CREATE, EXIT, LOOKUP, TICK, DELIVER, SEND };

enum { BOSS = 10, FIRST, SECOND };
#define QUEUE 0x1000u
#define MS    1000000u

static uint64_t now;

static bool has_script;

static const char *return_fields = "u32 nr, i64 result";

static void begin(void)
{
	if (has_script)
		script_end();
	has_script = true;
	script_begin(2);
	script_info()->dumps = 1;
	script_type(SWITCH, "sched", "switch", "u32 prev, u32 next, u32 state");
	script_type(BLOCK, "sched", "block", "u64 queue");
	script_type(WAKE, "sched", "wake", "u32 thread");
	script_type(NOBODY, "sched", "wake_nobody", "u64 queue");
	script_type(ENTER, "syscall", "enter", "u32 nr, u64 a1");
	script_type(RETURN, "syscall", "exit", return_fields);
	script_type(CREATE, "sched", "create", "u32 thread, string name");
	script_type(EXIT, "sched", "exit", "");
	script_type(LOOKUP, "vfs", "lookup", "string path, u64 inode, i64 result");
	script_type(TICK, "irq", "enter", "u32 irq");
	script_type(DELIVER, "signal", "deliver", "u32 signal");
	script_type(SEND, "signal", "send", "u32 signal, u32 thread");
	now = 1000;
}

/* Reads the script. It stays valid until the next script begins. */
static struct diff_trace *end(void)
{
	struct diff_trace *trace;

	assert_int_equal(diff_read(&trace, script_trace(), "script"), 0);
	return trace;
}

static uint64_t later(void)
{
	return now += 100;
}

static void call(uint32_t thread, uint32_t number, uint64_t argument, int64_t result)
{
	script_event(ENTER, later(), 0, thread, V(number), argument);
	script_event(RETURN, later(), 0, thread, V(number), V(result));
}

static void lookup(uint32_t thread, const char *path)
{
	script_event(LOOKUP, later(), 0, thread, path, V(7), V(0));
}

static void create(uint32_t parent, uint32_t thread, const char *name)
{
	script_event(CREATE, later(), 0, parent, V(thread), name);
}

static void finish(uint32_t thread)
{
	script_event(EXIT, later(), 0, thread);
}

static void sleep_on(uint32_t thread, uint64_t queue)
{
	script_event(BLOCK, later(), 0, thread, queue);
	script_event(SWITCH, later(), 0, thread, V(thread), V(0), V(1));
}

static void wake(uint32_t by, uint32_t thread)
{
	script_event(WAKE, later(), 0, by, V(thread));
	script_event(SWITCH, later(), 1, 0, V(0), V(thread), V(0));
}

/* Compares two traces and frees them. The caller frees result.item. */
static struct diff_result compare(struct diff_trace *first, struct diff_trace *second)
{
	struct diff_trace *const trace[2] = { first, second };
	struct diff_result result;

	/*
	 * Only one script exists at a time, so this is the script of the second trace. Only types are read
	 * from it, and both scripts have the same types.
	 */
	first->trace = second->trace = script_trace();
	assert_int_equal(diff_compare(trace, 20, false, &result), 0);
	diff_trace_free(first);
	diff_trace_free(second);
	return result;
}

static void expect_same(struct diff_trace *first, struct diff_trace *second, uint64_t steps)
{
	struct diff_result result = compare(first, second);

	assert_int_equal(result.items, 0);
	assert_int_equal(result.undecided, 0);
	assert_int_equal(diff_verdict(&result), DIFF_VERDICT_SAME);
	assert_int_equal(result.compared, steps);
	free(result.item);
}

/* Two threads with three steps each. If `swap` is true, the second thread runs first. */
static struct diff_trace *two_threads(bool swap, uint32_t offset, int64_t result, const char *path)
{
	begin();
	create(BOSS, FIRST + offset, "first");
	create(BOSS, SECOND + offset, "second");
	for (uint32_t n = 0; n < 2; n++) {
		if ((n == 0) != swap) {
			call(FIRST + offset, 3, 17, 4);
			script_event(TICK, later(), 0, FIRST + offset, V(0))->context =
				KTRX_CONTEXT_INTERRUPT;
			call(FIRST + offset, 4, 5, result);
		} else {
			lookup(SECOND + offset, "/etc/motd");
			lookup(SECOND + offset, path);
		}
	}
	finish(FIRST + offset);
	finish(SECOND + offset);
	return end();
}

static void other_order_ids_and_times_are_noise(void **state)
{
	struct diff_result result;

	(void)state;
	expect_same(two_threads(false, 0, 4, "/bin"), two_threads(false, 0, 4, "/bin"), 8);
	expect_same(two_threads(false, 0, 4, "/bin"), two_threads(true, 100, 4, "/bin"), 8);
	result = compare(two_threads(false, 0, 4, "/bin"), two_threads(true, 0, 4, "/bin"));
	assert_int_equal(result.noise[DIFF_NOISE_INTERRUPT], 2);
	assert_true(result.noise[DIFF_NOISE_ORDER] > 0);
	free(result.item);
}

static void changed_result_is_found(void **state)
{
	struct diff_result result =
		compare(two_threads(false, 0, 4, "/bin"), two_threads(true, 0, -2, "/bin"));

	(void)state;
	assert_int_equal(result.items, 1);
	assert_int_equal(result.first.what, DIFF_CHANGED);
	assert_false(result.first.arguments);
	assert_true(result.first.event[0].known);
	assert_true(result.first.event[1].known);
	assert_int_equal(diff_verdict(&result), DIFF_VERDICT_DIFFERS);
	free(result.item);
}

/*
 * A thread makes `calls` calls that return EINTR. After each call, it records an event of type `type`; 0: no
 * event.
 */
static struct diff_trace *interrupted(uint32_t calls, uint32_t type)
{
	begin();
	call(BOSS, 1, 0, 0);
	for (uint32_t n = 0; n < calls; n++) {
		call(BOSS, 34, 0, -4);
		if (type == DELIVER)
			script_event(DELIVER, later(), 0, BOSS, V(10));
		else if (type)
			script_event(SEND, later(), 0, BOSS, V(10), V(FIRST));
	}
	call(BOSS, 2, 0, 0);
	finish(BOSS);
	return end();
}

static void calls_that_a_signal_interrupts_are_noise(void **state)
{
	struct diff_result result = compare(interrupted(1, DELIVER), interrupted(3, DELIVER));

	(void)state;
	assert_int_equal(result.items, 0);
	assert_int_equal(result.compared, 3);
	assert_int_equal(diff_verdict(&result), DIFF_VERDICT_SAME);
	free(result.item);
	for (uint32_t type = 0; type <= SEND; type += SEND) {
		result = compare(interrupted(1, type), interrupted(3, type));
		assert_true(result.items > 0);
		assert_int_equal(diff_verdict(&result), DIFF_VERDICT_DIFFERS);
		free(result.item);
	}
}

/* Thread FIRST makes `calls` calls before the signal `number`, which thread `by` sends, ends it. */
static struct diff_trace *killed(uint32_t calls, uint32_t by, uint32_t number)
{
	begin();
	create(BOSS, FIRST, "first");
	for (uint32_t n = 0; n < calls; n++)
		call(FIRST, 3, 17, 4);
	script_event(SEND, later(), 0, by, V(number), V(FIRST));
	script_event(DELIVER, later(), 0, FIRST, V(number));
	finish(FIRST);
	finish(BOSS);
	return end();
}

static void signal_of_another_thread_may_come_after_any_call(void **state)
{
	const struct {
		uint32_t by, number;
		enum diff_verdict verdict;
	} kills[] = { { BOSS, 15, DIFF_VERDICT_SAME },
		      { BOSS, 11, DIFF_VERDICT_DIFFERS },
		      { FIRST, 11, DIFF_VERDICT_DIFFERS },
		      { FIRST, 10, DIFF_VERDICT_DIFFERS } };

	(void)state;
	for (size_t n = 0; n < sizeof(kills) / sizeof(kills[0]); n++) {
		struct diff_result result = compare(killed(4, kills[n].by, kills[n].number),
						    killed(2, kills[n].by, kills[n].number));

		assert_int_equal(diff_verdict(&result), kills[n].verdict);
		free(result.item);
	}
}

static void step_with_another_string_is_missing_and_extra(void **state)
{
	struct diff_result result =
		compare(two_threads(false, 0, 4, "/bin"), two_threads(false, 0, 4, "/lib"));

	(void)state;
	assert_int_equal(result.count[DIFF_MISSING], 1);
	assert_int_equal(result.count[DIFF_EXTRA], 1);
	assert_int_equal(result.first.what, DIFF_MISSING);
	assert_true(result.last[1].known);
	free(result.item);
}

/*
 * Two threads sleep, and the boss wakes both. If `swapped` is true, it wakes another queue than that of the
 * first thread, so the first thread sleeps for ever.
 */
static struct diff_trace *wakeups(bool swapped)
{
	begin();
	create(BOSS, FIRST, "first");
	create(BOSS, SECOND, "second");
	lookup(FIRST, "/a");
	sleep_on(FIRST, QUEUE);
	lookup(SECOND, "/b");
	sleep_on(SECOND, 2 * QUEUE);
	call(BOSS, 1, 0, 0);
	if (swapped)
		script_event(NOBODY, later(), 0, BOSS, V(QUEUE + 8));
	else
		wake(BOSS, FIRST);
	call(BOSS, 2, 0, 0);
	wake(BOSS, SECOND);
	lookup(SECOND, "/c");
	finish(SECOND);
	if (!swapped) {
		lookup(FIRST, "/d");
		finish(FIRST);
	}
	now += 10 * MS;
	call(BOSS, 3, 0, 0);
	finish(BOSS);
	return end();
}

static void missing_wakeup_explains_missing_steps(void **state)
{
	struct diff_result result = compare(wakeups(false), wakeups(true));

	(void)state;
	assert_int_equal(result.count[DIFF_MISSING], 2);
	assert_int_equal(result.first.what, DIFF_WAKEUP);
	assert_int_equal(result.first.asleep, 1);
	assert_true(result.first.event[0].known);
	assert_false(result.first.event[1].known);
	assert_true(result.sleep.known);
	free(result.item);

	result = compare(wakeups(true), wakeups(false));
	assert_int_equal(result.count[DIFF_EXTRA], 2);
	assert_int_equal(result.first.what, DIFF_WAKEUP);
	assert_int_equal(result.first.asleep, 0);
	assert_true(result.first.event[1].known);
	free(result.item);
}

/* A trace in which slots are lost before the third lookup; `steps`: number of lookups without a gap. */
static struct diff_trace *lookups(uint32_t steps, uint64_t lost)
{
	static const char *const path[] = { "/a", "/b", "/c", "/d", "/e" };

	begin();
	for (uint32_t n = 0; n < 5; n++) {
		if (n == 2 && lost)
			continue;
		if (n >= steps)
			break;
		if (n == 3 && lost)
			script_event(LOOKUP, later(), 0, BOSS, path[n], V(7), V(0))->lost = lost;
		else
			lookup(BOSS, path[n]);
	}
	finish(BOSS);
	return end();
}

static void steps_in_a_gap_are_undecided(void **state)
{
	struct diff_result result;

	(void)state;
	for (int swapped = 0; swapped < 2; swapped++) {
		struct diff_trace *whole = lookups(5, 0), *cut = lookups(5, 3);

		result = swapped ? compare(cut, whole) : compare(whole, cut);
		assert_int_equal(result.items, 0);
		assert_int_equal(result.undecided, 1);
		assert_int_equal(diff_verdict(&result), DIFF_VERDICT_UNDECIDED);
		free(result.item);
	}
	/* A difference outside of the gap is reported. */
	result = compare(lookups(5, 3), lookups(4, 3));
	assert_int_equal(result.count[DIFF_MISSING], 1);
	assert_int_equal(result.undecided, 0);
	free(result.item);
}

/* A thread ends, and its id is used again by a thread with a different name. */
static struct diff_trace *same_id(uint32_t second)
{
	begin();
	create(BOSS, FIRST, "first");
	lookup(FIRST, "/a");
	finish(FIRST);
	create(BOSS, second, "second");
	lookup(second, "/b");
	finish(second);
	return end();
}

static void id_that_is_used_again_is_another_thread(void **state)
{
	(void)state;
	expect_same(same_id(FIRST), same_id(SECOND), 6);
}

/* According to the events, each of two threads has created the other one. */
static struct diff_trace *circle(void)
{
	begin();
	create(FIRST, SECOND, "second");
	create(SECOND, FIRST, "first");
	create(BOSS, BOSS, "boss");
	lookup(FIRST, "/a");
	return end();
}

static void threads_that_made_each_other_are_compared(void **state)
{
	(void)state;
	expect_same(circle(), circle(), 4);
}

static struct diff_trace *backwards(uint64_t step)
{
	begin();
	for (uint32_t n = 0; n < 5; n++) {
		call(BOSS, n, 0, 0);
		now -= step;
	}
	return end();
}

static void clock_that_goes_backwards_is_noise(void **state)
{
	(void)state;
	expect_same(backwards(0), backwards(150), 5);
}

static struct diff_trace *nothing(void)
{
	begin();
	return end();
}

static void empty_traces_are_the_same(void **state)
{
	struct diff_result result;

	(void)state;
	expect_same(nothing(), nothing(), 0);
	result = compare(nothing(), lookups(5, 0));
	assert_int_equal(result.count[DIFF_EXTRA], 6);
	free(result.item);
}

static struct diff_trace *calls(uint64_t first, uint64_t step, uint32_t count)
{
	begin();
	for (uint32_t n = 0; n < count; n++) {
		script_event(ENTER, later(), 0, BOSS, V(1), V(0));
		now += first + n % 5 * step;
		script_event(RETURN, now, 0, BOSS, V(1), V(0));
	}
	return end();
}

static void slower_calls_are_found_if_there_are_enough(void **state)
{
	struct diff_result result = compare(calls(1000, 10, 40), calls(1500, 10, 40));

	(void)state;
	assert_int_equal(result.items, 0);
	assert_int_equal(result.slowers, 1);
	assert_true(result.slower[0].low > 1.4 && result.slower[0].low < result.slower[0].ratio);
	assert_true(result.slower[0].high < 1.6 && result.slower[0].high > result.slower[0].ratio);
	free(result.item);
	result = compare(calls(1000, 300, 40), calls(1100, 300, 40));
	assert_int_equal(result.slowers, 0);
	free(result.item);
	result = compare(calls(1000, 10, 29), calls(1500, 10, 29));
	assert_int_equal(result.slowers, 0);
	assert_int_equal(result.too_few, 1);
	free(result.item);
}

static struct diff_trace *one_call(int64_t result)
{
	begin();
	call(BOSS, 1, 0, result);
	finish(BOSS);
	return end();
}

static void narrow_results_have_a_sign(void **state)
{
	struct diff_result result;

	(void)state;
	return_fields = "u32 nr, i32 result";
	result = compare(one_call(-2), one_call(-3));
	assert_int_equal(result.count[DIFF_CHANGED], 1);
	free(result.item);
	return_fields = "u32 nr, i64 result";
}

/* A thread is woken three times and then sleeps. The timestamp of the last event is too low by `back`. */
static struct diff_trace *sleeps_last(uint64_t back)
{
	begin();
	create(BOSS, FIRST, "first");
	for (uint32_t n = 0; n < 3; n++) {
		sleep_on(FIRST, QUEUE);
		wake(BOSS, FIRST);
		lookup(FIRST, "/a");
	}
	sleep_on(FIRST, QUEUE);
	now -= back;
	finish(BOSS);
	return end();
}

static void last_event_with_an_early_stamp_is_no_long_sleep(void **state)
{
	(void)state;
	expect_same(sleeps_last(0), sleeps_last(500), 5);
	expect_same(sleeps_last(500), sleeps_last(0), 5);
}

static void calls_that_one_trace_does_not_record_are_undecided(void **state)
{
	struct diff_trace *trace[2];
	struct diff_result result;

	(void)state;
	for (int recorded = 0; recorded < 2; recorded++) {
		trace[0] = one_call(1);
		begin();
		finish(BOSS);
		trace[1] = end();
		assert_true(trace[1]->calls);
		trace[1]->calls = recorded;
		result = compare(trace[0], trace[1]);
		assert_int_equal(result.undecided, !recorded);
		assert_int_equal(diff_verdict(&result),
				 recorded ? DIFF_VERDICT_DIFFERS : DIFF_VERDICT_UNDECIDED);
		free(result.item);
	}
}

/* The event of the return of the first call is lost. */
static struct diff_trace *call_without_end(void)
{
	begin();
	script_event(ENTER, later(), 0, BOSS, V(1), V(0));
	script_event(LOOKUP, later(), 0, BOSS, "/a", V(7), V(0))->lost = 1;
	finish(BOSS);
	return end();
}

/* The thread makes a step in the call, and another one after it. The event of the return may be lost. */
static struct diff_trace *call_with_step(bool is_lost)
{
	begin();
	script_event(ENTER, later(), 0, BOSS, V(1), V(0));
	lookup(BOSS, "/a");
	if (!is_lost)
		script_event(RETURN, later(), 0, BOSS, V(1), V(-2));
	script_event(LOOKUP, later(), 0, BOSS, "/b", V(7), V(0))->lost = is_lost;
	finish(BOSS);
	return end();
}

static struct diff_trace *call_with_end(void)
{
	begin();
	call(BOSS, 1, 0, -2);
	lookup(BOSS, "/a");
	finish(BOSS);
	return end();
}

static void result_in_a_gap_is_undecided(void **state)
{
	struct diff_result result;

	(void)state;
	for (int swapped = 0; swapped < 2; swapped++) {
		struct diff_trace *whole = call_with_end(), *cut = call_without_end();

		result = swapped ? compare(cut, whole) : compare(whole, cut);
		assert_int_equal(result.items, 0);
		assert_int_equal(result.undecided, 1);
		free(result.item);
	}
	expect_same(call_without_end(), call_without_end(), 3);
	result = compare(call_with_step(false), call_with_step(true));
	assert_int_equal(result.items, 0);
	assert_int_equal(result.undecided, 1);
	free(result.item);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(other_order_ids_and_times_are_noise),
		cmocka_unit_test(changed_result_is_found),
		cmocka_unit_test(calls_that_a_signal_interrupts_are_noise),
		cmocka_unit_test(signal_of_another_thread_may_come_after_any_call),
		cmocka_unit_test(step_with_another_string_is_missing_and_extra),
		cmocka_unit_test(missing_wakeup_explains_missing_steps),
		cmocka_unit_test(steps_in_a_gap_are_undecided),
		cmocka_unit_test(id_that_is_used_again_is_another_thread),
		cmocka_unit_test(threads_that_made_each_other_are_compared),
		cmocka_unit_test(clock_that_goes_backwards_is_noise),
		cmocka_unit_test(empty_traces_are_the_same),
		cmocka_unit_test(slower_calls_are_found_if_there_are_enough),
		cmocka_unit_test(calls_that_one_trace_does_not_record_are_undecided),
		cmocka_unit_test(result_in_a_gap_is_undecided),
		cmocka_unit_test(narrow_results_have_a_sign),
		cmocka_unit_test(last_event_with_an_early_stamp_is_no_long_sleep),
	};

	const int failed = cmocka_run_group_tests(tests, NULL, NULL);

	script_end();
	return failed;
}
