/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "transport_fake/machine.h"
#include "transport_fake/test.h"

#define BASE 0x9000000u

static struct {
	uint32_t flags, control, mask, id0;
	char sent[64];
	size_t count;
} uart;

static uint32_t uart_read(uint64_t address, unsigned bits)
{
	assert_int_equal(bits, 32);
	switch (address - BASE) {
	case 0x18:
		return uart.flags;
	case 0x30:
		return uart.control;
	case 0x38:
		return uart.mask;
	case 0xfe0:
		return uart.id0;
	case 0xfe4:
		return 0x10;
	default:
		return 0;
	}
}

static void uart_write(uint64_t address, unsigned bits, uint32_t value)
{
	assert_int_equal(bits, 32);
	if (address == BASE)
		uart.sent[uart.count++ % sizeof(uart.sent)] = (char)value;
	else if (address == BASE + 0x30)
		uart.control = value;
	else if (address == BASE + 0x38)
		uart.mask = value;
}

static struct ktrace_transport *plug(struct ktrace_pl011 *driver)
{
	memset(&uart, 0, sizeof(uart));
	uart.id0 = 0x11;
	fake_plug(&(struct fake_device){ uart_read, uart_write });
	return ktrace_pl011_init(driver, BASE);
}

static void found_by_its_part_number(void **state)
{
	struct ktrace_pl011 driver;
	struct ktrace_transport *transport = plug(&driver);

	(void)state;
	assert_int_equal(transport->probe(transport), 0);
	uart.id0 = 0;
	assert_int_equal(transport->probe(transport), KTRACE_OUTPUT_ABSENT);
}

static void works_before_the_kernel_enabled_it(void **state)
{
	struct ktrace_pl011 driver;
	struct ktrace_transport *transport = plug(&driver);

	(void)state;
	uart.mask = 0x7f0;
	assert_int_equal(transport->send(transport, "A", 1), 1);
	assert_string_equal(fake_log(),
			    "r32:9000030=0 r32:9000038=7f0 w32:9000038=0 w32:9000030=101 r32:9000018=0 "
			    "w32:9000000=41 r32:9000018=0 w32:9000030=0 w32:9000038=7f0 ");
}

static void works_after_the_kernel_enabled_it(void **state)
{
	struct ktrace_pl011 driver;
	struct ktrace_transport *transport = plug(&driver);

	(void)state;
	uart.control = 0x301;
	assert_int_equal(transport->send(transport, "trace", 5), 5);
	assert_memory_equal(uart.sent, "trace", 5);
	assert_int_equal(uart.control, 0x301);
}

static void a_fifo_that_stays_full_is_an_error(void **state)
{
	struct ktrace_pl011 driver;
	struct ktrace_transport *transport = plug(&driver);

	(void)state;
	transport->patience = 500;
	uart.flags = 1u << 5;
	assert_int_equal(transport->send(transport, "A", 1), KTRACE_OUTPUT_STALLED);
	assert_int_equal(uart.count, 0);
	assert_in_range(fake_reads(), 500, 505);
}

static void a_transmitter_that_stays_busy_is_an_error(void **state)
{
	struct ktrace_pl011 driver;
	struct ktrace_transport *transport = plug(&driver);

	(void)state;
	transport->patience = 500;
	uart.flags = 1u << 3;
	assert_int_equal(transport->send(transport, "A", 1), KTRACE_OUTPUT_STALLED);
	assert_int_equal(uart.count, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(found_by_its_part_number),
		cmocka_unit_test(works_before_the_kernel_enabled_it),
		cmocka_unit_test(works_after_the_kernel_enabled_it),
		cmocka_unit_test(a_fifo_that_stays_full_is_an_error),
		cmocka_unit_test(a_transmitter_that_stays_busy_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
