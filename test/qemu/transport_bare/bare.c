/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The smallest guest that uses transports: no kernel, no MMU, devices as reset left them, in whichever mode
 * the machine starts it. Says over the UART whether semihosting is there, and writes through it if so.
 */
#include <ktrace/transport.h>

#include "uart.h"

static struct ktrace_semihosting semihosting;
static struct bare_uart uart;

void bare_main(void);

static void say(const char *text)
{
	size_t length = 0;

	while (text[length])
		length++;
	ktrace_transport_write(bare_uart(&uart), text, length);
}

void bare_main(void)
{
	static const char record[] = "one trap a buffer\n";
	struct ktrace_transport *transport = ktrace_semihosting_init(&semihosting, NULL);

	if (ktrace_transport_set(bare_uart_init(&uart)) != 0)
		return;
	say("uart: before anybody set it up\n");
	if (ktrace_transport_set(transport) != 0) {
		say("semihosting: absent\n");
		return;
	}
	/* The vector that probing took is back where it was: a second probe finds the same. */
	if (transport->probe(transport) == 0)
		say("semihosting: still there\n");
	ktrace_write_bytes(record, sizeof(record) - 1);
}
