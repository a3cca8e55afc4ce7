/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "transport_fake/machine.h"
#include "transport_fake/test.h"

static uint32_t answers(uint64_t address, unsigned bits)
{
	(void)bits;
	return address == KTRACE_DEBUGCON_PORT ? 0xe9 : 0xff;
}

static void probe_reads_the_port_number(void **state)
{
	struct ktrace_debugcon debugcon;
	struct ktrace_transport *transport = ktrace_debugcon_init(&debugcon, KTRACE_DEBUGCON_PORT);

	(void)state;
	fake_plug(&(struct fake_device){ .read = answers });
	assert_int_equal(transport->probe(transport), 0);
	assert_string_equal(fake_log(), "r8:e9=e9 ");
}

static void absent_on_an_empty_bus(void **state)
{
	struct ktrace_debugcon debugcon;
	struct ktrace_transport *transport = ktrace_debugcon_init(&debugcon, KTRACE_DEBUGCON_PORT);

	(void)state;
	fake_plug(&(struct fake_device){ 0 });
	assert_int_equal(transport->probe(transport), KTRACE_OUTPUT_ABSENT);
}

static void bytes_go_out_in_order_one_by_one(void **state)
{
	struct ktrace_debugcon debugcon;
	struct ktrace_transport *transport = ktrace_debugcon_init(&debugcon, KTRACE_DEBUGCON_PORT);

	(void)state;
	fake_plug(&(struct fake_device){ .read = answers });
	assert_int_equal(transport->send(transport, "KTR", 3), 3);
	assert_string_equal(fake_log(), "w8:e9=4b w8:e9=54 w8:e9=52 ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(probe_reads_the_port_number),
		cmocka_unit_test(absent_on_an_empty_bus),
		cmocka_unit_test(bytes_go_out_in_order_one_by_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
