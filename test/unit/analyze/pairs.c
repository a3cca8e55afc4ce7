/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests how scripted events are paired by each type of key, with and without gaps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyze/latencies.h"
#include "ktrx/slot.h"
#include "unit/support/script.h"

#define V(value) ((uint64_t)(value))

enum { SWITCH = 1, OPEN, CLOSE, NAMED, OTHER, SWITCHED, STOPPED };

static struct pairs_rule rule;
static struct pairs *pairs;

static void mark(uint8_t *map, uint32_t id)
{
	map[id / 8] |= (uint8_t)(1u << id % 8);
}

static int begin(void **state)
{
	(void)state;
	script_begin(2);
	script_type(SWITCH, "sched", "switch", "u32 prev,u32 next");
	script_type(OPEN, "user", "open", "u32 id,u8 part");
	script_type(CLOSE, "user", "close", "u64 of,u8 part");
	script_type(NAMED, "user", "named", "string name");
	script_type(OTHER, "user", "other", "");
	script_type(SWITCHED, "ktrace", "switched", "u16 first,u16 last,u8 state");
	script_type(STOPPED, "ktrace", "stopped", "u16 first,u16 last,u64 until,u32 cpu");
	rule = (struct pairs_rule){ .key = { { .by = PAIRS_BY_OWNER } }, .keys = 1 };
	mark(rule.begins, OPEN);
	mark(rule.ends, CLOSE);
	return 0;
}

static int end(void **state)
{
	(void)state;
	pairs_free(pairs);
	pairs = NULL;
	script_end();
	return 0;
}

/* sched.exit has no record, so it may have been off until it was switched on */
static void durations_with_an_event_that_may_have_been_off_are_counted(void **state)
{
	struct latencies *latencies = NULL;

	(void)state;
	script_type(20, "sched", "wake", "u32 thread");
	script_type(21, "sched", "exit", "u32 thread");
	script_event(SWITCH, 5, 0, 1, V(1), V(2));
	script_event(20, 10, 0, 2, V(1));
	script_event(SWITCH, 20, 0, 2, V(2), V(1));
	script_event(20, 30, 0, 1, V(2)); /* ends after the switch */
	script_event(SWITCHED, 900, 0, 0, V(1), V(30), V(1));
	script_event(SWITCH, 1000, 0, 1, V(1), V(2));
	script_event(20, 1010, 0, 2, V(1)); /* has no end in the trace */
	assert_int_equal(latencies_read(&latencies, script_trace(), 0), 0);
	assert_int_equal(latencies->rows, 1);
	assert_int_equal(latencies->row[0].ticks.count, 0);
	assert_int_equal(latencies->row[0].switched, 2);
	assert_int_equal(latencies->row[0].dropped, 1);
	latencies_free(latencies);
}

/* The second call's end and the third call's beginning are repetitions without a record. */
static void durations_are_not_measured_while_their_events_are_folded(void **state)
{
	struct latencies *latencies = NULL;

	(void)state;
	script_type(20, "syscall", "enter", "u32 nr");
	script_type(21, "syscall", "exit", "u32 nr");
	script_type(22, "ktrace", "repeat", "u16 event,u64 more,u64 first,u64 last");
	script_event(20, 10, 0, 2, V(7));
	script_event(21, 20, 0, 2, V(7)); /* 10 */
	script_event(22, 200, 0, 2, V(20), V(2), V(100), V(150));
	script_event(20, 200, 0, 2, V(8));
	script_fold(21, 110, 210);
	script_event(20, 1000, 0, 2, V(7));
	script_event(21, 1010, 0, 2, V(7)); /* 10 */
	assert_int_equal(latencies_read(&latencies, script_trace(), 0), 0);
	assert_int_equal(latencies->rows, 2);
	assert_int_equal(latencies->row[0].ticks.count, 2);
	assert_int_equal(latencies->row[0].ticks.greatest, 10);
	assert_int_equal(latencies->row[1].ticks.count, 0);
	assert_int_equal(latencies->row[1].switched, 1);
	assert_int_equal(latencies->row[1].dropped, 0);
	latencies_free(latencies);
}

static void durations_that_are_open_at_the_end_have_no_end(void **state)
{
	struct latencies *latencies = NULL;

	(void)state;
	script_type(20, "sched", "wake", "u32 thread");
	script_type(21, "syscall", "enter", "u32 nr");
	script_type(22, "syscall", "exit", "u32 nr");
	script_event(SWITCH, 5, 0, 1, V(1), V(2));
	script_event(21, 10, 0, 2, V(7));
	script_event(20, 20, 0, 2, V(1));
	assert_int_equal(latencies_read(&latencies, script_trace(), 0), 0);
	assert_int_equal(latencies->rows, 2);
	for (uint32_t n = 0; n < 2; n++) {
		assert_int_equal(latencies->row[n].ticks.count, 0);
		assert_int_equal(latencies->row[n].switched, 0);
		assert_int_equal(latencies->row[n].dropped, 1);
	}
	latencies_free(latencies);
}

/*
 * Recording was stopped at 40, and sched.exit has no record. `until` is of CPU 2, whose clock is 2000 ahead
 * (support/script.c).
 */
static void durations_before_a_stop_of_recording_are_measured(void **state)
{
	struct latencies *latencies = NULL;

	(void)state;
	script_type(20, "sched", "wake", "u32 thread");
	script_type(21, "sched", "exit", "u32 thread");
	script_type(22, "irq", "enter", "u32 irq");
	script_type(23, "irq", "exit", "u32 irq");
	script_event(SWITCH, 5, 0, 1, V(1), V(2));
	script_event(20, 10, 0, 2, V(1));
	script_event(SWITCH, 20, 0, 2, V(2), V(1)); /* 10 */
	script_event(22, 25, 1, 3, V(7));
	script_event(23, 27, 1, 3, V(7)); /* 2 */
	script_event(20, 30, 0, 1, V(2)); /* ends after the stop */
	script_event(22, 35, 1, 3, V(7)); /* ends after the stop */
	script_event(STOPPED, 890, 0, 0, V(1), V(30), V(2040), V(2));
	/* recorded by another CPU before this CPU has recorded that recording was started */
	script_event(SWITCH, 895, 0, 1, V(1), V(2));
	script_event(SWITCHED, 900, 0, 0, V(1), V(30), V(1));
	script_event(23, 905, 1, 3, V(7));
	script_event(20, 910, 0, 2, V(1));
	script_event(SWITCH, 915, 0, 2, V(2), V(1)); /* 5 */
	assert_int_equal(latencies_read(&latencies, script_trace(), 0), 0);
	assert_int_equal(latencies->rows, 2);
	assert_int_equal(latencies->row[0].kind, LATENCIES_IRQ);
	assert_int_equal(latencies->row[0].ticks.count, 1);
	assert_int_equal(latencies->row[0].ticks.greatest, 2);
	assert_int_equal(latencies->row[0].switched, 1);
	assert_int_equal(latencies->row[0].dropped, 0);
	assert_int_equal(latencies->row[1].kind, LATENCIES_RUN_QUEUE);
	assert_int_equal(latencies->row[1].ticks.count, 2);
	assert_int_equal(latencies->row[1].ticks.greatest, 10);
	assert_int_equal(latencies->row[1].ticks.least, 5);
	assert_int_equal(latencies->row[1].switched, 1);
	assert_int_equal(latencies->row[1].dropped, 0);
	latencies_free(latencies);
}

/*
 * While the threads did not run on the CPU of their call, they may have run on CPU 2, whose slots are missing
 * there: thread 1 did not leave CPU 0; thread 2 left CPU 1 and came back.
 */
static void calls_of_threads_that_left_their_cpu_are_not_paired_across_gaps_of_other_cpus(void **state)
{
	struct latencies *latencies = NULL;

	(void)state;
	script_type(20, "syscall", "enter", "u32 nr");
	script_type(21, "syscall", "exit", "u32 nr");
	script_event(SWITCH, 5, 0, 9, V(9), V(1));
	script_event(SWITCH, 6, 1, 8, V(8), V(2));
	script_event(OTHER, 7, 2, 3);
	script_event(20, 10, 0, 1, V(7));
	script_event(20, 11, 1, 2, V(7));
	script_event(SWITCH, 12, 1, 2, V(2), V(8));
	script_event(SWITCH, 25, 1, 8, V(8), V(2));
	script_event(21, 30, 0, 1, V(7));
	script_event(21, 31, 1, 2, V(7));
	script_event(OTHER, 40, 2, 3)->lost = 3;
	assert_int_equal(latencies_read(&latencies, script_trace(), 0), 0);
	assert_int_equal(latencies->row[0].kind, LATENCIES_SYSCALL);
	assert_int_equal(latencies->row[0].ticks.count, 1);
	assert_int_equal(latencies->row[0].worst.begin, 10);
	assert_int_equal(latencies->row[0].dropped, 1);
	latencies_free(latencies);
}

/*
 * Thread 1 begins a call on CPU 0, and slots are lost before its next event, which is on CPU 1. The event that
 * lets the call end without an end is not the end of the call.
 */
static void calls_without_an_end_are_selected_by_their_beginnings(void **state)
{
	static const uint64_t dropped[] = { 1, 0 };

	(void)state;
	script_type(20, "syscall", "enter", "u32 nr");
	script_type(21, "syscall", "exit", "u32 nr");
	script_event(OTHER, 5, 1, 3);
	script_event(20, 10, 0, 1, V(7));
	script_event(OTHER, 20, 1, 1)->lost = 3;
	script_event(21, 30, 1, 1, V(7));
	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		struct latencies *latencies = NULL;

		script_select_cpu(cpu);
		assert_int_equal(latencies_read(&latencies, script_trace(), 0), 0);
		assert_int_equal(latencies->rows, dropped[cpu]);
		assert_int_equal(latencies->row[0].dropped, dropped[cpu]);
		latencies_free(latencies);
		assert_int_equal(ktread_rewind(script_trace()), 0);
	}
}

static const struct pairs_result *read_all(void)
{
	assert_int_equal(pairs_read(&pairs, script_trace(), &rule), 0);
	return pairs_result(pairs);
}

static void expect(uint64_t count, uint64_t begins, uint64_t ends, uint64_t dropped)
{
	const struct pairs_result *result = read_all();

	assert_int_equal(result->ticks.count, count);
	assert_int_equal(result->begins, begins);
	assert_int_equal(result->ends, ends);
	assert_int_equal(result->dropped, dropped);
}

/* Makes the event report that three slots before it are missing. */
static struct ktread_event *lost_before(struct ktread_event *event)
{
	event->lost = 3;
	return event;
}

/* While an event was off, it may have occurred without a record, and may have begun or ended a pair. */
static void nothing_is_paired_while_its_events_are_off(void **state)
{
	(void)state;
	script_event(OPEN, 10, 0, 1, V(1), V(0));
	script_event(SWITCHED, 20, 0, 0, V(CLOSE), V(CLOSE), V(0));
	script_event(SWITCHED, 30, 1, 0, V(CLOSE), V(CLOSE), V(1));
	script_event(CLOSE, 40, 0, 1, V(1), V(0));
	script_event(OPEN, 50, 0, 1, V(1), V(0));
	/* these events are neither OPEN nor CLOSE */
	script_event(SWITCHED, 51, 0, 0, V(NAMED), V(OTHER), V(0));
	script_event(SWITCHED, 52, 0, 0, V(NAMED), V(OTHER), V(1));
	script_event(CLOSE, 60, 0, 1, V(1), V(0)); /* 10 */
	script_event(OPEN, 70, 0, 1, V(1), V(0));
	script_event(SWITCHED, 71, 0, 0, V(SWITCH), V(OTHER), V(0));
	script_event(SWITCHED, 72, 0, 0, V(1), V(4095), V(3));
	script_event(CLOSE, 80, 0, 1, V(1), V(0));
	expect(1, 0, 0, 0);
	assert_int_equal(pairs_result(pairs)->switched, 2);
	assert_int_equal(pairs_result(pairs)->ticks.greatest, 10);
}

/*
 * The trace shows when recording was started again, but not when it was stopped. It may have been stopped
 * directly after the last record before the restart.
 */
static void nothing_is_paired_across_a_restart_of_recording(void **state)
{
	(void)state;
	script_event(OPEN, 10, 0, 1, V(1), V(0));
	script_event(CLOSE, 20, 0, 1, V(1), V(0)); /* 10 */
	script_event(OPEN, 30, 0, 1, V(1), V(0));
	script_event(SWITCHED, 900, 0, 0, V(1), V(9), V(1));
	script_event(CLOSE, 1000, 0, 1, V(1), V(0));
	expect(1, 0, 0, 0);
	assert_int_equal(pairs_result(pairs)->switched, 1);
}

/*
 * At the end of the trace, OPEN is off, and no record shows since when. After the last record of OPEN, a pair
 * may have begun without a record.
 */
static void nothing_is_paired_if_an_event_is_off_at_the_end(void **state)
{
	(void)state;
	script_switch_off(OPEN);
	script_event(OPEN, 10, 0, 1, V(1), V(0));
	script_event(CLOSE, 20, 0, 1, V(1), V(0)); /* another beginning between 10 and 20 may be unrecorded */
	expect(0, 0, 0, 0);
	assert_int_equal(pairs_result(pairs)->switched, 1);
}

static void pairs_by_thread_across_cpus(void **state)
{
	(void)state;
	script_event(OPEN, 10, 0, 1, V(1), V(0));
	script_event(OPEN, 20, 1, 2, V(2), V(0));
	script_event(CLOSE, 35, 0, 2, V(2), V(0)); /* 15 */
	script_event(CLOSE, 50, 1, 1, V(1), V(0)); /* 40 */
	script_event(CLOSE, 60, 1, 1, V(1), V(0));
	script_event(OPEN, 70, 1, 1, V(1), V(0));
	script_event(OPEN, 80, 1, 1, V(1), V(0));
	expect(2, 2, 1, 0);
	assert_int_equal(pairs_result(pairs)->ticks.least, 15);
	assert_int_equal(pairs_result(pairs)->ticks.greatest, 40);
	assert_int_equal(pairs_result(pairs)->worst.begin, 10);
	assert_int_equal(pairs_result(pairs)->worst.end, 50);
	assert_int_equal(pairs_result(pairs)->worst.thread, 1);
}

static void pairs_by_cpu_in_interrupts(void **state)
{
	(void)state;
	script_event(OPEN, 10, 0, 1, V(1), V(0))->context = KTRX_CONTEXT_INTERRUPT;
	script_event(OPEN, 12, 0, 1, V(1), V(0));
	script_event(CLOSE, 20, 0, 2, V(1), V(0))->context = KTRX_CONTEXT_INTERRUPT;
	script_event(CLOSE, 23, 0, 1, V(1), V(0));
	expect(2, 0, 0, 0);
	assert_int_equal(pairs_result(pairs)->ticks.least, 10);
	assert_int_equal(pairs_result(pairs)->ticks.greatest, 11);
}

static void pairs_by_fields_of_different_names(void **state)
{
	(void)state;
	rule.key[0] = (struct pairs_key){ PAIRS_BY_FIELD, "id", "of" };
	rule.key[1] = (struct pairs_key){ PAIRS_BY_FIELD, "part", "part" };
	rule.keys = 2;
	script_event(OPEN, 10, 0, 1, V(7), V(1));
	script_event(OPEN, 11, 0, 2, V(7), V(2));
	script_event(OPEN, 12, 0, 3, V(8), V(1));
	script_event(CLOSE, 21, 1, 9, V(7), V(2));
	script_event(CLOSE, 22, 1, 9, V(7), V(1));
	script_event(CLOSE, 23, 1, 9, V(9), V(1));
	expect(2, 1, 1, 0);
	assert_int_equal(pairs_result(pairs)->ticks.least, 10);
	assert_int_equal(pairs_result(pairs)->ticks.greatest, 12);
}

/*
 * The same event begins and ends pairs: each event begins a pair, which the next event with the same key
 * ends.
 */
static void one_event_is_paired_with_the_next(void **state)
{
	(void)state;
	rule = (struct pairs_rule){ .key = { { PAIRS_BY_FIELD, "name", "name" } }, .keys = 1 };
	mark(rule.begins, NAMED);
	mark(rule.ends, NAMED);
	script_event(NAMED, 10, 0, 1, "tick");
	script_event(NAMED, 12, 0, 1, "tock");
	script_event(NAMED, 20, 0, 1, "tick");
	script_event(NAMED, 33, 0, 1, "tick");
	expect(2, 2, 2, 0);
	assert_int_equal(pairs_result(pairs)->ticks.least, 10);
	assert_int_equal(pairs_result(pairs)->ticks.greatest, 13);
}

/* If the key is a CPU, only lost slots of that CPU matter. */
static void gap_of_the_cpu_drops_a_pair(void **state)
{
	(void)state;
	rule.key[0].by = PAIRS_BY_CPU;
	script_event(OPEN, 10, 0, 1, V(1), V(0));
	script_event(OPEN, 11, 1, 2, V(1), V(0));
	script_event(OTHER, 15, 0, 1);
	lost_before(script_event(OTHER, 20, 0, 1));
	script_event(CLOSE, 30, 0, 1, V(1), V(0));
	script_event(CLOSE, 31, 1, 2, V(1), V(0));
	expect(1, 0, 0, 1);
	assert_int_equal(pairs_result(pairs)->ticks.least, 20);
}

/*
 * A gap begins at the last event before the lost slots. The event that reports the gap may be recorded long
 * after a pair on another CPU has ended.
 */
static void gap_counts_from_the_last_event_before_it(void **state)
{
	(void)state;
	rule.key[0] = (struct pairs_key){ PAIRS_BY_FIELD, "id", "of" };
	script_event(OTHER, 5, 1, 2);
	script_event(OPEN, 10, 0, 1, V(1), V(0));
	script_event(CLOSE, 20, 0, 1, V(1), V(0));
	lost_before(script_event(OTHER, 90, 1, 2));
	script_event(OPEN, 91, 0, 1, V(1), V(0));
	script_event(CLOSE, 95, 0, 1, V(1), V(0));
	expect(1, 0, 0, 1);
	assert_int_equal(pairs_result(pairs)->ticks.least, 4);
}

/* The boot ring is shared, so the slots that it lacks may be from another CPU than the next event. */
static void gap_of_the_boot_ring_counts_for_every_cpu(void **state)
{
	(void)state;
	rule.key[0].by = PAIRS_BY_CPU;
	script_ring(0)->cpu = KTRX_NO_CPU;
	script_event(OPEN, 10, 1, 1, V(1), V(0))->ring = 0;
	script_event(OPEN, 11, 2, 2, V(1), V(0))->ring = 0;
	lost_before(script_event(OTHER, 20, 2, 2))->ring = 0;
	script_event(CLOSE, 30, 1, 1, V(1), V(0));
	script_event(CLOSE, 31, 2, 2, V(1), V(0));
	script_event(OPEN, 40, 1, 1, V(1), V(0));
	script_event(CLOSE, 50, 1, 1, V(1), V(0));
	expect(1, 0, 0, 2);
}

/* The ring of rare events is shared, too. Its beginning, its end and slots in between may be missing. */
static void gap_of_the_rare_ring_counts_for_every_cpu(void **state)
{
	(void)state;
	rule.key[0].by = PAIRS_BY_CPU;
	script_ring(3)->cpu = KTRX_NO_CPU;
	script_event(OTHER, 10, 1, 1)->ring = 3;
	script_event(OPEN, 11, 0, 2, V(1), V(0));
	script_event(OPEN, 12, 1, 1, V(1), V(0));
	lost_before(script_event(OTHER, 20, 1, 1))->ring = 3;
	script_event(CLOSE, 30, 0, 2, V(1), V(0));
	script_event(CLOSE, 31, 1, 1, V(1), V(0));
	script_event(OPEN, 40, 0, 2, V(1), V(0));
	script_event(CLOSE, 50, 0, 2, V(1), V(0));
	script_event(OTHER, 60, 1, 1)->ring = 3;
	expect(1, 0, 0, 2);
	pairs_free(pairs);
	script_ring(3)->overwritten = 9;
	script_event(OPEN, 70, 0, 2, V(1), V(0));
	script_event(CLOSE, 80, 0, 2, V(1), V(0));
	expect(2, 0, 0, 2);
	pairs_free(pairs);
	script_ring(3)->invalid = 4;
	expect(1, 0, 0, 3);
}

/* Slots at the end of the boot ring are from a time before the CPU had a ring of its own. */
static void missing_end_of_the_boot_ring_is_a_gap(void **state)
{
	(void)state;
	rule.key[0].by = PAIRS_BY_CPU;
	script_ring(0)->cpu = KTRX_NO_CPU;
	script_ring(0)->invalid = 2;
	script_event(OPEN, 5, 1, 1, V(1), V(0));
	script_event(OPEN, 10, 2, 2, V(1), V(0))->ring = 0;
	script_event(CLOSE, 20, 1, 1, V(1), V(0)); /* this CPU had its own ring before */
	script_event(CLOSE, 30, 2, 2, V(1), V(0));
	script_event(OPEN, 40, 2, 2, V(1), V(0));
	script_event(CLOSE, 50, 2, 2, V(1), V(0));
	expect(2, 0, 0, 1);
}

/* What happened on the CPU after the last readable event of its ring is unknown. */
static void unreadable_end_of_a_ring_is_a_gap(void **state)
{
	(void)state;
	rule.key[0] = (struct pairs_key){ PAIRS_BY_FIELD, "id", "of" };
	script_ring(1)->overwritten = 7;
	script_ring(1)->invalid = 3;
	script_event(OTHER, 4, 1, 2)->lost = 9;
	script_event(OPEN, 5, 0, 1, V(1), V(0));
	script_event(CLOSE, 8, 0, 1, V(1), V(0));
	script_event(OPEN, 10, 0, 1, V(1), V(0));
	script_event(OTHER, 15, 1, 2);
	script_event(CLOSE, 30, 0, 1, V(1), V(0));
	script_event(OPEN, 40, 0, 1, V(1), V(0));
	script_event(CLOSE, 50, 0, 1, V(1), V(0));
	expect(1, 0, 0, 2);
	pairs_free(pairs);
	rule.key[0].by = PAIRS_BY_CPU; /* only the other CPU lacks slots */
	expect(3, 0, 0, 0);
	pairs_free(pairs);
	rule.key[0].by = PAIRS_BY_FIELD;
	script_ring(1)->invalid = 2; /* all of them were lost before the first event */
	expect(3, 0, 0, 0);
}

/* If a thread runs on one CPU all the time, a gap of another CPU cannot contain events of this thread. */
static void gap_of_another_cpu_matters_only_if_the_thread_moved(void **state)
{
	(void)state;
	script_event(SWITCH, 5, 0, 9, V(9), V(1));
	script_event(SWITCH, 6, 1, 8, V(8), V(2));
	script_event(OPEN, 10, 0, 1, V(1), V(0));
	script_event(OPEN, 11, 1, 2, V(1), V(0));
	script_event(SWITCH, 12, 1, 2, V(2), V(8));
	script_event(OTHER, 15, 2, 3);
	lost_before(script_event(OTHER, 20, 2, 3));
	script_event(SWITCH, 25, 1, 8, V(8), V(2));
	script_event(CLOSE, 30, 0, 1, V(1), V(0)); /* thread 1 ran on CPU 0 all the time */
	script_event(CLOSE, 31, 1, 2, V(1), V(0)); /* thread 2 may have run on CPU 2 between the two events */
	expect(1, 0, 0, 1);
	assert_int_equal(pairs_result(pairs)->worst.thread, 1);
}

static void overwritten_beginnings_are_unmatched(void **state)
{
	(void)state;
	rule.key[0] = (struct pairs_key){ PAIRS_BY_FIELD, "id", "of" };
	script_ring(1)->overwritten = 100;
	script_event(OPEN, 10, 0, 1, V(1), V(0));
	script_event(CLOSE, 20, 0, 1, V(1), V(0));
	script_event(OTHER, 50, 1, 2);
	script_event(OPEN, 60, 0, 1, V(1), V(0));
	script_event(CLOSE, 70, 0, 1, V(1), V(0));
	expect(1, 0, 0, 1);
}

/*
 * The cost of recording is subtracted once for each event that the same CPU recorded after the beginning of a
 * pair, up to and including its end.
 */
static void cost_is_subtracted(void **state)
{
	(void)state;
	rule.cost = 2500; /* in thousandths of a tick */
	script_event(OPEN, 10, 0, 1, V(1), V(0));
	script_event(OTHER, 12, 1, 5);
	script_event(OTHER, 15, 0, 1);
	script_event(CLOSE, 30, 0, 1, V(1), V(0)); /* 20 ticks, minus 2.5 for each of two events */
	script_event(OPEN, 40, 0, 1, V(1), V(0));
	script_event(CLOSE, 41, 0, 1, V(1), V(0)); /* 41 - 40 - 2.5 is negative, so the result is 0 */
	expect(2, 0, 0, 0);
	assert_int_equal(pairs_result(pairs)->ticks.greatest, 15);
	assert_int_equal(pairs_result(pairs)->ticks.least, 0);
}

static void clock_that_goes_back_gives_zero(void **state)
{
	(void)state;
	script_event(OPEN, 500, 0, 1, V(0), V(0));
	script_event(CLOSE, 300, 0, 1, V(0), V(0));
	expect(1, 0, 0, 0);
	assert_int_equal(pairs_result(pairs)->ticks.greatest, 0);
}

/*
 * There are far more keys than entries in the table. So the table grows, and entries that have become free
 * are used again.
 */
static void many_open_pairs_are_matched(void **state)
{
	(void)state;
	rule.key[0] = (struct pairs_key){ PAIRS_BY_FIELD, "id", "of" };
	for (uint32_t n = 0; n < 2000; n++)
		script_event(OPEN, 10 + n, 0, 1, V(n * 64), V(0));
	for (uint32_t n = 0; n < 2000; n++)
		script_event(CLOSE, 10000 + n, 0, 1, V((n * 7 % 2000) * 64), V(0));
	expect(2000, 0, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(pairs_by_thread_across_cpus, begin, end),
		cmocka_unit_test_setup_teardown(pairs_by_cpu_in_interrupts, begin, end),
		cmocka_unit_test_setup_teardown(pairs_by_fields_of_different_names, begin, end),
		cmocka_unit_test_setup_teardown(nothing_is_paired_while_its_events_are_off, begin, end),
		cmocka_unit_test_setup_teardown(nothing_is_paired_across_a_restart_of_recording, begin, end),
		cmocka_unit_test_setup_teardown(durations_with_an_event_that_may_have_been_off_are_counted,
						begin, end),
		cmocka_unit_test_setup_teardown(durations_are_not_measured_while_their_events_are_folded,
						begin, end),
		cmocka_unit_test_setup_teardown(durations_that_are_open_at_the_end_have_no_end, begin, end),
		cmocka_unit_test_setup_teardown(durations_before_a_stop_of_recording_are_measured, begin,
						end),
		cmocka_unit_test_setup_teardown(nothing_is_paired_if_an_event_is_off_at_the_end, begin, end),
		cmocka_unit_test_setup_teardown(one_event_is_paired_with_the_next, begin, end),
		cmocka_unit_test_setup_teardown(gap_of_the_cpu_drops_a_pair, begin, end),
		cmocka_unit_test_setup_teardown(gap_counts_from_the_last_event_before_it, begin, end),
		cmocka_unit_test_setup_teardown(gap_of_the_boot_ring_counts_for_every_cpu, begin, end),
		cmocka_unit_test_setup_teardown(gap_of_the_rare_ring_counts_for_every_cpu, begin, end),
		cmocka_unit_test_setup_teardown(missing_end_of_the_boot_ring_is_a_gap, begin, end),
		cmocka_unit_test_setup_teardown(unreadable_end_of_a_ring_is_a_gap, begin, end),
		cmocka_unit_test_setup_teardown(gap_of_another_cpu_matters_only_if_the_thread_moved, begin,
						end),
		cmocka_unit_test_setup_teardown(overwritten_beginnings_are_unmatched, begin, end),
		cmocka_unit_test_setup_teardown(cost_is_subtracted, begin, end),
		cmocka_unit_test_setup_teardown(clock_that_goes_back_gives_zero, begin, end),
		cmocka_unit_test_setup_teardown(
			calls_of_threads_that_left_their_cpu_are_not_paired_across_gaps_of_other_cpus, begin,
			end),
		cmocka_unit_test_setup_teardown(calls_without_an_end_are_selected_by_their_beginnings, begin,
						end),
		cmocka_unit_test_setup_teardown(many_open_pairs_are_matched, begin, end),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
