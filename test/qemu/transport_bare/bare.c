/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The smallest guest that uses transports: no kernel, no MMU, devices in their state after reset, in the CPU
 * mode in which the machine starts. Prints over the UART whether semihosting is present. If it is present,
 * writes records through it.
 */
#include <ktrace/transport.h>

#include "uart.h"

static struct ktrace_semihosting semihosting;
static struct bare_uart uart;

void bare_main(void);

static void print(const char *text)
{
	size_t length = 0;

	while (text[length])
		length++;
	ktrace_transport_write(bare_uart(&uart), text, length);
}

/*
 * Writes the beginning of a system call, a context switch, and the end of the call. The records are a
 * millisecond apart; the frequency of the clock is 1 MHz.
 */
static void stream_records(void)
{
	static const uint32_t enter[5] = { 59, 0x1000 }, change[5] = { 6, 7 },
			      leave[5] = { 59, 0xfffffffe, 0xffffffff };

	ktrace_write_record(1000, ktrace_pack_header(KTRX1_SYSCALL_ENTER, 0, 6, 0), enter);
	ktrace_write_record(2000, ktrace_pack_header(KTRX1_CTX_SWITCH, 0, 6, 0), change);
	ktrace_write_record(3000, ktrace_pack_header(KTRX1_SYSCALL_EXIT, 1, 6, 0), leave);
}

void bare_main(void)
{
	struct ktrace_transport *transport = ktrace_semihosting_init(&semihosting, NULL);

	if (ktrace_transport_set(bare_uart_init(&uart)) != 0)
		return;
	print("uart: works without initialization\n");
	if (ktrace_transport_set(transport) != 0) {
		print("semihosting: absent\n");
		return;
	}
	/*
	 * The first probe replaced the trap vector and must have restored it. So a second probe must have
	 * the same result.
	 */
	if (transport->probe(transport) == 0)
		print("semihosting: found again\n");
	stream_records();
}
