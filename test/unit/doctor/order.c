/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests findings about the order of events on two CPUs. The clocks of the CPUs differ and were not measured.
 */
#include <stdlib.h>
#include <string.h>

#include "doctor/examine.h"
#include "unit/support/sched_writer.h"
#include "unit/support/random.h"

#define CPUS   2u
#define STEPS  2000u
#define AHEAD  6000u
#define SELDOM 100u /* every SELDOM-th step is irregular, in the way that enum seldom selects */

static uint64_t seed, ahead; /* `ahead`: number of ns by which the clock of CPU 1 is ahead of that of CPU 0 */

static const char rule[] =
	"run-without-wake: never sched.switch (prev != next, next != 0) while next is sleeping or waiting";

enum seldom {
	SELDOM_NOTHING, /* no step is irregular */
	SELDOM_JUMP,	/* in this step, the clock of CPU 1 is ahead by more than in the other steps */
	SELDOM_NO_WAKE, /* in this step, the kernel does not call the hook for the wakeup */
};

static uint64_t stamp_of(uint32_t cpu, uint64_t now)
{
	return cpu == 1 ? now + ahead : now;
}

/* In each step, one CPU wakes the thread of the other CPU. That thread runs there and sleeps again. */
static void put_steps(struct writer *writer, enum seldom seldom)
{
	uint64_t now = 100000000;

	seed = 7;
	for (uint32_t step = 0; step < STEPS; step++) {
		const uint32_t waker = random_below(&seed, CPUS), woken = 1 - waker, thread = woken + 1;
		const bool special = step % SELDOM == SELDOM - 1;
		const uint64_t jump = special && seldom == SELDOM_JUMP ? AHEAD : 0;

		if (!(special && seldom == SELDOM_NO_WAKE))
			sched_writer_put(writer, waker, stamp_of(waker, now) + (waker == 1 ? jump : 0),
					 SCHED_WAKE, thread);
		now += 2000 + random_below(&seed, 20000);
		sched_writer_switch(writer, woken, stamp_of(woken, now), 0, thread, 0);
		now += 1000 + random_below(&seed, 50000);
		sched_writer_switch(writer, woken, stamp_of(woken, now), thread, 0, 1);
		now += 10000 + random_below(&seed, 300000);
	}
}

/* Examines a trace in which the clock of CPU 1 is `by` ns ahead. Stores the findings in `report`. */
static void examine(struct findings *report, uint64_t by, enum seldom seldom)
{
	struct facts facts;
	struct subject subject;
	struct rules_error error;
	struct writer writer;
	struct ktread *trace;

	ahead = by;
	sched_writer_open(&writer, CPUS);
	put_steps(&writer, seldom);
	trace = sched_writer_close(&writer);

	memset(&subject, 0, sizeof(subject));
	memset(&facts, 0, sizeof(facts));
	memset(report, 0, sizeof(*report));
	assert_int_equal(facts_read(&facts, trace), 0);
	subject.facts = &facts;
	assert_int_equal(rules_parse(&subject.rules, rule, strlen(rule), &error), 0);
	assert_int_equal(examine_order(report, &subject, trace), 0);
	assert_int_equal(examine_rules(report, &subject, trace), 0);
	free(subject.rules);
	facts_free(&facts);
	ktread_close(trace);
}

/* Returns true if there is a finding with this mark and kind whose text contains `text`. */
static bool found(const struct findings *report, enum finding_mark mark, const char *about, const char *text)
{
	for (uint32_t n = 0; n < report->count; n++)
		if (report->finding[n].mark == mark && strcmp(report->finding[n].kind, about) == 0 &&
		    strstr(report->finding[n].what, text))
			return true;
	return false;
}

static void differing_clocks_violate_no_rule(void **state)
{
	struct findings report;

	(void)state;
	examine(&report, AHEAD, SELDOM_NOTHING);
	assert_true(found(&report, FINDING_WRONG, "order", "clocks differ"));
	assert_true(found(&report, FINDING_OK, "rules", "none of the 1"));
	findings_free(&report);
}

static void jumping_clock_violates_no_rule(void **state)
{
	struct findings report;

	(void)state;
	examine(&report, AHEAD, SELDOM_JUMP);
	assert_true(found(&report, FINDING_WRONG, "order", "clocks differ"));
	assert_false(found(&report, FINDING_WRONG, "rules", ""));
	assert_true(found(&report, FINDING_NOTE, "rules", "run-without-wake may be violated"));
	assert_false(found(&report, FINDING_OK, "rules", ""));
	findings_free(&report);
}

static void missing_wakeup_is_found_beside_differing_clocks(void **state)
{
	struct findings report;

	(void)state;
	examine(&report, AHEAD, SELDOM_NO_WAKE);
	assert_true(found(&report, FINDING_WRONG, "order", "clocks differ"));
	assert_true(found(&report, FINDING_WRONG, "rules", "run-without-wake is violated 20 times"));
	findings_free(&report);
}

/*
 * No effect comes before its cause. But the clocks were not measured, so this does not prove that a wakeup is
 * missing.
 */
static void missing_wakeup_is_not_taken_for_differing_clock(void **state)
{
	struct findings report;

	(void)state;
	examine(&report, 0, SELDOM_NO_WAKE);
	assert_true(found(&report, FINDING_OK, "order", "after its cause"));
	assert_false(found(&report, FINDING_WRONG, "rules", ""));
	assert_true(found(&report, FINDING_NOTE, "rules", "run-without-wake may be violated 20 times"));
	findings_free(&report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(differing_clocks_violate_no_rule),
		cmocka_unit_test(jumping_clock_violates_no_rule),
		cmocka_unit_test(missing_wakeup_is_found_beside_differing_clocks),
		cmocka_unit_test(missing_wakeup_is_not_taken_for_differing_clock),
	};

	return cmocka_run_group_tests_name("doctor order", tests, NULL, NULL);
}
