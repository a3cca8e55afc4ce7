/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests which accesses touch a watched range, by virtual and by physical address. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "schedule/parts.h"

#define KERNEL	UINT64_C(0xffffffff80201000) /* address of a virtual page */
#define RAM	UINT64_C(0x201000)	     /* the physical page of KERNEL */
#define NEXT	UINT64_C(0x777000)	     /* the physical page of the page after KERNEL */
#define MAPPED	UINT64_C(0xffff888000201000) /* another virtual address of RAM */
#define NOTHING (-1)

static struct match match;

static struct match_access write_to(uint64_t address, uint32_t size)
{
	return (struct match_access){ address, size, SCHEDULE_WRITE };
}

static void watch(uint64_t address, uint32_t length, uint32_t kinds)
{
	const struct schedule_watch range = { address, length, kinds };

	assert_null(match_open(&match, &range, 1));
}

/*
 * Calls the functions under test in the same order as the plugin does. Returns the number of the range that
 * the access touches, or NOTHING.
 */
static int look_up(struct match_access access, uint64_t physical)
{
	int range;

	if (!match_may_touch(&match, access.address))
		return NOTHING;
	range = match_virtual(&match, &access);
	if (range >= 0)
		match_learn(&match, range, &access, physical);
	else if (match_needs_physical(&match, &access))
		range = match_physical(&match, &access, physical);
	return range;
}

static void each_access_that_overlaps_range_is_found(void **state)
{
	const uint64_t begin = KERNEL + 0x100, end = begin + 8;

	(void)state;
	for (uint32_t size = 1; size <= MATCH_SIZE; size *= 2)
		for (uint64_t at = begin - 100; at < end + 100; at++) {
			watch(begin, 8, SCHEDULE_WRITE);
			assert_int_equal(look_up(write_to(at, size), at - KERNEL + RAM),
					 at < end && at + size > begin ? 0 : NOTHING);
		}
}

static void kind_of_access_matters(void **state)
{
	const struct match_access read = { KERNEL, 8, SCHEDULE_READ };

	(void)state;
	watch(KERNEL, 8, SCHEDULE_WRITE);
	assert_int_equal(look_up(read, RAM), NOTHING);
	watch(KERNEL, 8, SCHEDULE_READ);
	assert_int_equal(look_up(read, RAM), 0);
	assert_int_equal(look_up(write_to(KERNEL, 8), RAM), NOTHING);
	watch(KERNEL, 8, SCHEDULE_READ | SCHEDULE_WRITE);
	assert_int_equal(look_up(read, RAM), 0);
	assert_int_equal(look_up(write_to(KERNEL, 8), RAM), 0);
}

static void another_address_of_page_is_found_once_page_is_known(void **state)
{
	(void)state;
	watch(KERNEL + 0x10, 4, SCHEDULE_WRITE);
	assert_int_equal(look_up(write_to(MAPPED + 0x10, 4), RAM + 0x10), NOTHING);
	assert_int_equal(look_up(write_to(KERNEL + 0x10, 4), RAM + 0x10), 0);
	assert_int_equal(look_up(write_to(MAPPED + 0x10, 4), RAM + 0x10), 0);
	assert_int_equal(look_up(write_to(MAPPED + 0xc, 8), RAM + 0xc), 0);
	assert_int_equal(look_up(write_to(MAPPED + 0x14, 4), RAM + 0x14), NOTHING);
	assert_int_equal(look_up(write_to(MAPPED + 0x8, 8), RAM + 0x8), NOTHING);
	assert_int_equal(look_up(write_to(MAPPED + 0x10, 4), NEXT + 0x10), NOTHING);
}

static void page_that_moves_is_followed(void **state)
{
	(void)state;
	watch(KERNEL, 8, SCHEDULE_WRITE);
	look_up(write_to(KERNEL, 8), RAM);
	look_up(write_to(KERNEL, 8), NEXT);
	assert_int_equal(look_up(write_to(MAPPED, 8), RAM), NOTHING);
	assert_int_equal(look_up(write_to(MAPPED, 8), NEXT), 0);
}

static void range_in_two_pages_has_two_physical_pages(void **state)
{
	const uint64_t end = MATCH_PAGE;

	(void)state;
	watch(KERNEL + end - 8, 16, SCHEDULE_WRITE);
	assert_int_equal(look_up(write_to(KERNEL + end, 8), NEXT), 0);
	assert_int_equal(look_up(write_to(MAPPED + end - 8, 8), RAM + end - 8), NOTHING);
	assert_int_equal(look_up(write_to(MAPPED, 8), NEXT), 0);
	assert_int_equal(look_up(write_to(MAPPED + 8, 8), NEXT + 8), NOTHING);
	assert_int_equal(look_up(write_to(KERNEL + end - 8, 8), RAM + end - 8), 0);
	assert_int_equal(look_up(write_to(MAPPED + end - 8, 8), RAM + end - 8), 0);
	assert_int_equal(look_up(write_to(MAPPED, 8), RAM), NOTHING);
}

static void access_that_begins_in_previous_page_identifies_no_page(void **state)
{
	(void)state;
	watch(KERNEL, 8, SCHEDULE_WRITE);
	assert_int_equal(look_up(write_to(KERNEL - 4, 8), NEXT + MATCH_PAGE - 4), 0);
	assert_int_equal(look_up(write_to(MAPPED, 8), NEXT), NOTHING);
}

static void range_may_end_at_end_of_address_space(void **state)
{
	(void)state;
	watch(UINT64_MAX - 7, 8, SCHEDULE_WRITE);
	assert_int_equal(look_up(write_to(UINT64_MAX, 1), RAM + MATCH_PAGE - 1), 0);
	assert_int_equal(look_up(write_to(0, 8), RAM), NOTHING);
}

static void longest_range_is_found_at_each_offset(void **state)
{
	(void)state;
	watch(KERNEL + 0x800, SCHEDULE_WATCH_MOST, SCHEDULE_WRITE);
	for (uint64_t at = 0; at < SCHEDULE_WATCH_MOST; at++)
		assert_int_equal(look_up(write_to(KERNEL + 0x800 + at, 1), 0), 0);
	assert_int_equal(look_up(write_to(KERNEL + 0x7ff, 1), NEXT), NOTHING);
	assert_int_equal(look_up(write_to(KERNEL + 0x800 + SCHEDULE_WATCH_MOST, 1), NEXT), NOTHING);
}

static void first_range_that_matches_is_found(void **state)
{
	const struct schedule_watch range[] = { { KERNEL, 8, SCHEDULE_READ },
						{ KERNEL, 8, SCHEDULE_WRITE },
						{ KERNEL + 4, 8, SCHEDULE_WRITE } };

	(void)state;
	assert_null(match_open(&match, range, 3));
	assert_int_equal(look_up(write_to(KERNEL + 4, 4), RAM + 4), 1);
	assert_int_equal(look_up(write_to(KERNEL + 8, 4), RAM + 8), 2);
}

static void invalid_ranges_are_refused(void **state)
{
	const struct schedule_watch empty = { KERNEL, 0, SCHEDULE_WRITE };
	const struct schedule_watch large = { KERNEL, SCHEDULE_WATCH_MOST + 1, SCHEDULE_WRITE };
	const struct schedule_watch many[SCHEDULE_WATCHES + 1] = { { KERNEL, 8, SCHEDULE_WRITE } };

	(void)state;
	assert_non_null(match_open(&match, &empty, 1));
	assert_non_null(match_open(&match, &large, 1));
	assert_non_null(match_open(&match, many, SCHEDULE_WATCHES + 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_access_that_overlaps_range_is_found),
		cmocka_unit_test(kind_of_access_matters),
		cmocka_unit_test(another_address_of_page_is_found_once_page_is_known),
		cmocka_unit_test(page_that_moves_is_followed),
		cmocka_unit_test(range_in_two_pages_has_two_physical_pages),
		cmocka_unit_test(access_that_begins_in_previous_page_identifies_no_page),
		cmocka_unit_test(range_may_end_at_end_of_address_space),
		cmocka_unit_test(longest_range_is_found_at_each_offset),
		cmocka_unit_test(first_range_that_matches_is_found),
		cmocka_unit_test(invalid_ranges_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
