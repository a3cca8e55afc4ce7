/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests the comparison of two traces of the same run. */
#include "analyze/compare.h"

#include <string.h>

#include "unit/support/ktread_sample.h"

#define RING  1u
#define SMALL 4u /* log2 of the number of slots of a ring that is overwritten */

/* Opens the trace that the writer has written. Replays open traces in the same way. */
static struct ktread *finish(struct writer *writer)
{
	const struct ktread_options raw = { .size = sizeof(raw), .raw_clock = 1 };
	struct bytes dump = { 0 };
	struct ktread *trace;

	writer_dump(writer, &dump);
	trace = open_ok(temporary_bytes(&dump), &raw);
	bytes_free(&dump);
	writer_close(writer);
	return trace;
}

/* Returns a trace with `events` context switches, at times from 1000 on, in a ring of 1 << shift slots. */
static struct ktread *switches(uint32_t shift, uint32_t events)
{
	struct writer writer;

	begin_small(&writer, 2, shift);
	for (uint32_t n = 0; n < events; n++)
		put_switch(&writer, RING, 1000 + n, n);
	return finish(&writer);
}

static struct compare compare(struct ktread *first, struct ktread *second, bool same_end)
{
	struct ktread *const trace[2] = { first, second };
	struct compare result;
	int which;

	assert_int_equal(compare_traces(trace, same_end, &result, &which), 0);
	return result;
}

static void close_both(struct ktread *first, struct ktread *second)
{
	ktread_close(first);
	ktread_close(second);
}

/* Fails unless the two traces have the same `events` events. Closes both. */
static void same(struct ktread *first, struct ktread *second, bool same_end, uint64_t events)
{
	struct compare result = compare(first, second, same_end);

	assert_false(result.differs);
	assert_int_equal(result.same, events);
	close_both(first, second);
}

static void equal_traces_are_the_same(void **state)
{
	(void)state;
	same(switches(SHIFT, 10), switches(SHIFT, 10), false, 10);
	same(switches(SHIFT, 10), switches(SHIFT, 10), true, 10);
	same(switches(SHIFT, 0), switches(SHIFT, 0), true, 0);
}

/* The parts of an event in which two traces may differ. The event is at position 5 of 10. */
struct change {
	uint64_t stamp;
	uint32_t thread, id, prev;
};

static struct ktread *with_change(const struct change *change)
{
	struct writer writer;

	begin_small(&writer, 2, SHIFT);
	for (uint32_t n = 0; n < 10; n++) {
		struct {
			uint32_t prev, next;
			int64_t ran;
		} payload = { n == 5 ? change->prev : n, n + 1, -5 };

		if (n == 5)
			writer_record(&writer, RING, change->stamp, change->id, change->thread, &payload,
				      sizeof(payload));
		else
			put_switch(&writer, RING, 1000 + n, n);
	}
	return finish(&writer);
}

static const struct change none = { 1005, 7, SWITCH, 5 };

static void differs_at_5(const struct change *change)
{
	struct ktread *first = with_change(&none), *second = with_change(change);
	struct compare result = compare(first, second, true);

	assert_true(result.differs);
	assert_int_equal(result.same, 5);
	assert_non_null(result.first[0]);
	assert_non_null(result.first[1]);
	assert_int_equal(result.first[0]->stamp, none.stamp);
	assert_int_equal(result.first[0]->thread, none.thread);
	assert_int_equal(result.first[1]->stamp, change->stamp);
	assert_int_equal(result.first[1]->thread, change->thread);
	close_both(first, second);
}

static void event_that_differs_is_found(void **state)
{
	(void)state;
	same(with_change(&none), with_change(&none), true, 10);
	differs_at_5(&(const struct change){ 1005, 7, SWITCH, 99 });
	differs_at_5(&(const struct change){ 1005, 8, SWITCH, 5 });
	differs_at_5(&(const struct change){ 1005, 7, OPEN, 5 });
}

static void event_at_another_time_is_found(void **state)
{
	struct ktread *first = with_change(&none),
		      *second = with_change(&(const struct change){ 1004, 7, SWITCH, 5 });
	struct compare result = compare(first, second, true);

	(void)state;
	assert_true(result.differs);
	assert_int_equal(result.same, 5);
	close_both(first, second);
}

/* Returns a trace with one event, whose extension block has the address of a caller. */
static struct ktread *with_caller(uint64_t caller)
{
	const struct ktrx_extension head = { .size = 12, .parts = KTRX_EXT_CALLER1 };
	unsigned char payload[28] = { 0 };
	struct writer writer;

	begin_small(&writer, 2, SHIFT);
	memcpy(payload, &head, sizeof(head));
	memcpy(payload + 4, &caller, sizeof(caller));
	writer_record_extended(&writer, RING, 1000, SWITCH, 7, payload, sizeof(payload));
	return finish(&writer);
}

static void event_with_another_caller_is_found(void **state)
{
	struct ktread *first = with_caller(0x1000), *second = with_caller(0x2000);
	struct compare result = compare(first, second, true);

	(void)state;
	assert_true(result.differs);
	assert_int_equal(result.first[0]->callers, 1);
	assert_int_equal(result.first[1]->caller[0], 0x2000);
	close_both(first, second);
	same(with_caller(0x1000), with_caller(0x1000), true, 1);
}

/* ---- Parts that only one trace has --------------------------------------------------------------- */

static void events_after_the_end_of_the_shorter_trace_are_ignored(void **state)
{
	(void)state;
	same(switches(SHIFT, 10), switches(SHIFT, 14), false, 10);
	same(switches(SHIFT, 14), switches(SHIFT, 10), false, 10);
	same(switches(SHIFT, 0), switches(SHIFT, 10), false, 0);
}

static void more_events_at_the_same_end_differ(void **state)
{
	struct ktread *shorter = switches(SHIFT, 10), *longer = switches(SHIFT, 14);
	struct compare result = compare(shorter, longer, true);

	(void)state;
	assert_true(result.differs);
	assert_int_equal(result.same, 10);
	assert_null(result.first[0]);
	assert_non_null(result.first[1]);
	assert_int_equal(result.first[1]->stamp, 1010);
	close_both(shorter, longer);

	shorter = switches(SHIFT, 10);
	longer = switches(SHIFT, 14);
	result = compare(longer, shorter, true);
	assert_true(result.differs);
	assert_int_equal(result.first[0]->stamp, 1010);
	assert_null(result.first[1]);
	close_both(shorter, longer);
}

/* A kernel may begin a ring at another slot. Then no slot of the ring is in both traces. */
static void rings_that_begin_at_another_slot_differ(void **state)
{
	struct ktread *first = switches(SHIFT, 10), *second;
	struct writer writer;
	struct compare result;

	(void)state;
	begin_small(&writer, 2, SHIFT);
	writer_reserve(&writer, RING, 64);
	for (uint32_t n = 0; n < 10; n++)
		put_switch(&writer, RING, 1000 + n, n);
	second = finish(&writer);
	result = compare(first, second, false);
	assert_true(result.differs);
	assert_int_equal(result.same, 0);
	assert_non_null(result.first[0]);
	close_both(first, second);
}

static void overwritten_events_are_ignored(void **state)
{
	struct ktread *first = switches(SMALL, 12), *second = switches(SMALL, 20);
	struct compare result = compare(first, second, false);

	(void)state;
	assert_false(result.differs);
	assert_in_range(result.same, 4, 11);
	close_both(first, second);
}

static void parts_without_a_common_event_are_the_same(void **state)
{
	(void)state;
	same(switches(SMALL, 8), switches(SMALL, 200), false, 0);
}

static void events_of_two_rings_are_compared_in_order_of_time(void **state)
{
	struct ktread *trace[2];
	struct compare result;

	(void)state;
	for (uint32_t which = 0; which < 2; which++) {
		struct writer writer;

		begin_small(&writer, 3, SHIFT);
		for (uint32_t n = 0; n < 10; n++)
			put_switch(&writer, 1 + n % 2, 1000 + n, n);
		/* CPU 0 records the event in one trace, CPU 1 in the other */
		put_switch(&writer, 1 + which, 2000, 7);
		trace[which] = finish(&writer);
	}
	result = compare(trace[0], trace[1], true);
	assert_true(result.differs);
	assert_int_equal(result.same, 10);
	assert_int_equal(result.first[0]->cpu, 0);
	assert_int_equal(result.first[1]->cpu, 1);
	close_both(trace[0], trace[1]);
}

static void traces_with_different_numbers_of_rings_differ(void **state)
{
	struct writer writer;
	struct ktread *first = switches(SHIFT, 10), *second;
	struct compare result;

	(void)state;
	begin_small(&writer, 3, SHIFT);
	for (uint32_t n = 0; n < 10; n++)
		put_switch(&writer, RING, 1000 + n, n);
	second = finish(&writer);
	result = compare(first, second, true);
	assert_true(result.differs);
	assert_int_equal(result.same, 0);
	assert_null(result.first[0]);
	assert_null(result.first[1]);
	result = compare(second, first, true);
	assert_true(result.differs);
	close_both(first, second);
}

static void a_run_that_ended_before_it_had_all_rings_is_the_same(void **state)
{
	struct writer writer;
	struct ktread *early = switches(SHIFT, 10), *late;
	struct compare result;

	(void)state;
	begin_small(&writer, 3, SHIFT);
	for (uint32_t n = 0; n < 12; n++)
		put_switch(&writer, RING, 1000 + n, n);
	put_switch(&writer, RING + 1, 2000, 7);
	late = finish(&writer);
	result = compare(early, late, false);
	assert_false(result.differs);
	assert_int_equal(result.same, 10);
	assert_int_equal(ktread_rewind(early), 0);
	assert_int_equal(ktread_rewind(late), 0);
	result = compare(late, early, false);
	assert_false(result.differs);
	assert_int_equal(result.same, 10);
	close_both(early, late);
}

static void traces_can_be_compared_again(void **state)
{
	struct ktread *first = switches(SHIFT, 10), *second = switches(SHIFT, 10);

	(void)state;
	assert_int_equal(compare(first, second, false).same, 10);
	assert_int_equal(ktread_rewind(first), 0);
	assert_int_equal(ktread_rewind(second), 0);
	same(first, second, false, 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(equal_traces_are_the_same, temporary_teardown),
		cmocka_unit_test_teardown(event_that_differs_is_found, temporary_teardown),
		cmocka_unit_test_teardown(event_at_another_time_is_found, temporary_teardown),
		cmocka_unit_test_teardown(event_with_another_caller_is_found, temporary_teardown),
		cmocka_unit_test_teardown(events_after_the_end_of_the_shorter_trace_are_ignored,
					  temporary_teardown),
		cmocka_unit_test_teardown(more_events_at_the_same_end_differ, temporary_teardown),
		cmocka_unit_test_teardown(rings_that_begin_at_another_slot_differ, temporary_teardown),
		cmocka_unit_test_teardown(overwritten_events_are_ignored, temporary_teardown),
		cmocka_unit_test_teardown(parts_without_a_common_event_are_the_same, temporary_teardown),
		cmocka_unit_test_teardown(events_of_two_rings_are_compared_in_order_of_time,
					  temporary_teardown),
		cmocka_unit_test_teardown(traces_with_different_numbers_of_rings_differ, temporary_teardown),
		cmocka_unit_test_teardown(a_run_that_ended_before_it_had_all_rings_is_the_same,
					  temporary_teardown),
		cmocka_unit_test_teardown(traces_can_be_compared_again, temporary_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
