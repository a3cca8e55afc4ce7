/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests rates in the summary of a trace whose rings cover different times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "export/summary.h"
#include "unit/support/script.h"

#define MS UINT64_C(1000000)

enum { OLD = 1, NEW };

/*
 * The ring of CPU 1 has one event, which is 10 s old. The ring of CPU 0 has been overwritten, and contains the
 * 1000 events of the last second.
 */
static void ring_counts_for_the_time_that_it_covers(void **state)
{
	struct tally *tally;

	(void)state;
	script_begin(2);
	script_type(OLD, "mine", "old", "");
	script_type(NEW, "mine", "new", "");
	script_event(OLD, 0 * MS, 1, 4);
	for (uint64_t ms = 9000; ms <= 10000; ms++)
		script_event(NEW, ms * MS, 0, 5);
	script_ring(0)->overwritten = 100000;
	script_ring(0)->records = 1001;
	script_ring(1)->records = 1;
	assert_int_equal(tally_trace(&tally, script_trace()), 0);
	assert_int_equal(tally_rates(tally, script_trace()), 0);
	assert_true(tally->rated);
	assert_int_equal(tally->rate * 1e9 + 0.5, 1001);
	assert_int_equal(tally->event[NEW].rate * 1e9 + 0.5, 1001);
	assert_int_equal(tally->event[OLD].rate * 1e10 + 0.5, 1);
	assert_int_equal(tally->cpu_rate[0] * 1e9 + 0.5, 1001);
	assert_int_equal(tally->thread[0][4].rate * 1e10 + 0.5, 1);
	tally_free(tally);
	script_end();
}

/*
 * The ring of CPU 0 covers the last second, and has one event of thread 6 in it, shortly before the end. The
 * ring of CPU 1 has two events of thread 6 in 10 s.
 */
static void filter_does_not_shorten_the_time_that_a_ring_covers(void **state)
{
	struct tally *tally;

	(void)state;
	script_begin(2);
	script_type(OLD, "mine", "old", "");
	script_type(NEW, "mine", "new", "");
	script_event(OLD, 0 * MS, 1, 6);
	for (uint64_t ms = 9000; ms < 10000; ms++)
		script_event(NEW, ms * MS, 0, ms == 9998 ? 6 : 5);
	script_event(OLD, 9999 * MS, 1, 6);
	script_event(NEW, 10000 * MS, 0, 5);
	script_ring(0)->overwritten = 100000;
	script_ring(0)->records = 1001;
	script_ring(1)->records = 2;
	script_select_thread(6);
	assert_int_equal(tally_trace(&tally, script_trace()), 0);
	assert_int_equal(tally_rates(tally, script_trace()), 0);
	assert_int_equal(tally->events, 3);
	assert_true(tally->rated);
	assert_int_equal(tally->cpu_rate[0] * 1e9 + 0.5, 1);
	assert_int_equal(tally->cpu_rate[1] * 1e10 + 0.5, 2);
	assert_int_equal(tally->rate * 1e10 + 0.5, 12);
	tally_free(tally);
	script_end();
}

/* The number of events in all the time that the trace covers exceeds 64 bits. */
static void share_of_cost_of_a_huge_rate_is_a_number(void **state)
{
	static struct tally tally;
	const struct summary summary = { .tally = &tally, .cost = 1000 };

	(void)state;
	tally.events = 2;
	tally.last = UINT64_MAX;
	tally.rated = true;
	assert_int_equal(summary_cost_share(&summary, 2, 1000, 2), 500);
}

static void rings_without_loss_need_no_rates(void **state)
{
	struct tally *tally;

	(void)state;
	script_begin(2);
	script_type(OLD, "mine", "old", "");
	script_event(OLD, MS, 1, 4);
	script_event(OLD, 9 * MS, 0, 4);
	script_ring(0)->records = script_ring(1)->records = 1;
	assert_int_equal(tally_trace(&tally, script_trace()), 0);
	assert_int_equal(tally_rates(tally, script_trace()), 0);
	assert_false(tally->rated);
	tally_free(tally);
	script_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ring_counts_for_the_time_that_it_covers),
		cmocka_unit_test(filter_does_not_shorten_the_time_that_a_ring_covers),
		cmocka_unit_test(share_of_cost_of_a_huge_rate_is_a_number),
		cmocka_unit_test(rings_without_loss_need_no_rates),
	};

	return cmocka_run_group_tests_name("export rates", tests, NULL, NULL);
}
