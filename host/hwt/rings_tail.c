/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "rings_tail.h"

#include <string.h>

#include "ktrx/hwt.h"

#define PT_BRANCHES_MOST 47u /* of one packet */
#define PT_TNT_LONG	 0xa302u
#define PT_FUP_FULL	 0xddu
#define PT_PGD_FULL	 0xc1u

#define ETM4_ATOMS_MOST	     48u /* the unit has written them by then */
#define ETM4_ATOM	     0xf6u
#define ETM4_EXCEPTION	     0x06u
#define ETM4_DEBUG_HALT	     0x03u
#define ETM4_ADDRESS_64_BITS 0x9du

static size_t put_word(unsigned char *to, uint64_t word)
{
	memcpy(to, &word, sizeof(word));
	return sizeof(word);
}

static size_t put_pt(const struct ktrx_hwt_ring *ring, unsigned char *to)
{
	size_t size = 0;

	if (ring->pending > 1)
		size += put_word(to, ring->pending << 16 | PT_TNT_LONG);
	if (!ring->reached)
		return size;
	/* It stops where it is: that it goes on nowhere else tells it from an interrupt. */
	to[size++] = PT_FUP_FULL;
	size += put_word(to + size, ring->reached);
	to[size++] = PT_PGD_FULL;
	return size + put_word(to + size, ring->reached);
}

static size_t put_etm4(const struct ktrx_hwt_ring *ring, unsigned char *to)
{
	unsigned atoms = ring->pending ? 63u - (unsigned)__builtin_clzll(ring->pending) : 0;
	size_t size = 0;

	while (atoms-- > 0)
		to[size++] = (unsigned char)(ETM4_ATOM | (ring->pending >> atoms & 1));
	if (!ring->reached)
		return size;
	to[size++] = ETM4_EXCEPTION;
	to[size++] = ETM4_DEBUG_HALT;
	to[size++] = ETM4_ADDRESS_64_BITS;
	/* Bits 63:2: two bytes of 7 bits and six of 8. */
	put_word(to + size, ring->reached);
	to[size] = ring->reached >> 2 & 0x7f;
	to[size + 1] = ring->reached >> 9 & 0x7f;
	return size + 8;
}

size_t hwt_rings_tail(uint32_t encoding, const struct ktrx_hwt_ring *ring, unsigned char to[HWT_TAIL_MOST])
{
	if (encoding == KTRX_HWT_ENCODING_PT && ring->pending >> PT_BRANCHES_MOST == 0)
		return put_pt(ring, to);
	if (encoding == KTRX_HWT_ENCODING_ETM4 && ring->pending >> ETM4_ATOMS_MOST == 0)
		return put_etm4(ring, to);
	return 0;
}
