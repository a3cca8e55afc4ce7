/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests ktrace_dump() through a transport: while the trace changes, with errors, and while another sender
 * uses the transport.
 */
#include "unit/support/dump_support.h"
#include "kernel/transport/drivers.h"

static struct {
	unsigned char bytes[1 << 20];
	size_t count;
	unsigned begins;
	/* the section table changes during each of the first `changes` calls of begin() */
	unsigned changes;
	uint64_t announced;
	size_t most; /* maximum number of bytes that a send accepts */
} device;

static int probe(struct ktrace_transport *transport)
{
	(void)transport;
	return 0;
}

static int64_t send_some(struct ktrace_transport *transport, const void *data, size_t bytes)
{
	size_t taken = bytes < device.most ? bytes : device.most;

	(void)transport;
	assert_in_range(device.count + taken, 0, sizeof(device.bytes));
	memcpy(device.bytes + device.count, data, taken);
	device.count += taken;
	return (int64_t)taken;
}

static int begin(struct ktrace_transport *transport, uint64_t bytes)
{
	(void)transport;
	device.count = 0;
	device.announced = bytes;
	if (device.begins++ < device.changes)
		ktrace_root.sequence += 2;
	return 0;
}

static struct ktrace_transport transport;

static int set_up(void **state)
{
	(void)state;
	memset(&device, 0, sizeof(device));
	device.most = sizeof(device.bytes);
	ktrace_output_init(&transport, "test", probe, send_some);
	transport.begin = begin;
	return ktrace_transport_set(&transport);
}

static void dumps_go_to_the_default_transport(void **state)
{
	const struct ktrx_root *root = (const struct ktrx_root *)(const void *)device.bytes;

	(void)state;
	assert_int_equal(ktrace_dump(NULL, KTRACE_DUMP_V2), 0);
	assert_int_equal(device.begins, 1);
	assert_int_equal(device.announced, device.count);
	assert_int_equal(root->version, 2);
	assert_int_equal(root->length, device.count);
}

static void short_writes_are_continued(void **state)
{
	(void)state;
	device.most = 1000;
	assert_int_equal(ktrace_dump(NULL, KTRACE_DUMP_V2), 0);
	assert_int_equal(device.announced, device.count);
}

static void version_1_counts_omitted_records(void **state)
{
	const struct ktrx1_header *header = (const struct ktrx1_header *)(const void *)device.bytes;

	(void)state;
	assert_int_equal(ktrace_dump(NULL, KTRACE_DUMP_V1), 0);
	assert_int_equal(header->version, 1);
	assert_int_equal(ktrace_root.v1_omitted, 1);
}

static void a_changed_table_restarts_the_dump(void **state)
{
	(void)state;
	device.changes = 2;
	assert_int_equal(ktrace_dump(NULL, KTRACE_DUMP_V2), 0);
	assert_int_equal(device.begins, 3);
	assert_int_equal(device.announced, device.count);
}

static void a_table_that_keeps_changing_is_an_error(void **state)
{
	(void)state;
	device.changes = 1000;
	assert_int_equal(ktrace_dump(NULL, KTRACE_DUMP_V2), KTRACE_OUTPUT_CHANGED);
	assert_in_range(device.begins, 2, 10);
}

static void without_a_transport_a_dump_is_an_error(void **state)
{
	(void)state;
	assert_int_equal(ktrace_transport_set(NULL), 0);
	assert_int_equal(ktrace_dump(NULL, KTRACE_DUMP_V2), KTRACE_OUTPUT_ABSENT);
}

static void only_a_seizing_dump_overrides_a_hung_sender(void **state)
{
	(void)state;
	assert_int_equal(ktrace_output_enter(false), 0);
	assert_int_equal(ktrace_dump(NULL, KTRACE_DUMP_V2), KTRACE_OUTPUT_BUSY);
	assert_int_equal(device.begins, 0);
	assert_int_equal(ktrace_dump(NULL, KTRACE_DUMP_V2 | KTRACE_DUMP_SEIZE), 0);
	assert_int_equal(device.announced, device.count);
}

static int64_t send_while_recording(struct ktrace_transport *to, const void *data, size_t bytes)
{
	dump_trace_switches(20);
	return send_some(to, data, bytes);
}

static uint64_t slots_made(void)
{
	return KTRX_WORD_INDEX(*(const uint64_t *)(uintptr_t)ktrace_ring[1].head);
}

static void a_pausing_dump_stops_recording_while_it_runs(void **state)
{
	uint64_t before = slots_made();

	(void)state;
	transport.send = send_while_recording;
	assert_int_equal(ktrace_dump(NULL, KTRACE_DUMP_V2 | KTRACE_DUMP_PAUSE), 0);
	assert_int_equal(slots_made(), before);
	assert_true(ktrace_is_started());
	assert_int_equal(ktrace_dump(NULL, KTRACE_DUMP_V2), 0);
	assert_true(slots_made() > before);
}

static void a_pausing_dump_leaves_a_stopped_trace_stopped(void **state)
{
	(void)state;
	ktrace_stop();
	assert_int_equal(ktrace_dump(NULL, KTRACE_DUMP_V2 | KTRACE_DUMP_PAUSE), 0);
	assert_false(ktrace_is_started());
	ktrace_start();
}

/* Must be the last test, because a kernel ends only once. */
static void the_end_hook_dumps_the_result(void **state)
{
	const struct ktrx_root *root = (const struct ktrx_root *)(const void *)device.bytes;

	(void)state;
	ktrace_set_end_hook(ktrace_dump_at_end, NULL);
	assert_int_equal(ktrace_output_enter(false), 0);
	ktrace_panic("for a test");
	assert_int_equal(device.begins, 1);
	assert_int_equal(root->outcome, KTRX_OUTCOME_PANIC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(dumps_go_to_the_default_transport, set_up),
		cmocka_unit_test_setup(short_writes_are_continued, set_up),
		cmocka_unit_test_setup(version_1_counts_omitted_records, set_up),
		cmocka_unit_test_setup(a_changed_table_restarts_the_dump, set_up),
		cmocka_unit_test_setup(a_table_that_keeps_changing_is_an_error, set_up),
		cmocka_unit_test_setup(without_a_transport_a_dump_is_an_error, set_up),
		cmocka_unit_test_setup(only_a_seizing_dump_overrides_a_hung_sender, set_up),
		cmocka_unit_test_setup(a_pausing_dump_stops_recording_while_it_runs, set_up),
		cmocka_unit_test_setup(a_pausing_dump_leaves_a_stopped_trace_stopped, set_up),
		cmocka_unit_test_setup(the_end_hook_dumps_the_result, set_up),
	};

	return cmocka_run_group_tests(tests, dump_trace_start, NULL);
}
