/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests which spans begin and end in scripted events. Each beginning and end is compared as a line of text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/scheduling.h"
#include "analyze/spans.h"
#include "ktrx/slot.h"
#include "unit/support/script.h"

#define V(value) ((uint64_t)(value))

enum {
	SWITCH = 1,
	EXIT,
	ENTER,
	RETURN,
	IRQ_ENTER,
	IRQ_EXIT,
	FAULT_ENTER,
	FAULT_EXIT,
	CONTEND,
	ACQUIRE,
	RELEASE,
	FAIL,
	SWITCHED
};

static struct wellknown_table *table;
static struct threads *threads;
static struct spans *spans;
static char *output;
static size_t output_size;
static FILE *stream;
static unsigned fed;

static void ignore_change(void *context, const struct threads_change *change)
{
	(void)context;
	(void)change;
}

static void print_span(const char *what, struct spans_owner owner, unsigned lane,
		       const struct spans_span *span, uint64_t time)
{
	const char *kind = span->kind == WELLKNOWN_SYSCALL_ENTER  ? "call"
			   : span->kind == WELLKNOWN_IRQ_ENTER	  ? "irq"
			   : span->kind == WELLKNOWN_FAULT_ENTER  ? "fault"
			   : span->kind == WELLKNOWN_LOCK_CONTEND ? "wait"
								  : "hold";
	uint32_t id = owner.cpu ? owner.number : threads_at(threads, owner.number)->id;

	fprintf(stream, "%llu %s%u/%u %s %s %llu\n", (unsigned long long)time, owner.cpu ? "cpu" : "", id,
		lane, what, kind, (unsigned long long)span->key);
}

static void begun(void *context, struct spans_owner owner, unsigned lane, const struct spans_span *span,
		  const struct ktread_event *event)
{
	(void)context;
	print_span("begins", owner, lane, span, event->stamp);
}

static void ended(void *context, struct spans_owner owner, unsigned lane, const struct spans_span *span,
		  const struct ktread_event *event, uint64_t time)
{
	(void)context;
	print_span(event ? "ends" : "is cut", owner, lane, span, time);
}

static int begin(void **state)
{
	const struct spans_sink sink = { .begin = begun, .end = ended };

	(void)state;
	script_begin(2);
	script_type(SWITCH, "sched", "switch", "u32 prev,u32 next");
	script_type(EXIT, "sched", "exit", "");
	script_type(ENTER, "syscall", "enter", "u16 nr");
	script_type(RETURN, "syscall", "exit", "u16 nr");
	script_type(IRQ_ENTER, "irq", "enter", "u8 irq");
	script_type(IRQ_EXIT, "irq", "exit", "");
	script_type(FAULT_ENTER, "mm", "fault_enter", "pointer address");
	script_type(FAULT_EXIT, "mm", "fault_exit", "");
	script_type(CONTEND, "lock", "contend", "pointer lock");
	script_type(ACQUIRE, "lock", "acquire", "pointer lock");
	script_type(RELEASE, "lock", "release", "pointer lock");
	script_type(FAIL, "lock", "fail", "pointer lock");
	script_type(SWITCHED, "ktrace", "switched", "u16 first,u16 last,u8 state");
	fed = 0;
	table = calloc(1, sizeof(*table));
	stream = open_memstream(&output, &output_size);
	return threads_create(&threads, ignore_change, NULL) | spans_create(&spans, threads, &sink) |
	       spans_track_switches(spans, script_trace());
}

static int end(void **state)
{
	(void)state;
	spans_destroy(spans);
	threads_destroy(threads);
	fclose(stream);
	free(output);
	free(table);
	script_end();
	return 0;
}

/*
 * Passes the events that were scripted since the last call of feed() to `spans`. Returns how many of these
 * events neither began nor ended a span.
 */
static unsigned feed(void)
{
	unsigned plain = 0;

	for (; fed < script_count(); fed++) {
		const struct ktread_event *event = script_at(fed);
		const struct wellknown *known = wellknown_of(table, event);

		assert_int_equal(threads_event(threads, event, known, event->stamp), 0);
		plain += spans_event(spans, event, known, event->stamp) == 0;
	}
	return plain;
}

static void expect(const char *lines, unsigned unpaired)
{
	fflush(stream);
	assert_string_equal(output, lines);
	assert_int_equal(spans_unpaired(spans), unpaired);
}

static void calls_nest_faults(void **state)
{
	(void)state;
	script_event(ENTER, 10, 0, 1, V(3));
	script_event(FAULT_ENTER, 20, 0, 1, V(0x1000));
	script_event(SWITCH, 30, 0, 1, V(1), V(2));
	script_event(SWITCH, 40, 1, 5, V(5), V(1));
	script_event(FAULT_EXIT, 50, 1, 1);
	script_event(RETURN, 60, 1, 1, V(3));
	assert_int_equal(feed(), 2);
	expect("10 1/0 begins call 3\n"
	       "20 1/0 begins fault 4096\n"
	       "50 1/0 ends fault 4096\n"
	       "60 1/0 ends call 3\n",
	       0);
}

static void ends_need_their_beginnings(void **state)
{
	(void)state;
	script_event(RETURN, 10, 0, 1, V(3));
	script_event(ENTER, 20, 0, 1, V(4));
	script_event(RETURN, 30, 0, 1, V(5));
	script_event(FAULT_ENTER, 40, 0, 1, V(1));
	script_event(RETURN, 50, 0, 1, V(4));
	script_event(ENTER, 60, 0, 1, V(6));
	script_event(ENTER, 70, 0, 1, V(7));
	assert_int_equal(feed(), 2);
	expect("20 1/0 begins call 4\n"
	       "40 1/0 begins fault 1\n"
	       "50 1/0 is cut fault 1\n"
	       "50 1/0 ends call 4\n"
	       "60 1/0 begins call 6\n"
	       "70 1/0 is cut call 6\n"
	       "70 1/0 begins call 7\n",
	       4);
}

static void interrupts_belong_to_cpus(void **state)
{
	(void)state;
	script_event(IRQ_ENTER, 10, 1, 7, V(3))->context = KTRX_CONTEXT_INTERRUPT;
	script_event(IRQ_ENTER, 20, 1, 7, V(4))->context = KTRX_CONTEXT_INTERRUPT;
	script_event(IRQ_EXIT, 30, 1, 7)->context = KTRX_CONTEXT_INTERRUPT;
	script_event(SWITCH, 40, 1, 7, V(7), V(8));
	script_event(IRQ_EXIT, 50, 2, 7);
	assert_int_equal(feed(), 2);
	expect("10 cpu1/0 begins irq 3\n"
	       "20 cpu1/0 begins irq 4\n"
	       "30 cpu1/0 ends irq 4\n"
	       "40 cpu1/0 is cut irq 3\n",
	       1);
}

static void locks_end_in_any_order(void **state)
{
	(void)state;
	script_event(ACQUIRE, 10, 0, 1, V(100));
	script_event(CONTEND, 20, 0, 1, V(200));
	script_event(ACQUIRE, 30, 0, 1, V(200));
	script_event(RELEASE, 40, 0, 1, V(100));
	script_event(ACQUIRE, 50, 0, 1, V(300));
	script_event(RELEASE, 60, 0, 1, V(200));
	script_event(RELEASE, 70, 0, 1, V(400));
	assert_int_equal(feed(), 1);
	expect("10 1/1 begins hold 100\n"
	       "20 1/2 begins wait 200\n"
	       "30 1/2 ends wait 200\n"
	       "30 1/2 begins hold 200\n"
	       "40 1/1 ends hold 100\n"
	       "50 1/1 begins hold 300\n"
	       "60 1/2 ends hold 200\n",
	       1);
}

/* A later acquire of the same lock does not belong to a wait that was given up. */
static void a_wait_ends_when_the_thread_gives_up(void **state)
{
	(void)state;
	script_event(CONTEND, 10, 0, 1, V(100));
	script_event(FAIL, 20, 0, 1, V(200));
	script_event(FAIL, 30, 0, 1, V(100));
	script_event(ACQUIRE, 40, 0, 1, V(100));
	script_event(FAIL, 50, 0, 1, V(100));
	script_event(RELEASE, 60, 0, 1, V(100));
	assert_int_equal(feed(), 3);
	expect("10 1/1 begins wait 100\n"
	       "30 1/1 ends wait 100\n"
	       "40 1/1 begins hold 100\n"
	       "60 1/1 ends hold 100\n",
	       0);
}

static void spans_beyond_the_limit_are_ignored(void **state)
{
	(void)state;
	for (unsigned i = 0; i <= SPANS_LOCKS; i++)
		script_event(ACQUIRE, 10 + 2 * i, 0, 1, V(i));
	for (unsigned i = 0; i <= SPANS_NEST; i++)
		script_event(FAULT_ENTER, 100 + 2 * i, 0, 1, V(i));
	assert_int_equal(feed(), 2);
}

static void dead_threads_hold_nothing(void **state)
{
	(void)state;
	script_event(ENTER, 10, 0, 1, V(60));
	script_event(EXIT, 20, 0, 1);
	script_event(SWITCH, 30, 0, 1, V(1), V(2));
	feed();
	expect("10 1/0 begins call 60\n"
	       "30 1/0 is cut call 60\n",
	       0);
}

/* Slots of CPU 0 are lost. Spans of threads that ran only on CPU 1 are certain, all others are not. */
static void gaps_end_spans_that_may_have_ended(void **state)
{
	(void)state;
	script_event(ENTER, 10, 0, 1, V(1));
	script_event(ENTER, 12, 1, 2, V(2));
	script_event(ENTER, 14, 2, 3, V(3));
	script_event(SWITCH, 16, 2, 3, V(3), V(4));
	feed();
	threads_gap(threads, 0, 20);
	spans_gap(spans, 0, 20);
	script_event(RETURN, 50, 0, 1, V(1));
	script_event(RETURN, 52, 1, 2, V(2));
	assert_int_equal(feed(), 1);
	spans_finish(spans);
	expect("10 1/0 begins call 1\n"
	       "12 2/0 begins call 2\n"
	       "14 3/0 begins call 3\n"
	       "10 1/0 is cut call 1\n"
	       "52 2/0 ends call 2\n"
	       "16 3/0 is cut call 3\n",
	       3);
}

/* If the call at 30 were paired with the return at 90, its duration would seem to be 60. */
/* The lock is released and taken again while the two events are folded. */
static void folded_events_may_have_ended_a_span(void **state)
{
	struct gaps *gaps;

	(void)state;
	script_event(ACQUIRE, 10, 0, 1, V(0x10));
	script_event(RELEASE, 20, 0, 1, V(0x10));
	script_event(ACQUIRE, 30, 0, 1, V(0x20));
	script_event(RELEASE, 90, 0, 1, V(0x20));
	script_fold(ACQUIRE, 50, 60);
	assert_int_equal(gaps_read(&gaps, script_trace()), 0);
	spans_know_gaps(spans, gaps);
	assert_int_equal(feed(), 1);
	expect("10 1/1 begins hold 16\n"
	       "20 1/1 ends hold 16\n"
	       "30 1/1 begins hold 32\n"
	       "30 1/1 is cut hold 32\n",
	       2);
	gaps_free(gaps);
}

static void spans_end_where_their_events_are_switched_off(void **state)
{
	(void)state;
	script_event(ENTER, 10, 0, 1, V(1));
	script_event(ACQUIRE, 12, 0, 1, V(100));
	script_event(IRQ_ENTER, 14, 1, 7, V(3))->context = KTRX_CONTEXT_INTERRUPT;
	script_event(SWITCHED, 20, 2, 9, V(RETURN), V(RETURN), V(0));
	script_event(ENTER, 30, 0, 1, V(1));
	script_event(SWITCHED, 40, 2, 9, V(RETURN), V(RETURN), V(1));
	script_event(ENTER, 50, 0, 1, V(1));
	script_event(RETURN, 60, 0, 1, V(1));
	script_event(RELEASE, 70, 0, 1, V(100));
	script_event(IRQ_EXIT, 80, 1, 7)->context = KTRX_CONTEXT_INTERRUPT;
	script_event(RETURN, 90, 0, 1, V(1));
	feed();
	expect("10 1/0 begins call 1\n"
	       "12 1/1 begins hold 100\n"
	       "14 cpu1/0 begins irq 3\n"
	       "20 1/0 is cut call 1\n"
	       "50 1/0 begins call 1\n"
	       "60 1/0 ends call 1\n"
	       "70 1/1 ends hold 100\n"
	       "80 cpu1/0 ends irq 3\n",
	       2);
}

/* The trace contains no record of the time when the events were disabled. */
static void spans_end_where_their_events_are_switched_on(void **state)
{
	(void)state;
	script_event(IRQ_ENTER, 10, 1, 7, V(3))->context = KTRX_CONTEXT_INTERRUPT;
	script_event(CONTEND, 20, 0, 1, V(100));
	script_event(SWITCHED, 30, 2, 9, V(IRQ_ENTER), V(RELEASE), V(1));
	script_event(IRQ_EXIT, 40, 1, 7)->context = KTRX_CONTEXT_INTERRUPT;
	script_event(RELEASE, 50, 0, 1, V(100));
	feed();
	expect("10 cpu1/0 begins irq 3\n"
	       "20 1/1 begins wait 100\n"
	       "20 1/1 is cut wait 100\n"
	       "10 cpu1/0 is cut irq 3\n",
	       4);
}

/* The record of the time when the events were enabled again is lost. */
static void events_after_a_gap_show_that_they_are_recorded(void **state)
{
	(void)state;
	script_event(SWITCHED, 10, 2, 9, V(ENTER), V(RETURN), V(0));
	script_event(ENTER, 20, 0, 1, V(1)); /* the call began before the gap */
	feed();
	threads_gap(threads, 2, 20);
	spans_gap(spans, 2, 20);
	script_event(ENTER, 30, 0, 1, V(2)); /* possibly, the return of this call is not recorded */
	script_event(RETURN, 40, 0, 1, V(2));
	script_event(ENTER, 50, 0, 1, V(3));
	script_event(RETURN, 60, 0, 1, V(3));
	feed();
	expect("50 1/0 begins call 3\n"
	       "60 1/0 ends call 3\n",
	       1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(calls_nest_faults, begin, end),
		cmocka_unit_test_setup_teardown(ends_need_their_beginnings, begin, end),
		cmocka_unit_test_setup_teardown(interrupts_belong_to_cpus, begin, end),
		cmocka_unit_test_setup_teardown(locks_end_in_any_order, begin, end),
		cmocka_unit_test_setup_teardown(a_wait_ends_when_the_thread_gives_up, begin, end),
		cmocka_unit_test_setup_teardown(spans_beyond_the_limit_are_ignored, begin, end),
		cmocka_unit_test_setup_teardown(dead_threads_hold_nothing, begin, end),
		cmocka_unit_test_setup_teardown(gaps_end_spans_that_may_have_ended, begin, end),
		cmocka_unit_test_setup_teardown(folded_events_may_have_ended_a_span, begin, end),
		cmocka_unit_test_setup_teardown(spans_end_where_their_events_are_switched_off, begin, end),
		cmocka_unit_test_setup_teardown(spans_end_where_their_events_are_switched_on, begin, end),
		cmocka_unit_test_setup_teardown(events_after_a_gap_show_that_they_are_recorded, begin, end),
	};

	return cmocka_run_group_tests_name("analyze_spans", tests, NULL, NULL);
}
