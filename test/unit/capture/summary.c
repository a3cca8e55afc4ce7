/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests the summary that `ktrace run` makes of its trace. */
#include "capture/output.h"

#include "unit/support/ktread_sample.h"

/* Writes the writer's trace to a file and returns the summary of the file. */
static struct capture_summary summary_of(struct writer *writer)
{
	struct capture_summary summary;
	struct bytes dump = { 0 };

	writer_dump(writer, &dump);
	assert_int_equal(capture_summary_read(&summary, temporary_bytes(&dump)), 0);
	bytes_free(&dump);
	return summary;
}

static void events_and_loss_are_counted(void **state)
{
	struct capture_summary summary;
	struct writer writer;
	char text[128];

	(void)state;
	begin(&writer, 3);
	for (uint32_t n = 0; n < SLOTS + 9; n++)
		put_switch(&writer, 1, 1000 + n, n);
	summary = summary_of(&writer);
	assert_int_equal(summary.cpus, 1); /* the other CPU records nothing and is not online */
	assert_int_equal(summary.events, SLOTS);
	assert_int_equal(summary.overwritten, 10); /* one of these slots is an anchor */
	capture_summary_loss(&summary, text, sizeof(text));
	assert_string_equal(text, "10 slots overwritten");
	writer_close(&writer);
}

/* If the descriptor of a ring was overwritten, the contents of the ring cannot be read. */
static void overwritten_rings_are_unusable(void **state)
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

/* The kernel supports eight CPUs. Two of them were started. */
static void cpus_that_never_ran_are_not_counted(void **state)
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

/* A kernel that never calls ktrace_init() reports one CPU. Its records show that there are further CPUs. */
static void cpus_of_boot_ring_are_counted(void **state)
{
	const unsigned char payload[24] = { 4, 1 /* KTRX_EXT_CPU */, 5 };
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
		cmocka_unit_test(events_and_loss_are_counted),
		cmocka_unit_test(overwritten_rings_are_unusable),
		cmocka_unit_test(cpus_that_never_ran_are_not_counted),
		cmocka_unit_test(cpus_of_boot_ring_are_counted),
	};

	return cmocka_run_group_tests_name("capture summary", tests, NULL, temporary_teardown);
}
