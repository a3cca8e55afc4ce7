/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The first serial port, a 16550, polled. */
#include "arch.h"
#include "x86.h"

#define COM1		0x3f8
#define UART_DATA	(COM1 + 0)
#define UART_INTERRUPTS (COM1 + 1)
#define UART_FIFO	(COM1 + 2)
#define UART_LINE	(COM1 + 3)
#define UART_MODEM	(COM1 + 4)
#define UART_STATUS	(COM1 + 5)
#define STATUS_RECEIVED 0x01
#define STATUS_MAY_SEND 0x20
#define LINE_DIVISOR	0x80
#define LINE_8N1	0x03

void console_init(void)
{
	outb(UART_INTERRUPTS, 0);
	outb(UART_LINE, LINE_DIVISOR);
	outb(UART_DATA, 1); /* baud rate divisor for 115200 baud */
	outb(UART_INTERRUPTS, 0);
	outb(UART_LINE, LINE_8N1);
	outb(UART_FIFO, 0x07);	/* turns the FIFOs on and clears them */
	outb(UART_MODEM, 0x03); /* turns on DTR and RTS */
}

void arch_console_putc(char c)
{
	if (c == '\n')
		arch_console_putc('\r');
	while (!(inb(UART_STATUS) & STATUS_MAY_SEND))
		arch_relax();
	outb(UART_DATA, (uint8_t)c);
}

int arch_console_getc(void)
{
	return inb(UART_STATUS) & STATUS_RECEIVED ? inb(UART_DATA) : -1;
}
