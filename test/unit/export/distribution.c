/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests the printed signs, units and bins of distributions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "export/views.h"

static struct histogram values, negative;

static int begin(void **state)
{
	(void)state;
	values = negative = (struct histogram){ 0 };
	return 0;
}

static int end(void **state)
{
	(void)state;
	histogram_free(&values);
	histogram_free(&negative);
	return 0;
}

static void values_of_both_signs_are_binned(void **state)
{
	const struct distribution d = { .values = &values, .negative = &negative, .unit = "" };
	struct distribution_bins bins;
	uint64_t count = 0;

	(void)state;
	/* adds the values -30, -11, 0 and 5 */
	histogram_add(&negative, 30);
	histogram_add(&values, 5);
	histogram_add(&negative, 11);
	histogram_add(&values, 0);
	assert_true(distribution_least(&d) == -30 && distribution_greatest(&d) == 5);
	assert_true(distribution_rank(&d, 25, 100) == -30);
	assert_true(distribution_rank(&d, 50, 100) == -11);
	assert_true(distribution_rank(&d, 75, 100) == 0);
	assert_true(distribution_mean(&d) == -9);
	distribution_bins(&d, &bins);
	assert_true(bins.bin[0].from <= -30 && bins.bin[bins.count - 1].to > 5);
	for (uint32_t n = 0; n < bins.count; n++) {
		assert_true(n == 0 || bins.bin[n].from == bins.bin[n - 1].to);
		count += bins.bin[n].count;
		if (bins.bin[n].from <= -11 && bins.bin[n].to > -11)
			assert_int_equal(bins.bin[n].count, 1);
	}
	assert_int_equal(count, 4);
}

/*
 * A tick takes several nanoseconds. Each value must be counted in the bin whose printed limits enclose the
 * value.
 */
static void ticks_become_nanoseconds(void **state)
{
	const struct distribution d = distribution_of_ticks(&values, 62500000);
	struct distribution_bins bins;
	uint64_t count = 0;
	char text[DISTRIBUTION_TEXT];

	(void)state;
	for (uint64_t n = 1; n <= 2000; n++) /* a tick takes 16 ns */
		histogram_add(&values, n);
	assert_true(distribution_least(&d) == 16 && distribution_greatest(&d) == 32000);
	assert_string_equal(distribution_text(&d, distribution_rank(&d, 99, 100), text), "31.680 us");
	distribution_bins(&d, &bins);
	assert_true(bins.bin[0].from == 10 && bins.bin[0].to == 20);
	assert_int_equal(bins.bin[0].count, 1);
	/* the bin from 20 to 50 contains two values: 32 and 48 */
	assert_int_equal(bins.bin[1].count, 2);
	for (uint32_t n = 0; n < bins.count; n++)
		count += bins.bin[n].count;
	assert_int_equal(count, 2000);
}

static void extreme_values_are_binned(void **state)
{
	const struct distribution d = { .values = &values, .negative = &negative, .unit = "B" };
	struct distribution_bins bins;
	uint64_t count = 0;
	char text[DISTRIBUTION_TEXT];

	(void)state;
	histogram_add(&values, UINT64_MAX);
	histogram_add(&negative, UINT64_C(1) << 63);
	distribution_bins(&d, &bins);
	for (uint32_t n = 0; n < bins.count; n++)
		count += bins.bin[n].count;
	assert_int_equal(count, 2);
	assert_string_equal(distribution_text(&d, distribution_least(&d), text), "-9223372036854775808 B");
	assert_string_equal(distribution_text(&d, distribution_greatest(&d), text), "18446744073709551615 B");
	assert_string_equal(distribution_text(&d, bins.bin[bins.count - 1].to, text),
			    "20000000000000000000 B");
}

static void narrow_ranges_are_binned(void **state)
{
	const struct distribution d = { .values = &values, .unit = "" };
	struct distribution_bins bins;

	(void)state;
	for (uint64_t n = 1000; n < 1010; n++)
		histogram_add(&values, n);
	distribution_bins(&d, &bins);
	assert_int_equal(bins.count, 10);
	assert_int_equal(bins.most, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(values_of_both_signs_are_binned, begin, end),
		cmocka_unit_test_setup_teardown(ticks_become_nanoseconds, begin, end),
		cmocka_unit_test_setup_teardown(extreme_values_are_binned, begin, end),
		cmocka_unit_test_setup_teardown(narrow_ranges_are_binned, begin, end),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
