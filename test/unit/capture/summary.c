/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What `ktrace run` counts in the trace that it leaves. */
#include "capture/output.h"

#include "unit/support/ktread_sample.h"

/* Puts the writer's trace into a file and counts it. */
static struct capture_summary summary_of(struct writer *writer)
{
	struct capture_summary summary;
	struct bytes dump = { 0 };

	writer_dump(writer, &dump);
	assert_int_equal(capture_summary_read(&summary, temporary_bytes(&dump)), 0);
	bytes_free(&dump);
	return summary;
}

static void counts_events_and_loss(void **state)
{
	struct capture_summary summary;
	struct writer writer;
	char text[128];

	(void)state;
	begin(&writer, 3);
	for (uint32_t n = 0; n < SLOTS + 9; n++)
		put_switch(&writer, 1, 1000 + n, n);
	summary = summary_of(&writer);
	assert_int_equal(summary.cpus, 1); /* the other CPU neither records nor says that it runs */
	assert_int_equal(summary.events, SLOTS);
	assert_int_equal(summary.overwritten, 10); /* an anchor among them */
	capture_summary_loss(&summary, text, sizeof(text));
	assert_string_equal(text, "10 slots overwritten");
	writer_close(&writer);
}

/* Where something wrote over the rings' descriptions, what they held is lost. */
static void rings_that_were_written_over_are_a_loss(void **state)
{
	struct capture_summary summary;
	struct writer writer;
	char text[128];

	(void)state;
	begin(&writer, 3);
	put_switch(&writer, 1, 1000, 1);
	writer.ring[1].row.mask = 0x403be740;
	summary = summary_of(&writer);
	assert_int_equal(summary.events, 0);
	capture_summary_loss(&summary, text, sizeof(text));
	assert_string_equal(text, "1 ring unusable");
	writer_close(&writer);
}

/* The kernel has made room for eight CPUs, of which two were started. */
static void does_not_count_cpus_that_never_ran(void **state)
{
	struct writer writer;

	(void)state;
	begin(&writer, 9);
	writer.root.cpus = 8;
	put_switch(&writer, 1, 1000, 1);
	put_switch(&writer, 2, 2000, 2);
	assert_int_equal(summary_of(&writer).cpus, 2);
	writer_close(&writer);
}

/* A kernel that never calls ktrace_init() says that it has one CPU; its records tell of the others. */
static void counts_cpus_of_the_boot_ring(void **state)
{
	const unsigned char payload[24] = { 4, 1 /* the CPU is told */, 5 };
	struct writer writer;

	(void)state;
	begin(&writer, 1);
	writer.root.cpus = 1;
	writer_record_extended(&writer, 0, 5000, SWITCH, 3, payload, sizeof(payload));
	assert_int_equal(summary_of(&writer).cpus, 1);
	writer_close(&writer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_events_and_loss),
		cmocka_unit_test(rings_that_were_written_over_are_a_loss),
		cmocka_unit_test(does_not_count_cpus_that_never_ran),
		cmocka_unit_test(counts_cpus_of_the_boot_ring),
	};

	return cmocka_run_group_tests_name("capture summary", tests, NULL, temporary_teardown);
}
