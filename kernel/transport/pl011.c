/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * ARM's PL011 UART. Registers are restored after each send, because the kernel's own driver may use the UART,
 * too. A UART that is still disabled is enabled while bytes are sent.
 */
#include "drivers.h"

#include "ktrace_io.h"

/* Registers, by offset. */
#define KTRACE_DATA	      0x00u
#define KTRACE_FLAGS	      0x18u
#define KTRACE_CONTROL	      0x30u
#define KTRACE_INTERRUPT_MASK 0x38u
#define KTRACE_PERIPHERAL_ID0 0xfe0u
#define KTRACE_PERIPHERAL_ID1 0xfe4u

#define KTRACE_FLAGS_BUSY	   (1u << 3)
#define KTRACE_FLAGS_TRANSMIT_FULL (1u << 5)
#define KTRACE_CONTROL_TRANSMIT_ON (1u << 8 | 1u)
#define KTRACE_PART_LOW		   0x11u /* part number 0x011: low byte, then the high four bits */
#define KTRACE_PART_HIGH	   0x0u

static bool uart_wait_clear(const struct ktrace_pl011 *uart, uint32_t flag)
{
	for (uint32_t i = 0; i < uart->transport.patience; i++) {
		if (!(ktrace_io_read32(uart->io, KTRACE_FLAGS) & flag))
			return true;
		ktrace_io_relax();
	}
	return false;
}

static int uart_probe(struct ktrace_transport *transport)
{
	const struct ktrace_pl011 *uart = (const struct ktrace_pl011 *)transport;

	if ((ktrace_io_read32(uart->io, KTRACE_PERIPHERAL_ID0) & 0xffu) != KTRACE_PART_LOW ||
	    (ktrace_io_read32(uart->io, KTRACE_PERIPHERAL_ID1) & 0x0fu) != KTRACE_PART_HIGH)
		return KTRACE_OUTPUT_ABSENT;
	return 0;
}

static int64_t uart_fill(const struct ktrace_pl011 *uart, const unsigned char *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!uart_wait_clear(uart, KTRACE_FLAGS_TRANSMIT_FULL))
			return KTRACE_OUTPUT_STALLED;
		ktrace_io_write32(uart->io, KTRACE_DATA, bytes[i]);
	}
	return uart_wait_clear(uart, KTRACE_FLAGS_BUSY) ? (int64_t)count : KTRACE_OUTPUT_STALLED;
}

static int64_t uart_send(struct ktrace_transport *transport, const void *data, size_t bytes)
{
	const struct ktrace_pl011 *uart = (const struct ktrace_pl011 *)transport;
	uint32_t control = ktrace_io_read32(uart->io, KTRACE_CONTROL);
	uint32_t mask = ktrace_io_read32(uart->io, KTRACE_INTERRUPT_MASK);
	int64_t result;

	ktrace_io_write32(uart->io, KTRACE_INTERRUPT_MASK, 0);
	ktrace_io_write32(uart->io, KTRACE_CONTROL, control | KTRACE_CONTROL_TRANSMIT_ON);
	result = uart_fill(uart, (const unsigned char *)data, bytes);
	ktrace_io_write32(uart->io, KTRACE_CONTROL, control);
	ktrace_io_write32(uart->io, KTRACE_INTERRUPT_MASK, mask);
	return result;
}

struct ktrace_transport *ktrace_pl011_init(struct ktrace_pl011 *uart, uintptr_t base)
{
	ktrace_output_init(&uart->transport, "pl011", uart_probe, uart_send);
	uart->io.base = base;
	uart->io.ports = false;
	return &uart->transport;
}
