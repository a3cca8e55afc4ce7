/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What doctor concludes of rules about two CPUs whose clocks differ and were not measured. */
#include <stdlib.h>
#include <string.h>

#include "doctor/examine.h"
#include "unit/support/ktread_writer.h"

#define CPUS   2u
#define HZ     UINT64_C(1000000000) /* stamps are ns */
#define STEPS  2000u
#define SWITCH 1u
#define WAKE   2u
#define AHEAD  6000u
#define SELDOM 100u /* one step in so many is special */

static uint64_t seed, ahead; /* ns that the clock of CPU 1 is ahead of that of CPU 0 */

static const uint8_t switch_types[] = { KTRX_TYPE_U32, KTRX_TYPE_U32, KTRX_TYPE_U8, 0 };
static const char switch_strings[] = "sched\0switch\0%u -> %u in %u\0sched.c\0prev\0\0next\0\0state\0";
static const uint8_t wake_types[] = { KTRX_TYPE_U32, 0 };
static const char wake_strings[] = "sched\0wake\0%u\0sched.c\0thread\0";
static const char rule[] =
	"run-without-wake: never sched.switch (prev != next, next != 0) while next is sleeping or waiting";

enum seldom {
	SELDOM_NOTHING, /* happens */
	SELDOM_JUMP,	/* the clock of CPU 1 is ahead by more for one wakeup */
	SELDOM_NO_WAKE, /* a wakeup has no hook */
};

static uint32_t random_below(uint32_t limit)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(seed >> 33) % limit;
}

static void put(struct writer *writer, uint32_t cpu, uint64_t stamp, uint32_t event, const void *payload,
		uint32_t size)
{
	writer_record(writer, cpu + 1, stamp + (cpu == 1 ? ahead : 0), event, 0, payload, size);
}

static void put_switch(struct writer *writer, uint32_t cpu, uint64_t stamp, uint32_t prev, uint32_t next,
		       uint8_t state)
{
	unsigned char payload[9];

	memcpy(payload, &prev, 4);
	memcpy(payload + 4, &next, 4);
	payload[8] = state;
	put(writer, cpu, stamp, SWITCH, payload, sizeof(payload));
}

/* The CPUs take turns: one wakes the thread of the other, which runs there and sleeps again. */
static void put_steps(struct writer *writer, enum seldom seldom)
{
	uint64_t now = 100000000;

	seed = 7;
	for (uint32_t step = 0; step < STEPS; step++) {
		const uint32_t waker = random_below(CPUS), woken = 1 - waker, thread = woken + 1;
		const bool special = step % SELDOM == SELDOM - 1;
		const uint64_t jump = special && seldom == SELDOM_JUMP ? AHEAD : 0;

		if (!(special && seldom == SELDOM_NO_WAKE))
			put(writer, waker, now + (waker == 1 ? jump : 0), WAKE, &thread, sizeof(thread));
		now += 2000 + random_below(20000);
		put_switch(writer, woken, now, 0, thread, 0);
		now += 1000 + random_below(50000);
		put_switch(writer, woken, now, thread, 0, 1);
		now += 10000 + random_below(300000);
	}
}

/* The findings of a trace, in `report`; the clock of CPU 1 is `by` ns ahead. */
static void examine(struct findings *report, uint64_t by, enum seldom seldom)
{
	struct facts facts;
	struct patient patient;
	struct rules_error error;
	struct bytes dump = { NULL, 0 };
	struct writer writer;
	struct ktread *trace;

	ahead = by;
	writer_open(&writer, CPUS + 1, 14);
	writer.root.frequency = HZ;
	writer.root.cpus = CPUS;
	writer_event(&writer, switch_types, switch_strings, sizeof(switch_strings));
	writer_event(&writer, wake_types, wake_strings, sizeof(wake_strings));
	put_steps(&writer, seldom);
	writer_dump(&writer, &dump);
	trace = open_ok(temporary_bytes(&dump), NULL);
	bytes_free(&dump);
	writer_close(&writer);

	memset(&patient, 0, sizeof(patient));
	memset(&facts, 0, sizeof(facts));
	memset(report, 0, sizeof(*report));
	assert_int_equal(facts_read(&facts, trace), 0);
	patient.facts = &facts;
	assert_int_equal(rules_parse(&patient.rules, rule, strlen(rule), &error), 0);
	assert_int_equal(examine_order(report, &patient, trace), 0);
	assert_int_equal(examine_rules(report, &patient, trace), 0);
	free(patient.rules);
	facts_free(&facts);
	ktread_close(trace);
}

/* Whether there is a finding of that mark about that with `text` in it. */
static bool found(const struct findings *report, enum finding_mark mark, const char *about, const char *text)
{
	for (uint32_t n = 0; n < report->count; n++)
		if (report->finding[n].mark == mark && strcmp(report->finding[n].kind, about) == 0 &&
		    strstr(report->finding[n].what, text))
			return true;
	return false;
}

static void rules_hold_where_clocks_differ(void **state)
{
	struct findings report;

	(void)state;
	examine(&report, AHEAD, SELDOM_NOTHING);
	assert_true(found(&report, FINDING_WRONG, "order", "clocks differ"));
	assert_true(found(&report, FINDING_OK, "rules", "none of 1"));
	findings_free(&report);
}

static void a_clock_that_jumps_violates_no_rule(void **state)
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

static void a_missing_wakeup_is_found_beside_clocks_that_differ(void **state)
{
	struct findings report;

	(void)state;
	examine(&report, AHEAD, SELDOM_NO_WAKE);
	assert_true(found(&report, FINDING_WRONG, "order", "clocks differ"));
	assert_true(found(&report, FINDING_WRONG, "rules", "run-without-wake is violated 20 times"));
	findings_free(&report);
}

static void a_missing_wakeup_is_no_clock_that_differs(void **state)
{
	struct findings report;

	(void)state;
	examine(&report, 0, SELDOM_NO_WAKE);
	assert_true(found(&report, FINDING_OK, "order", "after its cause"));
	assert_true(found(&report, FINDING_WRONG, "rules", "run-without-wake is violated 20 times"));
	findings_free(&report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_hold_where_clocks_differ),
		cmocka_unit_test(a_clock_that_jumps_violates_no_rule),
		cmocka_unit_test(a_missing_wakeup_is_found_beside_clocks_that_differ),
		cmocka_unit_test(a_missing_wakeup_is_no_clock_that_differs),
	};

	return cmocka_run_group_tests_name("doctor order", tests, NULL, NULL);
}
