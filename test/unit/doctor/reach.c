/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests how many events a second the doctor counts, and how much of the CPUs' time they cost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "doctor/examine.h"
#include "unit/support/script.h"

#define MS UINT64_C(1000000)

enum { OTHER = 1 };

/*
 * The ring of CPU 1 has one event, which is 10 s old, as the boot ring often has. The ring of CPU 0 has been
 * overwritten, and contains the 1000 events of the last second.
 */
static void old_event_of_another_ring_does_not_change_the_rate(void **state)
{
	struct facts facts = { 0 };

	(void)state;
	script_begin(2);
	script_type(OTHER, "mine", "other", "");
	script_event(OTHER, MS, 1, 0);
	for (uint64_t ms = 9000; ms <= 10000; ms++)
		script_event(OTHER, ms * MS, 0, 0);
	script_ring(0)->overwritten = 100000;
	script_setting("debug.ktr.cost", 100000); /* 100 ns an event */
	assert_int_equal(facts_read(&facts, script_trace()), 0);
	assert_int_equal(facts_rate(&facts) + 0.5, 1001);
	/* a tenth of a millisecond in a second of two CPUs */
	assert_int_equal(facts_cost_share(&facts) * 1e6 + 0.5, 50);
	facts_free(&facts);
	script_end();
}

/*
 * CPU 1 recorded its only event 10 us before the end. Its ring has not been overwritten, so it recorded no
 * other event in the whole time.
 */
static void ring_that_began_late_does_not_change_the_rate(void **state)
{
	struct facts facts = { 0 };

	(void)state;
	script_begin(2);
	script_type(OTHER, "mine", "other", "");
	for (uint64_t ms = 9000; ms < 10000; ms++)
		script_event(OTHER, ms * MS, 0, 0);
	script_event(OTHER, 10000 * MS - 10000, 1, 0);
	script_event(OTHER, 10000 * MS, 0, 0);
	script_ring(0)->overwritten = 100000;
	assert_int_equal(facts_read(&facts, script_trace()), 0);
	assert_int_equal(facts_rate(&facts) + 0.5, 1002);
	facts_free(&facts);
	script_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(old_event_of_another_ring_does_not_change_the_rate),
		cmocka_unit_test(ring_that_began_late_does_not_change_the_rate),
	};

	return cmocka_run_group_tests_name("doctor reach", tests, NULL, NULL);
}
