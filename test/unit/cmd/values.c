/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests the parsing of values on the command line. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "cmd/trace_args.h"

static void times_are_parsed(void **state)
{
	static const struct {
		const char *text;
		uint64_t nanoseconds;
	} good[] = {
		{ "0", 0 },
		{ "1", 1000000000 },
		{ "1.5", 1500000000 },
		{ "0.066302", 66302000 },
		{ "0.0000000019", 1 },
		{ "250ms", 250000000 },
		{ "1.25us", 1250 },
		{ "7ns", 7 },
		{ "010.010ms", 10010000 },
		{ "18446744073s", UINT64_C(18446744073000000000) },
	};
	static const char *const bad[] = { "",	 "x",	"1x",	       "-1",
					   ".5", "1 s", "18446744074", "99999999999999999999" };
	uint64_t nanoseconds;

	(void)state;
	for (size_t n = 0; n < sizeof(good) / sizeof(good[0]); n++) {
		assert_int_equal(trace_parse_time(good[n].text, &nanoseconds), 0);
		assert_int_equal(nanoseconds, good[n].nanoseconds);
	}
	for (size_t n = 0; n < sizeof(bad) / sizeof(bad[0]); n++)
		assert_int_equal(trace_parse_time(bad[n], &nanoseconds), -1);
}

static void cpu_lists_are_parsed(void **state)
{
	static const char *const bad[] = {
		"", ",", "1,", ",1", "3-1", "16", "0-16", "a", "1-", "1--2", "0x1"
	};
	uint8_t map[2];

	(void)state;
	assert_int_equal(trace_parse_cpus("0,2-4,15", map, 16), 0);
	assert_int_equal(map[0], 0x1d);
	assert_int_equal(map[1], 0x80);
	assert_int_equal(trace_parse_cpus("008-010", map, 16), 0);
	assert_int_equal(map[0], 0);
	assert_int_equal(map[1], 0x07);
	assert_int_equal(trace_parse_cpus("5", map, 16), 0);
	assert_int_equal(map[0], 0x20);
	assert_int_equal(map[1], 0);
	for (size_t n = 0; n < sizeof(bad) / sizeof(bad[0]); n++)
		assert_int_equal(trace_parse_cpus(bad[n], map, 16), -1);
}

static void numbers_are_parsed(void **state)
{
	uint64_t number;

	(void)state;
	assert_int_equal(trace_parse_number("42", 100, &number), 0);
	assert_int_equal(number, 42);
	assert_int_equal(trace_parse_number("0x2a", 100, &number), 0);
	assert_int_equal(number, 42);
	assert_int_equal(trace_parse_number("0X2A", 100, &number), 0);
	assert_int_equal(number, 42);
	assert_int_equal(trace_parse_number("010", 100, &number), 0);
	assert_int_equal(number, 10);
	assert_int_equal(trace_parse_number("0009", 100, &number), 0);
	assert_int_equal(number, 9);
	assert_int_equal(trace_parse_number("0", 100, &number), 0);
	assert_int_equal(number, 0);
	assert_int_equal(trace_parse_number("0x", 100, &number), -1);
	assert_int_equal(trace_parse_number("0a", 100, &number), -1);
	assert_int_equal(trace_parse_number("101", 100, &number), -1);
	assert_int_equal(trace_parse_number("", 100, &number), -1);
	assert_int_equal(trace_parse_number("-1", 100, &number), -1);
	assert_int_equal(trace_parse_number(" 1", 100, &number), -1);
	assert_int_equal(trace_parse_number("1k", 100, &number), -1);
	assert_int_equal(trace_parse_number("18446744073709551616", UINT64_MAX, &number), -1);
}

static void machine_names_are_parsed(void **state)
{
	const char *machine;

	(void)state;
	assert_int_equal(trace_parse_machine("arm64", &machine), 0);
	assert_string_equal(machine, "aarch64");
	assert_int_equal(trace_parse_machine("vax", &machine), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_parsed),
		cmocka_unit_test(cpu_lists_are_parsed),
		cmocka_unit_test(numbers_are_parsed),
		cmocka_unit_test(machine_names_are_parsed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
