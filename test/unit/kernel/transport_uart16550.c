/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "transport_fake/machine.h"
#include "transport_fake/test.h"

#define BASE 0x3f8u

/* A simulated UART. `status` is the value of its line status register. */
static struct {
	uint8_t registers[8];
	uint8_t status, id;
	/* number of bytes sent since the status was last read, and the largest value of this number */
	unsigned burst, longest_burst;
	char sent[64];
	size_t count;
} uart;

static uint32_t uart_read(uint64_t address, unsigned bits)
{
	assert_int_equal(bits, 8);
	switch (address - BASE) {
	case 2:
		return uart.id;
	case 5:
		uart.burst = 0;
		return uart.status;
	default:
		return uart.registers[(address - BASE) & 7];
	}
}

static void uart_write(uint64_t address, unsigned bits, uint32_t value)
{
	assert_int_equal(bits, 8);
	if (address == BASE && !(uart.registers[3] & 0x80)) {
		uart.sent[uart.count++ % sizeof(uart.sent)] = (char)value;
		if (++uart.burst > uart.longest_burst)
			uart.longest_burst = uart.burst;
		return;
	}
	uart.registers[(address - BASE) & 7] = (uint8_t)value;
}

static struct ktrace_transport *plug(struct ktrace_uart16550 *driver, uint8_t status, uint8_t id)
{
	const struct ktrace_io io = { BASE, true };

	memset(&uart, 0, sizeof(uart));
	uart.status = status;
	uart.id = id;
	fake_plug(&(struct fake_device){ uart_read, uart_write });
	return ktrace_uart16550_init(driver, io, 0);
}

static void probe_restores_the_scratch_register(void **state)
{
	struct ktrace_uart16550 driver;
	struct ktrace_transport *transport = plug(&driver, 0x60, 0);

	(void)state;
	uart.registers[7] = 0x5c;
	assert_int_equal(transport->probe(transport), 0);
	assert_string_equal(fake_log(), "r8:3fd=60 r8:3ff=5c w8:3ff=a3 r8:3ff=a3 w8:3ff=5c ");
}

static void absent_on_an_empty_bus(void **state)
{
	struct ktrace_uart16550 driver;
	struct ktrace_transport *transport = plug(&driver, 0xff, 0);

	(void)state;
	assert_int_equal(transport->probe(transport), KTRACE_OUTPUT_ABSENT);
	assert_string_equal(fake_log(), "r8:3fd=ff ");
}

static void the_kernels_registers_are_restored(void **state)
{
	struct ktrace_uart16550 driver;
	struct ktrace_transport *transport = plug(&driver, 0x60, 0);

	(void)state;
	uart.registers[1] = 0x03; /* the interrupts of the UART are enabled */
	uart.registers[3] = 0x83; /* the kernel's driver was interrupted while it set the divisor */
	assert_int_equal(transport->send(transport, "A", 1), 1);
	assert_string_equal(fake_log(), "r8:3fb=83 w8:3fb=3 r8:3f9=3 w8:3f9=0 r8:3fa=0 "
					"r8:3fd=60 w8:3f8=41 r8:3fd=60 w8:3f9=3 w8:3fb=83 ");
}

static void a_fifo_takes_sixteen_bytes_per_poll(void **state)
{
	static const char text[] = "forty bytes of text, as a dump would be.";
	struct ktrace_uart16550 driver;
	struct ktrace_transport *transport = plug(&driver, 0x60, 0xc1);

	(void)state;
	assert_int_equal(transport->send(transport, text, 40), 40);
	assert_memory_equal(uart.sent, text, 40);
	assert_int_equal(uart.longest_burst, 16);
}

static void without_a_fifo_every_byte_is_polled_for(void **state)
{
	struct ktrace_uart16550 driver;
	struct ktrace_transport *transport = plug(&driver, 0x60, 0x01);

	(void)state;
	assert_int_equal(transport->send(transport, "abc", 3), 3);
	assert_int_equal(uart.longest_burst, 1);
}

static void a_transmitter_that_is_never_ready_is_an_error(void **state)
{
	struct ktrace_uart16550 driver;
	struct ktrace_transport *transport = plug(&driver, 0x00, 0xc1);

	(void)state;
	transport->patience = 1000;
	uart.registers[1] = 0x0f;
	assert_int_equal(transport->send(transport, "A", 1), KTRACE_OUTPUT_STALLED);
	assert_int_equal(uart.count, 0);
	assert_int_equal(uart.registers[1], 0x0f);
	assert_in_range(fake_reads(), 1000, 1010);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(probe_restores_the_scratch_register),
		cmocka_unit_test(absent_on_an_empty_bus),
		cmocka_unit_test(the_kernels_registers_are_restored),
		cmocka_unit_test(a_fifo_takes_sixteen_bytes_per_poll),
		cmocka_unit_test(without_a_fifo_every_byte_is_polled_for),
		cmocka_unit_test(a_transmitter_that_is_never_ready_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
