/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Where the last whole record of SPE ends. Asked only after a record could not be written to its end, since
 * nothing else tells where it began. A record is a row of packets, the last one END or a timestamp; padding
 * may stand before and behind. A packet has a header of a byte, or of two (extended), and as many bytes of
 * payload as bits 5:4 of its last byte say.
 */
#include "spe.h"

#define KTRACE_PADDING	     0x00u
#define KTRACE_END	     0x01u
#define KTRACE_TIMESTAMP     0x71u
#define KTRACE_EXTENDED	     0x20u
#define KTRACE_EXTENDED_MASK 0xfcu

/* Bytes of a packet that begins there; more than `left` if it is not whole. */
static uint64_t packet_size(const uint8_t *packet, uint64_t left)
{
	uint64_t head = (packet[0] & KTRACE_EXTENDED_MASK) == KTRACE_EXTENDED ? 2 : 1;

	if (packet[0] == KTRACE_PADDING || packet[0] == KTRACE_END)
		return 1;
	return head > left ? head : head + (UINT64_C(1) << (packet[head - 1] >> 4 & 3));
}

uint64_t ktrace_hwt_spe_whole(const struct ktrace_hwt_spe *spe, const uint8_t *bytes, uint64_t size)
{
	uint64_t whole = 0, at = 0;

	while (at < size) {
		uint64_t next = at + packet_size(bytes + at, size - at);

		if (next <= size && (bytes[at] == KTRACE_END || bytes[at] == KTRACE_TIMESTAMP))
			whole = (next + spe->align - 1) & ~(spe->align - 1);
		at = next;
	}
	return whole < size ? whole : size;
}
