/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests the conversion of ticks to times: multiplication, exact division and printf() must agree to the last
 * digit.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "base/ticks.h"
#include "unit/support/random.h"

static const uint64_t frequencies[] = {
	1,	  3,	      999,	  32768,      1000000,	  1000001,	     10000000,
	62500000, 1000000000, 2400000000, 2596122000, 3000000000, UINT64_C(1) << 61, UINT64_C(1) << 63
};

#define FREQUENCIES (sizeof(frequencies) / sizeof(frequencies[0]))

static uint64_t seed = 7;

static void check(const struct base_ticks_scale *scale, uint64_t ticks)
{
	struct base_ticks_time time = base_ticks_time(ticks, scale->frequency);
	uint64_t quick = base_ticks_microseconds(scale, ticks);
	char expected[64], text[64];

	/* If a double can represent ticks and frequency exactly, the division rounds only once. */
	if ((ticks | scale->frequency) >> 53 == 0) {
		snprintf(expected, sizeof(expected), "%.6f", (double)ticks / (double)scale->frequency);
		snprintf(text, sizeof(text), "%llu.%06u", (unsigned long long)time.seconds,
			 time.microseconds);
		assert_string_equal(expected, text);
	}
	if (quick != UINT64_MAX)
		assert_int_equal(quick, time.seconds * 1000000 + time.microseconds);
	assert_int_equal(base_ticks_nanoseconds(scale, ticks),
			 base_ticks_nanoseconds_exact(ticks, scale->frequency));
}

static void multiplication_and_exact_division_agree(void **state)
{
	(void)state;
	for (size_t n = 0; n < FREQUENCIES; n++) {
		struct base_ticks_scale scale;

		base_ticks_scale_init(&scale, frequencies[n]);
		for (unsigned bits = 0; bits < 64; bits++)
			for (unsigned i = 0; i < 300; i++)
				check(&scale, random_word(&seed) >> bits);
		check(&scale, 0);
		check(&scale, UINT64_MAX);
	}
}

static uint64_t shown(uint64_t ticks, uint64_t frequency)
{
	struct base_ticks_time time = base_ticks_time(ticks, frequency);

	return time.seconds * 1000000 + time.microseconds;
}

/* The limits of a time that is copied from a timeline enclose exactly the ticks for which it is shown. */
static void limits_enclose_the_ticks_with_a_shown_time(void **state)
{
	(void)state;
	for (size_t n = 0; n < FREQUENCIES; n++) {
		for (unsigned i = 0; i < 3000; i++) {
			const uint64_t frequency = frequencies[n],
				       ticks = (random_word(&seed) >> 3) %
					       (frequency >> 53 ? UINT64_MAX : frequency * 1000),
				       microseconds = shown(ticks, frequency),
				       first = base_ticks_first(microseconds * 1000, frequency),
				       last = base_ticks_last(microseconds * 1000, frequency);

			assert_in_range(ticks, first, last);
			assert_int_equal(shown(first, frequency), microseconds);
			assert_int_equal(shown(last, frequency), microseconds);
			assert_true(first == 0 || shown(first - 1, frequency) < microseconds);
			assert_true(shown(last + 1, frequency) > microseconds);
		}
	}
	assert_int_equal(base_ticks_first(UINT64_MAX, UINT64_MAX), UINT64_MAX);
	assert_int_equal(base_ticks_last(UINT64_MAX, UINT64_MAX), UINT64_MAX);
}

/* Times that end in half a microsecond. printf() rounds them by the last bit of the double. */
static void ties_are_rounded_as_printf_does(void **state)
{
	struct base_ticks_scale scale;

	(void)state;
	base_ticks_scale_init(&scale, 2000000);
	for (unsigned n = 0; n < 100000; n++)
		check(&scale, 2 * (random_word(&seed) >> 30) + 1);
	base_ticks_scale_init(&scale, 10000000);
	for (unsigned n = 0; n < 100000; n++)
		check(&scale, 10 * (random_word(&seed) >> 30) + 5);
}

/* 2^60 + 1 seconds, which a double rounds to 2^60. */
static void seconds_are_rounded_to_a_double(void **state)
{
	(void)state;
	assert_int_equal(base_ticks_time((UINT64_C(1) << 60) + 1, 1).seconds, UINT64_C(1) << 60);
	assert_int_equal(base_ticks_time(3, UINT64_C(1) << 63).seconds, 0);
	assert_int_equal(base_ticks_nanoseconds_exact(UINT64_MAX, 1), UINT64_MAX);
}

static void common_clocks_use_multiplication(void **state)
{
	struct base_ticks_scale scale;
	unsigned slow = 0;

	(void)state;
	base_ticks_scale_init(&scale, 2596122000);
	for (unsigned n = 0; n < 100000; n++)
		slow += base_ticks_microseconds(&scale, random_word(&seed) >> 20) == UINT64_MAX;
	assert_true(slow < 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limits_enclose_the_ticks_with_a_shown_time),
		cmocka_unit_test(multiplication_and_exact_division_agree),
		cmocka_unit_test(ties_are_rounded_as_printf_does),
		cmocka_unit_test(seconds_are_rounded_to_a_double),
		cmocka_unit_test(common_clocks_use_multiplication),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
