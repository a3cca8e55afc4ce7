/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The console: a PL011 UART, polled. */
#include <ktrace/transport.h>

#include "console.h"

#include "arch.h"
#include "mmio.h"
#include "platform.h"

enum {
	UART_DATA = PLATFORM_UART,
	UART_FLAGS = PLATFORM_UART + 0x18,
	UART_LINE = PLATFORM_UART + 0x2c,
	UART_CONTROL = PLATFORM_UART + 0x30,
};

#define FLAGS_RX_EMPTY (1u << 4)
#define FLAGS_TX_FULL  (1u << 5)
#define LINE_8N1_FIFO  0x70u
#define CONTROL_ON     0x301u

void console_init(void)
{
	mmio_write32(UART_LINE, LINE_8N1_FIFO);
	mmio_write32(UART_CONTROL, CONTROL_ON);
}

void arch_console_putc(char c)
{
	while (mmio_read32(UART_FLAGS) & FLAGS_TX_FULL)
		arch_relax();
	mmio_write32(UART_DATA, (unsigned char)c);
}

int arch_console_getc(void)
{
	if (mmio_read32(UART_FLAGS) & FLAGS_RX_EMPTY)
		return -1;
	return (int)(mmio_read32(UART_DATA) & 0xff);
}

struct ktrace_transport *console_transport(void)
{
	static struct ktrace_pl011 shared;

	return ktrace_pl011_init(&shared, PLATFORM_UART);
}
