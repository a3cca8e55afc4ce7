/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests transport.c: the default transport, one sender at a time, short writes, streamed records. */
#include "kernel/transport/drivers.h"
#include "transport_fake/machine.h"
#include "transport_fake/test.h"

static struct {
	int probe_result;
	unsigned probes, sends;
	int64_t most;	      /* maximum number of bytes that a send accepts */
	int64_t fixed_result; /* the result of every send, or 0 if sends succeed */
	unsigned char bytes[64];
	size_t count;
} device;

static int probe(struct ktrace_transport *transport)
{
	(void)transport;
	device.probes++;
	return device.probe_result;
}

static int64_t send_some(struct ktrace_transport *transport, const void *data, size_t bytes)
{
	int64_t taken = (int64_t)bytes < device.most ? (int64_t)bytes : device.most;

	(void)transport;
	device.sends++;
	if (device.fixed_result)
		return device.fixed_result;
	memcpy(device.bytes + device.count, data, (size_t)taken);
	device.count += (size_t)taken;
	return taken;
}

static struct ktrace_transport transport;

static int set_up(void **state)
{
	(void)state;
	memset(&device, 0, sizeof(device));
	device.most = sizeof(device.bytes);
	ktrace_output_init(&transport, "test", probe, send_some);
	return ktrace_transport_set(NULL);
}

static void nothing_is_sent_before_a_transport_is_set(void **state)
{
	(void)state;
	assert_int_equal(ktrace_write_byte('A'), KTRACE_OUTPUT_ABSENT);
	assert_null(ktrace_transport_get());
	assert_int_equal(ktrace_transport_write(&transport, "A", 1), KTRACE_OUTPUT_ABSENT);
	assert_int_equal(device.sends, 0);
}

static void setting_probes_once(void **state)
{
	(void)state;
	assert_int_equal(ktrace_transport_set(&transport), 0);
	assert_int_equal(ktrace_transport_set(&transport), 0);
	assert_int_equal(device.probes, 1);
	assert_ptr_equal(ktrace_transport_get(), &transport);
}

static void an_absent_device_is_not_set(void **state)
{
	(void)state;
	device.probe_result = KTRACE_OUTPUT_ABSENT;
	assert_int_equal(ktrace_transport_set(&transport), KTRACE_OUTPUT_ABSENT);
	assert_null(ktrace_transport_get());
}

static void short_writes_are_retried(void **state)
{
	(void)state;
	device.most = 3;
	assert_int_equal(ktrace_transport_set(&transport), 0);
	assert_int_equal(ktrace_write_bytes("0123456789", 10), 0);
	assert_memory_equal(device.bytes, "0123456789", 10);
	assert_int_equal(device.sends, 4);
}

static void a_device_that_takes_nothing_is_an_error(void **state)
{
	(void)state;
	device.most = 0;
	assert_int_equal(ktrace_transport_set(&transport), 0);
	assert_int_equal(ktrace_write_bytes("0123", 4), KTRACE_OUTPUT_STALLED);
	assert_in_range(device.sends, 2, 100);
}

static void a_device_that_takes_more_than_there_is_is_an_error(void **state)
{
	(void)state;
	device.fixed_result = 5;
	assert_int_equal(ktrace_transport_set(&transport), 0);
	assert_int_equal(ktrace_write_bytes("0123", 4), KTRACE_OUTPUT_FAILED);
}

static void one_sender_at_a_time(void **state)
{
	(void)state;
	assert_int_equal(ktrace_transport_set(&transport), 0);
	assert_int_equal(ktrace_output_enter(false), 0);
	assert_int_equal(ktrace_write_byte('A'), KTRACE_OUTPUT_BUSY);
	ktrace_output_leave();
	assert_int_equal(ktrace_write_byte('A'), 0);
}

static void a_panic_takes_the_output_from_a_sender(void **state)
{
	(void)state;
	assert_int_equal(ktrace_output_enter(false), 0);
	assert_int_equal(ktrace_output_enter(true), 0);
	ktrace_output_leave();
	assert_int_equal(ktrace_output_enter(false), 0);
	ktrace_output_leave();
}

static void a_record_has_the_layout_of_version_1(void **state)
{
	static const uint32_t data[5] = { 0x11, 0x22, 0x33, 0x44, 0x55667788 };
	static const unsigned char expected[32] = {
		8, 7,	 6, 5, 4, 3,	2, 1, 0x05, 0x04 | 3 << 5, 0,	 0xab, 0x11, 0, 0, 0, 0x22, 0, 0,
		0, 0x33, 0, 0, 0, 0x44, 0, 0, 0,    0x88,	   0x77, 0x66, 0x55,
	};

	(void)state;
	assert_int_equal(ktrace_transport_set(&transport), 0);
	assert_int_equal(ktrace_write_record(UINT64_C(0x0102030405060708),
					     ktrace_pack_header(KTRX1_CTX_SWITCH, 1, 3 + 2048, 0xab), data),
			 0);
	assert_int_equal(device.count, 32);
	assert_memory_equal(device.bytes, expected, 32);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(nothing_is_sent_before_a_transport_is_set, set_up),
		cmocka_unit_test_setup(setting_probes_once, set_up),
		cmocka_unit_test_setup(an_absent_device_is_not_set, set_up),
		cmocka_unit_test_setup(short_writes_are_retried, set_up),
		cmocka_unit_test_setup(a_device_that_takes_nothing_is_an_error, set_up),
		cmocka_unit_test_setup(a_device_that_takes_more_than_there_is_is_an_error, set_up),
		cmocka_unit_test_setup(one_sender_at_a_time, set_up),
		cmocka_unit_test_setup(a_panic_takes_the_output_from_a_sender, set_up),
		cmocka_unit_test_setup(a_record_has_the_layout_of_version_1, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
