/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#ifndef DEMO_ARCH_CONSOLE_H
#define DEMO_ARCH_CONSOLE_H

struct ktrace_transport;

/* Initializes the UART. Requires: boot CPU, before the first character is written. */
void console_init(void);

/* Returns ktrace's transport that sends a dump through the same UART, between lines of console output. */
struct ktrace_transport *console_transport(void);

#endif
