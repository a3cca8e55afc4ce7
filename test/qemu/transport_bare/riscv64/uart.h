/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#ifndef BARE_UART_H
#define BARE_UART_H

#include <ktrace/transport.h>

#define BARE_UART 0x10000000

struct bare_uart {
	struct ktrace_uart16550 driver;
};

static inline struct ktrace_transport *bare_uart_init(struct bare_uart *uart)
{
	return ktrace_uart16550_init(&uart->driver, (struct ktrace_io){ .base = BARE_UART, .ports = false },
				     0);
}

static inline struct ktrace_transport *bare_uart(struct bare_uart *uart)
{
	return &uart->driver.transport;
}

#endif
