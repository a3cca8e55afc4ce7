/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * UARTs of the 8250 family. The kernel's own driver may have been interrupted anywhere. So the relevant
 * registers are saved, set for polled output, and restored after the last byte was sent.
 */
#include "drivers.h"

#include "ktrace_io.h"

/* Registers, by number. */
#define KTRACE_TRANSMIT		0u
#define KTRACE_INTERRUPT_ENABLE 1u
#define KTRACE_INTERRUPT_ID	2u
#define KTRACE_LINE_CONTROL	3u
#define KTRACE_LINE_STATUS	5u
#define KTRACE_SCRATCH		7u

#define KTRACE_ID_FIFOS_ON	     0xc0u
#define KTRACE_CONTROL_DIVISOR	     0x80u /* registers 0 and 1 are the baud rate divisor */
#define KTRACE_STATUS_TRANSMIT_READY 0x20u
#define KTRACE_STATUS_TRANSMIT_EMPTY 0x40u
#define KTRACE_FIFO_BYTES	     16u
#define KTRACE_NOTHING_THERE	     0xffu

static uint8_t uart_read(const struct ktrace_uart16550 *uart, uint32_t reg)
{
	return ktrace_io_read8(uart->io, (size_t)reg << uart->shift);
}

static void uart_write(const struct ktrace_uart16550 *uart, uint32_t reg, uint8_t value)
{
	ktrace_io_write8(uart->io, (size_t)reg << uart->shift, value);
}

static bool uart_wait(const struct ktrace_uart16550 *uart, uint8_t status)
{
	for (uint32_t i = 0; i < uart->transport.patience; i++) {
		if (uart_read(uart, KTRACE_LINE_STATUS) & status)
			return true;
		ktrace_io_relax();
	}
	return false;
}

static int uart_probe(struct ktrace_transport *transport)
{
	const struct ktrace_uart16550 *uart = (const struct ktrace_uart16550 *)transport;
	uint8_t scratch, inverse, readback;

	if (uart_read(uart, KTRACE_LINE_STATUS) == KTRACE_NOTHING_THERE)
		return KTRACE_OUTPUT_ABSENT;
	scratch = uart_read(uart, KTRACE_SCRATCH);
	inverse = scratch ^ 0xffu;
	uart_write(uart, KTRACE_SCRATCH, inverse);
	readback = uart_read(uart, KTRACE_SCRATCH);
	uart_write(uart, KTRACE_SCRATCH, scratch);
	return readback == inverse ? 0 : KTRACE_OUTPUT_ABSENT;
}

static int64_t uart_fill(const struct ktrace_uart16550 *uart, const unsigned char *bytes, size_t count)
{
	size_t burst = (uart_read(uart, KTRACE_INTERRUPT_ID) & KTRACE_ID_FIFOS_ON) == KTRACE_ID_FIFOS_ON
			       ? KTRACE_FIFO_BYTES
			       : 1;
	size_t sent = 0;

	while (sent < count) {
		if (!uart_wait(uart, KTRACE_STATUS_TRANSMIT_READY))
			return KTRACE_OUTPUT_STALLED;
		for (size_t i = 0; i < burst && sent < count; i++)
			uart_write(uart, KTRACE_TRANSMIT, bytes[sent++]);
	}
	return uart_wait(uart, KTRACE_STATUS_TRANSMIT_EMPTY) ? (int64_t)count : KTRACE_OUTPUT_STALLED;
}

static int64_t uart_send(struct ktrace_transport *transport, const void *data, size_t bytes)
{
	const struct ktrace_uart16550 *uart = (const struct ktrace_uart16550 *)transport;
	uint8_t line = uart_read(uart, KTRACE_LINE_CONTROL);
	uint8_t interrupts;
	int64_t result;

	uart_write(uart, KTRACE_LINE_CONTROL, line & (uint8_t)~KTRACE_CONTROL_DIVISOR);
	interrupts = uart_read(uart, KTRACE_INTERRUPT_ENABLE);
	uart_write(uart, KTRACE_INTERRUPT_ENABLE, 0);
	result = uart_fill(uart, (const unsigned char *)data, bytes);
	uart_write(uart, KTRACE_INTERRUPT_ENABLE, interrupts);
	uart_write(uart, KTRACE_LINE_CONTROL, line);
	return result;
}

struct ktrace_transport *ktrace_uart16550_init(struct ktrace_uart16550 *uart, struct ktrace_io io,
					       uint8_t shift)
{
	ktrace_output_init(&uart->transport, "uart16550", uart_probe, uart_send);
	uart->io = io;
	uart->shift = shift;
	return &uart->transport;
}
