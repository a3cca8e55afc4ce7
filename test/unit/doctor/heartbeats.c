/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests the finding about heartbeats. */
#include <string.h>

#include "doctor/examine.h"
#include "unit/support/sched_writer.h"

#define CPUS	   2u
#define HEARTBEATS 200u

/*
 * Expects one finding about heartbeats, which is OK and has this text. Both CPUs are online. CPU 1 is in this
 * mode, and has had this number of heartbeats. The trace covers 2 s. `lost`: the oldest events are lost.
 */
static void expect(const char *text, uint32_t mode, uint64_t heartbeats, bool lost)
{
	const uint32_t events = lost ? 40000 : 2;
	struct findings report = { 0 };
	struct facts facts = { 0 };
	const struct subject subject = { .facts = &facts };
	struct writer writer;
	struct ktread *trace;
	uint32_t found = 0;

	sched_writer_open(&writer, CPUS);
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		const struct ktrx_cpu row = {
			.online = 1,
			.mode = cpu ? mode : KTRX_MODE_KERNEL,
			.heartbeats = cpu ? heartbeats : HEARTBEATS,
		};

		bytes_append(&writer.cpus, &row, sizeof(row));
	}
	for (uint32_t n = 0; n < events; n++)
		sched_writer_put(&writer, 0, SCHED_HZ + 2 * SCHED_HZ / (events - 1) * n, SCHED_WAKE, 1);
	trace = sched_writer_close(&writer);
	assert_int_equal(facts_read(&facts, trace), 0);
	examine_trace(&report, &subject);
	for (uint32_t n = 0; n < report.count; n++)
		if (strcmp(report.finding[n].kind, "heartbeats") == 0) {
			assert_int_equal(report.finding[n].mark, FINDING_OK);
			assert_string_equal(report.finding[n].what, text);
			found++;
		}
	assert_int_equal(found, 1);
	findings_free(&report);
	facts_free(&facts);
	ktread_close(trace);
}

static void rate_is_of_the_time_that_the_guest_ran(void **state)
{
	(void)state;
	expect("a second, by CPU: 100, 50", KTRX_MODE_KERNEL, HEARTBEATS / 2, false);
}

static void rate_is_unknown_if_oldest_events_are_lost(void **state)
{
	(void)state;
	expect("each online CPU has them; the rate is unknown, because the rings do not show how long the guest "
	       "ran",
	       KTRX_MODE_KERNEL, HEARTBEATS, true);
}

static void idle_cpu_may_have_no_heartbeats(void **state)
{
	(void)state;
	expect("each online CPU that is not idle has them; the rate is unknown, because the rings do not show how "
	       "long the guest ran",
	       KTRX_MODE_IDLE, 0, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rate_is_of_the_time_that_the_guest_ran),
		cmocka_unit_test(rate_is_unknown_if_oldest_events_are_lost),
		cmocka_unit_test(idle_cpu_may_have_no_heartbeats),
	};

	return cmocka_run_group_tests_name("doctor heartbeats", tests, NULL, NULL);
}
