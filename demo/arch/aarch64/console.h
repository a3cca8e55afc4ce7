/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#ifndef DEMO_ARCH_CONSOLE_H
#define DEMO_ARCH_CONSOLE_H

struct ktrace_transport;

/* Boot CPU, before the first character. */
void console_init(void);

/* ktrace's driver for the same UART, for traces that leave between the console's lines. */
struct ktrace_transport *console_transport(void);

#endif
