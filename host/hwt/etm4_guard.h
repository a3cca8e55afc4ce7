/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A barrier before OpenCSD's decoder of ETMv4 (1.3.3), which takes some rows of packets on trust and crashes by them. It keeps what
 * has not been committed as a row of elements, oldest first. To that it holds on to two things, which are looked after here in
 * such a row of our own (and a third one, of places):
 *
 *	behind an exception comes its address, and both are committed, or cancelled, together
 *	an address that a mispredicted branch takes back is the newest element
 *	the end of memory is not reached
 *
 * AArch32 is refused, which is no damage, as among its instructions are some behind which the library loses an exception's
 * address; and what is none of the packets named here, all that units write as their registers are wanted (etm4.c).
 */
#ifndef HWT_ETM4_GUARD_H
#define HWT_ETM4_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <opencsd/etmv4/trc_pkt_types_etmv4.h>

#define ETM4_GUARD_ROOM	 256u
#define ETM4_INSTRUCTION 4u /* bytes of one, at most */
/* No code is at the very end of memory: the library counts past it to 0. */
#define ETM4_CODE_END (UINT64_MAX - 4095u)

struct etm4_guard {
	bool synced, decodes; /* it ignores packets until it has seen an A-Sync, and then a Trace Info */
	bool wants_address;   /* an exception has been told, and not yet where */
	bool bits_64;	      /* a context has said so */
	const char *unread;   /* what has just been refused is as a unit may write it; NULL: it is damage */
	uint32_t depth;	      /* atoms and exceptions that are not committed */
	/* Counted on; element n is at n % ETM4_GUARD_ROOM. `newest` is behind the newest. */
	uint32_t oldest, newest;
	uint8_t element[ETM4_GUARD_ROOM];
};

/* How many of these bytes of code the library may see: none that leads to the end of memory. */
size_t etm4_guard_code(uint64_t address, const uint8_t *bytes, size_t size);
/*
 * False: the packet must not be decoded; guard->unread says of which kind it is, if that is all there is against it.
 * `speculation`: elements that the unit leaves uncommitted at most (TRCIDR8).
 */
bool etm4_guard_allows(struct etm4_guard *guard, uint32_t speculation, const ocsd_etmv4_i_pkt *packet);

#endif
