/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests that time windows of a trace agree with the blocks of the whole trace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "page/page.h"
#include "unit/support/page_decode.h"
#include "unit/support/sched_writer.h"

#define TURNS	  2000u
#define TURN	  UINT64_C(1000000) /* ns */
#define BEGIN	  UINT64_C(5000000000)
#define UNKNOWN	  2u /* flag of a slice: its end is unknown */
#define STATE_ROW 0u

/* On each of two CPUs, two threads take turns of about a millisecond; one sleeps, and is woken. */
static struct ktread *take_turns(void)
{
	struct writer writer;

	sched_writer_open(&writer, 2);
	for (uint32_t turn = 0; turn < TURNS; turn++) {
		for (uint32_t cpu = 0; cpu < 2; cpu++) {
			const uint32_t first = 10 * (cpu + 1), second = first + 1;
			const uint64_t stamp = BEGIN + turn * TURN + cpu * 1000;

			sched_writer_switch(&writer, cpu, stamp, first, second, 1);
			sched_writer_put(&writer, cpu, stamp + TURN / 4, SCHED_WAKE, first);
			sched_writer_switch(&writer, cpu, stamp + TURN / 2, second, first, 0);
		}
	}
	return sched_writer_close(&writer);
}

static struct page *open_page(struct ktread *trace)
{
	const struct page_options options = { .file = "turns" };
	struct page *page;
	size_t size;

	assert_int_equal(page_open(&page, trace, &options), 0);
	assert_non_null(page_head(page, &size));
	assert_true(size > 100);
	return page;
}

static struct decoded *decode_window(struct page *page, uint64_t since, uint64_t until)
{
	struct decoded *decoded = calloc(1, sizeof(*decoded));

	assert_non_null(decoded);
	if (until == UINT64_MAX)
		assert_int_equal(page_write_blocks(page, decoded_take, decoded), 0);
	else
		assert_int_equal(page_write_window(page, since, until, decoded_take, decoded), 0);
	return decoded;
}

static const struct decoded_event *find_event(const struct decoded *all, uint32_t ring, uint64_t slot)
{
	for (uint32_t n = 0; n < all->events; n++)
		if (all->event[n].ring == ring && all->event[n].slot == slot)
			return &all->event[n];
	return NULL;
}

/* Returns the slice that begins at the same event, on the same row of a lane of the same kind. */
static const struct decoded_slice *find_slice(const struct decoded *all, const struct decoded_slice *like,
					      uint32_t kind)
{
	for (uint32_t n = 0; n < all->slices; n++) {
		const struct decoded_slice *slice = &all->slice[n];

		if (slice->ring == like->ring && slice->slot == like->slot && slice->row == like->row &&
		    slice->class == like->class && all->kind[slice->lane] == kind)
			return slice;
	}
	return NULL;
}

/* Counts the slices with a known end that overlap a time window. */
static uint32_t count_slices(const struct decoded *decoded, uint64_t since, uint64_t until)
{
	uint32_t count = 0;

	for (uint32_t n = 0; n < decoded->slices; n++) {
		const struct decoded_slice *slice = &decoded->slice[n];

		count += !(slice->flags & UNKNOWN) && slice->begin < until &&
			 slice->begin + slice->duration >= since;
	}
	return count;
}

static void assert_same_window(struct page *page, const struct decoded *all, uint64_t since, uint64_t until)
{
	struct decoded *window = decode_window(page, since, until);
	uint64_t events;
	uint32_t expected = 0;

	for (uint32_t n = 0; n < all->events; n++)
		expected += all->event[n].time >= since && all->event[n].time < until;
	assert_int_equal(window->events, expected);
	assert_int_equal(page_count(page, since, until, &events), 0);
	assert_int_equal(events, expected);
	for (uint32_t n = 0; n < window->events; n++) {
		const struct decoded_event *event =
			find_event(all, window->event[n].ring, window->event[n].slot);

		assert_non_null(event);
		assert_int_equal(event->time, window->event[n].time);
		assert_int_equal(event->type, window->event[n].type);
	}
	assert_int_equal(count_slices(window, since, until), count_slices(all, since, until));
	for (uint32_t n = 0; n < window->slices; n++) {
		const struct decoded_slice *got = &window->slice[n];
		const struct decoded_slice *slice = find_slice(all, got, window->kind[got->lane]);

		if (got->flags & UNKNOWN)
			continue;
		assert_non_null(slice);
		assert_int_equal(slice->begin, got->begin);
		assert_int_equal(slice->duration, got->duration);
	}
	free(window);
}

static void windows_are_parts_of_the_whole(void **state)
{
	struct ktread *trace = take_turns();
	struct page *page = open_page(trace);
	struct decoded *all = decode_window(page, 0, UINT64_MAX);

	(void)state;
	assert_int_equal(all->events, 6 * TURNS);
	assert_int_equal(all->lost, 0);
	assert_true(all->arrows >= 2 * TURNS - 2);
	assert_same_window(page, all, 0, 10 * TURN);
	assert_same_window(page, all, 700 * TURN, 703 * TURN);
	assert_same_window(page, all, 700 * TURN + 1, 700 * TURN + TURN / 3);
	assert_same_window(page, all, 900 * TURN, 1100 * TURN);
	assert_same_window(page, all, 1500 * TURN, 1500 * TURN);
	assert_same_window(page, all, 1990 * TURN, 9000 * TURN);
	assert_same_window(page, all, 3000 * TURN, 3001 * TURN);
	free(all);
	page_close(page);
	ktread_close(trace);
}

/* At the beginning of a time window in the middle of the trace, it is known which thread runs on each CPU. */
static void states_at_the_beginning_are_known(void **state)
{
	const uint64_t since = 1000 * TURN + TURN / 3, until = since + TURN / 100;
	struct ktread *trace = take_turns();
	struct page *page = open_page(trace);
	struct decoded *window = decode_window(page, since, until);
	unsigned running = 0;

	(void)state;
	assert_int_equal(window->events, 0);
	for (uint32_t n = 0; n < window->slices; n++)
		running += window->kind[window->slice[n].lane] == 0 && window->slice[n].row == STATE_ROW &&
			   window->slice[n].begin <= since && window->slice[n].other != 0;
	assert_int_equal(running, 2);
	free(window);
	page_close(page);
	ktread_close(trace);
}

/* If the callback returns an error, writing ends with this error. */
static int refuse(void *context, const unsigned char *bytes, size_t size)
{
	(void)context, (void)bytes, (void)size;
	return KTREAD_E_SYSTEM;
}

static void errors_of_the_caller_end_the_writing(void **state)
{
	struct ktread *trace = take_turns();
	struct page *page = open_page(trace);

	(void)state;
	assert_int_equal(page_write_blocks(page, refuse, NULL), KTREAD_E_SYSTEM);
	assert_int_equal(page_write_window(page, 0, TURN, refuse, NULL), KTREAD_E_SYSTEM);
	page_close(page);
	ktread_close(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(windows_are_parts_of_the_whole),
		cmocka_unit_test(states_at_the_beginning_are_known),
		cmocka_unit_test(errors_of_the_caller_end_the_writing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
