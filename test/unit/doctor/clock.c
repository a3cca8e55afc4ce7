/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests the finding about clocks that go back. A CPU that is held up after it has reserved a slot, and before it
 * reads the clock, records a timestamp that is later than those of the slots after it: no clock goes back then.
 */
#include <string.h>

#include "doctor/examine.h"
#include "unit/support/sched_writer.h"

#define CPUS  4u
#define BEGIN UINT64_C(100000000)
#define MS    UINT64_C(1000000) /* ns */

static void put(struct writer *writer, uint64_t stamp)
{
	sched_writer_put(writer, 0, stamp, SCHED_WAKE, 1);
}

/* Records in the boot ring, which all CPUs share. */
static void put_boot(struct writer *writer, uint16_t cpu, uint64_t stamp)
{
	const uint32_t value = 1;
	unsigned char payload[8] = { 4, 1 }; /* size of the extension block, and its parts: the CPU */

	memcpy(payload + 2, &cpu, sizeof(cpu));
	memcpy(payload + 4, &value, sizeof(value));
	writer_record_extended(writer, 0, stamp, SCHED_WAKE, 0, payload, sizeof(payload));
}

/* Expects a finding about clocks with this mark in the trace that `write` writes. */
static void expect(enum finding_mark mark, const char *text, void (*write)(struct writer *writer))
{
	struct findings report = { 0 };
	struct subject subject = { 0 };
	struct facts facts = { 0 };
	struct writer writer;
	struct ktread *trace;
	uint32_t found = 0;

	sched_writer_open(&writer, CPUS);
	write(&writer);
	trace = sched_writer_close(&writer);
	assert_int_equal(facts_read(&facts, trace), 0);
	subject.facts = &facts;
	examine_trace(&report, &subject);
	for (uint32_t n = 0; n < report.count; n++)
		if (strcmp(report.finding[n].kind, "clock") == 0) {
			assert_int_equal(report.finding[n].mark, mark);
			assert_non_null(strstr(report.finding[n].what, text));
			found++;
		}
	assert_int_equal(found, 1);
	findings_free(&report);
	facts_free(&facts);
	ktread_close(trace);
}

static void write_held_up(struct writer *writer)
{
	for (uint32_t n = 0; n < 1000; n++)
		put(writer, BEGIN + n * MS + (n % 300 == 10 ? 200 * MS : 0));
}

static void cpu_that_was_held_up_has_no_clock_that_goes_back(void **state)
{
	(void)state;
	expect(FINDING_OK, "no clock goes back", write_held_up);
}

static void write_nested(struct writer *writer)
{
	put(writer, BEGIN + 290 * MS);
	put(writer, BEGIN + 280 * MS);
	put(writer, BEGIN + 270 * MS);
	for (uint32_t n = 0; n < 250; n++)
		put(writer, BEGIN + n * MS);
}

static void three_writers_held_up_at_once_have_no_clock_that_goes_back(void **state)
{
	(void)state;
	expect(FINDING_OK, "no clock goes back", write_nested);
}

static void write_boot_ring(struct writer *writer)
{
	for (uint16_t cpu = 0; cpu < CPUS; cpu++)
		put_boot(writer, cpu, BEGIN + (CPUS - cpu) * 10 * MS);
}

static void cpus_that_share_the_boot_ring_have_no_clock_that_goes_back(void **state)
{
	(void)state;
	expect(FINDING_OK, "no clock goes back", write_boot_ring);
}

static void write_ahead(struct writer *writer)
{
	for (uint32_t n = 0; n < 1000; n++)
		put_boot(writer, n % 2, BEGIN + n * MS + (n % 2 ? 500 * MS : 0));
}

/* Each CPU has its own clock in the boot ring. Other findings are about the differences between clocks. */
static void clocks_that_differ_in_the_boot_ring_do_not_go_back(void **state)
{
	(void)state;
	expect(FINDING_OK, "no clock goes back", write_ahead);
}

static void write_set_back(struct writer *writer)
{
	for (uint32_t n = 0; n < 500; n++)
		put(writer, BEGIN + n * MS);
	for (uint32_t n = 0; n < 500; n++)
		put(writer, BEGIN + n * MS);
}

static void counter_that_was_set_back_is_found(void **state)
{
	(void)state;
	expect(FINDING_WRONG, "on ring 1 timestamps go back", write_set_back);
}

static void write_two_cpus(struct writer *writer)
{
	for (uint32_t n = 0; n < 1000; n++)
		put(writer, BEGIN + n * MS + (n % 2 ? 500 * MS : 0));
}

static void two_cpus_that_record_as_one_are_found(void **state)
{
	(void)state;
	expect(FINDING_WRONG, "on ring 1 timestamps go back", write_two_cpus);
}

static void write_set_back_at_boot(struct writer *writer)
{
	for (uint32_t n = 0; n < 500; n++)
		put_boot(writer, 0, BEGIN + n * MS);
	for (uint32_t n = 0; n < 500; n++)
		put_boot(writer, 0, BEGIN + n * MS);
}

static void counter_that_was_set_back_at_boot_is_found(void **state)
{
	(void)state;
	expect(FINDING_WRONG, "on ring 0 timestamps go back", write_set_back_at_boot);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpu_that_was_held_up_has_no_clock_that_goes_back),
		cmocka_unit_test(three_writers_held_up_at_once_have_no_clock_that_goes_back),
		cmocka_unit_test(cpus_that_share_the_boot_ring_have_no_clock_that_goes_back),
		cmocka_unit_test(clocks_that_differ_in_the_boot_ring_do_not_go_back),
		cmocka_unit_test(counter_that_was_set_back_is_found),
		cmocka_unit_test(two_cpus_that_record_as_one_are_found),
		cmocka_unit_test(counter_that_was_set_back_at_boot_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
