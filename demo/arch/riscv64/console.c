/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The console: a 16550 UART, polled. */
#include <ktrace/transport.h>

#include "console.h"

#include "arch.h"
#include "platform.h"

/* Offsets of the byte registers. */
enum { UART_DATA = 0, UART_INTERRUPTS = 1, UART_FIFO = 2, UART_LINE = 3, UART_STATUS = 5 };

#define FIFO_ON		0x01
#define LINE_8N1	0x03
#define STATUS_RECEIVED 0x01
#define STATUS_CAN_SEND 0x20

static volatile uint8_t *const uart = (volatile uint8_t *)(uintptr_t)PLATFORM_UART;

void console_init(void)
{
	uart[UART_INTERRUPTS] = 0;
	uart[UART_LINE] = LINE_8N1;
	uart[UART_FIFO] = FIFO_ON;
}

void arch_console_putc(char c)
{
	while (!(uart[UART_STATUS] & STATUS_CAN_SEND))
		arch_relax();
	uart[UART_DATA] = (uint8_t)c;
}

int arch_console_getc(void)
{
	return uart[UART_STATUS] & STATUS_RECEIVED ? uart[UART_DATA] : -1;
}

struct ktrace_transport *console_transport(void)
{
	static struct ktrace_uart16550 shared;

	return ktrace_uart16550_init(&shared, (struct ktrace_io){ .base = PLATFORM_UART }, 0);
}
