/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests functions that write numbers as text: the digits are the same as those of printf(), and at most
 * BASE_PUT_SCRATCH bytes are written.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/put.h"
#include "unit/support/random.h"

#define GUARD 0x55

/*
 * Checks that `want` was written at `text`, and that no byte after the first BASE_PUT_SCRATCH bytes was
 * changed.
 */
static void expect(const char *text, const char *end, const char *want)
{
	char is[BASE_PUT_SCRATCH + 1];

	assert_true(end >= text && end - text <= BASE_PUT_SCRATCH);
	memcpy(is, text, (size_t)(end - text));
	is[end - text] = '\0';
	assert_string_equal(is, want);
	assert_int_equal(text[BASE_PUT_SCRATCH], GUARD);
}

static void check(uint64_t value)
{
	char text[BASE_PUT_SCRATCH + 1], want[BASE_PUT_SCRATCH + 1];

	memset(text, GUARD, sizeof(text));
	snprintf(want, sizeof(want), "%" PRIu64, value);
	expect(text, base_put_decimal(text, value), want);
	snprintf(want, sizeof(want), "%" PRId64, (int64_t)value);
	expect(text, base_put_signed(text, (int64_t)value), want);
	snprintf(want, sizeof(want), "%" PRIx64, value);
	expect(text, base_put_hex(text, value), want);
	snprintf(want, sizeof(want), "%06" PRIu64, value % 1000000);
	expect(text, base_put_six(text, (uint32_t)(value % 1000000)), want);
	snprintf(want, sizeof(want), "%" PRIu64, value % 1000000);
	expect(text, base_put_middle(text, (uint32_t)(value % 1000000)), want);
}

static void values_of_six_digits_are_written_as_printf_does(void **state)
{
	(void)state;
	for (uint64_t value = 0; value < 1000000; value++)
		check(value);
}

static void values_near_powers_of_ten_are_written_as_printf_does(void **state)
{
	uint64_t power = 1;

	(void)state;
	for (int digits = 1; digits <= 20; digits++, power *= 10)
		for (uint64_t first = 1; first < 10 && first <= UINT64_MAX / power; first++)
			for (int by = -1; by <= 1; by++)
				check(first * power + (uint64_t)by);
	check(UINT64_MAX);
	check(INT64_MAX);
	check((uint64_t)INT64_MAX + 1);
}

static void values_of_every_length_are_written_as_printf_does(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (int round = 0; round < 200000; round++)
		check(random_word(&seed) >> (round & 63));
}

static void numbers_are_loaded_from_any_address(void **state)
{
	const unsigned char bytes[] = { 0, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88 };

	(void)state;
	assert_int_equal(base_load(bytes + 1, 1), 0x81);
	assert_int_equal(base_load(bytes + 1, 2), 0x8281);
	assert_int_equal(base_load(bytes + 1, 4), 0x84838281);
	assert_true(base_load(bytes + 1, 8) == UINT64_C(0x8887868584838281));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_of_six_digits_are_written_as_printf_does),
		cmocka_unit_test(values_near_powers_of_ten_are_written_as_printf_does),
		cmocka_unit_test(values_of_every_length_are_written_as_printf_does),
		cmocka_unit_test(numbers_are_loaded_from_any_address),
	};

	return cmocka_run_group_tests_name("export_number", tests, NULL, NULL);
}
