/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Compares numbers that are written as text with the output of the C library. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>

#include "base/put.h"
#include "unit/support/random.h"

/*
 * Checks the numbers around each power of two and each power of ten, and random numbers of every length in
 * bits.
 */
static void for_many(void (*check)(uint64_t))
{
	uint64_t power = 1, seed = 1;

	for (unsigned n = 0; n < 20; n++, power *= 10)
		for (uint64_t number = power > 3 ? power - 3 : 0; number < power + 3; number++)
			check(number);
	for (unsigned bit = 0; bit < 64; bit++) {
		check((UINT64_C(1) << bit) - 1);
		check(UINT64_C(1) << bit);
		for (unsigned n = 0; n < 200; n++)
			check(random_word(&seed) >> bit);
	}
	check(UINT64_MAX);
}

static void assert_text(const char *expected, const char *buffer, const char *end)
{
	assert_int_equal(strlen(expected), end - buffer);
	assert_memory_equal(expected, buffer, strlen(expected));
}

static void check_decimal(uint64_t value)
{
	char expected[32], buffer[BASE_PUT_SCRATCH];

	snprintf(expected, sizeof(expected), "%" PRIu64, value);
	assert_text(expected, buffer, base_put_decimal(buffer, value));
	snprintf(expected, sizeof(expected), "%" PRId64, (int64_t)value);
	assert_text(expected, buffer, base_put_signed(buffer, (int64_t)value));
	snprintf(expected, sizeof(expected), "%06u", (unsigned)(value % 1000000));
	assert_text(expected, buffer, base_put_six(buffer, (uint32_t)(value % 1000000)));
}

static void check_hex(uint64_t value)
{
	char expected[32], buffer[BASE_PUT_SCRATCH];

	snprintf(expected, sizeof(expected), "%" PRIx64, value);
	assert_text(expected, buffer, base_put_hex(buffer, value));
}

static void decimal_digits_are_those_of_printf(void **state)
{
	(void)state;
	for (uint64_t value = 0; value < 2000000; value += value < 20000 ? 1 : 97)
		check_decimal(value);
	for_many(check_decimal);
}

static void hexadecimal_digits_are_those_of_printf(void **state)
{
	(void)state;
	for (uint64_t value = 0; value < 70000; value++)
		check_hex(value);
	for_many(check_hex);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(decimal_digits_are_those_of_printf),
					    cmocka_unit_test(hexadecimal_digits_are_those_of_printf) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
