/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests which events are found directly before and after a time window. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyze/compare.h"
#include "unit/support/script.h"

enum { NOTE = 1 };

/* Events at 1000, 2000, 3000 and 4000 ns, in the rings 0 to 3. */
static struct ktread *events(void)
{
	script_begin(2);
	script_type(NOTE, "user", "note", "");
	for (uint32_t n = 0; n < 4; n++)
		script_event(NOTE, (n + 1) * 1000, n, 7);
	return script_trace();
}

static void window_without_events_has_events_around_it(void **state)
{
	struct around around;

	(void)state;
	around_find(&around, events(), 2.1e-6, 2.2e-6);
	assert_true(around.before.known && around.after.known);
	assert_int_equal(around.before.ring, 1);
	assert_int_equal(around.after.ring, 2);
	script_end();
}

static void events_within_the_window_are_passed(void **state)
{
	struct around around;

	(void)state;
	around_find(&around, events(), 1.5e-6, 3.5e-6);
	assert_true(around.before.known && around.after.known);
	assert_int_equal(around.before.ring, 0);
	assert_int_equal(around.after.ring, 3);
	script_end();
}

static void window_may_be_outside_of_the_trace(void **state)
{
	struct around around;

	(void)state;
	around_find(&around, events(), 0.5e-6, 0.6e-6);
	assert_false(around.before.known);
	assert_true(around.after.known);
	script_end();
	around_find(&around, events(), 5e-6, 6e-6);
	assert_true(around.before.known);
	assert_false(around.after.known);
	script_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(window_without_events_has_events_around_it),
		cmocka_unit_test(events_within_the_window_are_passed),
		cmocka_unit_test(window_may_be_outside_of_the_trace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
