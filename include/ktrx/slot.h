/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * KTRX version 2, the ring: 32-byte slots. A record is one FIRST (or SINGLE) slot and the MORE and LAST slots
 * that follow it directly.
 *
 *   first slot, little-endian                      continuation slot
 *   bits  2:0   kind                               bits  2:0   kind
 *   bits 10:3   generation                         bits 10:3   generation
 *   bits 15:11  check, 5 of its 12 bits            bits 15:11  check, 5 bits
 *   bits 27:16  event id                           bytes 2..31 payload (30 bytes)
 *   bits 63:28  stamp, low 36 bits
 *   bits 85:64  thread id
 *   bits 87:86  context
 *   bit  88     extension block precedes payload
 *   bits 95:89  check, the other 7 bits
 *   bytes 12..31 payload (20 bytes)
 *
 * The generation is the lap, modulo 256, that the slot was written in. A reader that knows the ring's head
 * knows which generation each slot must carry, so it never takes a slot that is empty, in flight, or of an
 * earlier lap for the record it expects.
 *
 * A writer that is held up for a whole lap stores into a slot that belongs to a later lap by then. The slot
 * may end up with words of several writers. The check is there for that case alone: it is computed from the
 * values that a writer stores and from the whole number of its lap. It misses about one mixed slot in 4096.
 * Normative text: spec/ktrx.md.
 */
#ifndef KTRX_SLOT_H
#define KTRX_SLOT_H

#include <stdint.h>

#include "ktrx/assert.h"

#define KTRX_SLOT_SIZE	      32u
#define KTRX_SLOT_SHIFT	      5u
#define KTRX_FIRST_PAYLOAD    20u /* payload bytes in a SINGLE or FIRST slot, from byte 12 */
#define KTRX_FIRST_OFFSET     12u
#define KTRX_MORE_PAYLOAD     30u /* payload bytes in a MORE or LAST slot, from byte 2 */
#define KTRX_MORE_OFFSET      2u
#define KTRX_RECORD_MAX_SLOTS 8u
#define KTRX_RECORD_MAX_PAYLOAD \
	(KTRX_FIRST_PAYLOAD + (KTRX_RECORD_MAX_SLOTS - 1u) * KTRX_MORE_PAYLOAD) /* 230 */

/* Slot kinds. A record's payload length in slots follows from them. */
#define KTRX_KIND_EMPTY	 0u /* never written */
#define KTRX_KIND_SINGLE 1u /* a whole record */
#define KTRX_KIND_FIRST	 2u /* MORE or LAST follows */
#define KTRX_KIND_MORE	 3u
#define KTRX_KIND_LAST	 4u
#define KTRX_KIND_VOID	 5u /* given up by a writer of KTRX_SLOTS_COPIED: counts as a slot, carries nothing */

/* How a trace's first slots tell writers apart: slot_format in struct ktrx_root. */
#define KTRX_SLOTS_COPIED \
	0u /* bits 15:11 are 0, bits 95:89 the generation again: ktrace up to November 2026 */
#define KTRX_SLOTS_CHECKED 1u

/* Contexts a record was made in. */
#define KTRX_CONTEXT_THREAD    0u
#define KTRX_CONTEXT_INTERRUPT 1u
#define KTRX_CONTEXT_NMI       2u
#define KTRX_CONTEXT_EARLY     3u /* before the port knows */

#define KTRX_EVENT_ANCHOR 0u /* struct ktrx_anchor; every other id is a row of the event table */
#define KTRX_EVENT_MAX	  4095u
#define KTRX_THREAD_MAX	  0x3fffffu
#define KTRX_STAMP_BITS	  36u

/* Not for clang-format, which takes these for casts. */
/* clang-format off */
/* Fields of the tag (the low 16 bits of a slot) and of a first slot's two leading words. */
#define KTRX_TAG_KIND(tag)	 (KTRX_CAST(uint32_t, tag) & 7u)
#define KTRX_TAG_GENERATION(tag) (KTRX_CAST(uint32_t, tag) >> 3 & 0xffu)
#define KTRX_TAG_CHECK(tag)	 (KTRX_CAST(uint32_t, tag) >> 11 & 0x1fu)
#define KTRX_TAG_CHECK_MASK	 0xf800u
#define KTRX_W0_EVENT(w0)	 (KTRX_CAST(uint32_t, (w0) >> 16) & 0xfffu)
#define KTRX_W0_STAMP(w0)	 (KTRX_CAST(uint64_t, w0) >> 28)
#define KTRX_W1_THREAD(w1)	 (KTRX_CAST(uint32_t, w1) & 0x3fffffu)
#define KTRX_W1_CONTEXT(w1)	 (KTRX_CAST(uint32_t, w1) >> 22 & 3u)
#define KTRX_W1_EXTENDED(w1)	 (KTRX_CAST(uint32_t, w1) >> 24 & 1u)
#define KTRX_W1_CHECK(w1)	 (KTRX_CAST(uint32_t, w1) >> 25 & 0x7fu)
/* clang-format on */
#define KTRX_W1_CONTEXT_SHIFT 22u
#define KTRX_W1_EXTENDED_BIT  (1u << 24)
#define KTRX_W1_CHECK_MASK    0xfe000000u

/*
 * A reserve word is one 64-bit count a ring, advanced by an atomic add of the number of slots wanted. Its
 * high bits name the ring, so the result of one add names ring and slot together. Ring 0 is the shared boot
 * ring; ring n is CPU n - 1's, and the one behind the last CPU's, where there is one, that of rare events.
 */
#define KTRX_WORD_INDEX_BITS 51u
/* clang-format off */
#define KTRX_WORD_INDEX(word) (KTRX_CAST(uint64_t, word) & ((UINT64_C(1) << KTRX_WORD_INDEX_BITS) - 1u))
#define KTRX_WORD_RING(word)  (KTRX_CAST(uint32_t, KTRX_CAST(uint64_t, word) >> KTRX_WORD_INDEX_BITS))
/* clang-format on */

/*
 * Payload of an anchor record. Stamps are 36 bits wide in slots; an anchor restates the whole stamp. One is
 * written before any record whose stamp is 2^35 ticks or more past the ring's last anchor, so two anchors'
 * distance never has to be guessed; ktrace's own writer does so at 2^34. Anchors chain backwards; the newest
 * one is named in struct ktrx_ring.
 */
struct ktrx_anchor {
	uint64_t stamp;	   /* whole counter value at this anchor; its low 36 bits are the slot's stamp */
	uint64_t previous; /* whole stamp of the anchor before, 0 for the first */
	uint32_t distance; /* slots back to the anchor before; 0 if none or farther than 2^32 - 1 */
} __attribute__((__packed__, __aligned__(4)));

/*
 * Extension block, in front of the payload when bit 88 is set: this head, then 8 bytes a caller (0 to 2),
 * then a 4-byte repeat count if marked, then 8 bytes of the recording code's address if marked. Its size is
 * `size`, so that a reader can step over parts it does not know.
 */
struct ktrx_extension {
	uint8_t size;  /* bytes of the whole block, this head included */
	uint8_t parts; /* KTRX_EXT_* */
	uint16_t cpu;  /* valid with KTRX_EXT_CPU */
};
#define KTRX_EXT_CPU	 1u /* the CPU, in rings that several CPUs share */
#define KTRX_EXT_CALLER1 2u
#define KTRX_EXT_CALLER2 4u
#define KTRX_EXT_REPEAT	 8u
#define KTRX_EXT_SITE	 16u

KTRX_ASSERT_SIZE(struct ktrx_anchor, 20);
KTRX_ASSERT_OFFSET(struct ktrx_anchor, previous, 8);
KTRX_ASSERT_OFFSET(struct ktrx_anchor, distance, 16);
KTRX_ASSERT_SIZE(struct ktrx_extension, 4);

KTRX_CASTS_BEGIN

/* The generation that slot `index` of a ring of 2^shift slots carries. */
static inline uint32_t ktrx_generation(uint64_t index, uint32_t shift)
{
	return (uint32_t)(index >> shift) & 0xffu;
}

/*
 * The lap that a slot is written in, modulo 2^32: the reserve word that names it, without its place in the
 * ring.
 */
static inline uint32_t ktrx_lap(uint32_t ring, uint64_t index, uint32_t shift)
{
	return (uint32_t)(((uint64_t)ring << KTRX_WORD_INDEX_BITS | index) >> shift);
}

#define KTRX_CHECK_KEY	  UINT64_C(0x9e3779b97f4a7c15)
#define KTRX_CHECK_FACTOR 0xe2b84105u

/* Multiplies to 128 bits and folds the halves: each bit of the result depends on all bits of a and b. */
static inline uint64_t ktrx_check_mix(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
	__extension__ typedef unsigned __int128 ktrx_u128;
	ktrx_u128 product = (ktrx_u128)(a + KTRX_CHECK_KEY) * (b * KTRX_CHECK_KEY);

	return (uint64_t)product ^ (uint64_t)(product >> 64);
#else
	uint64_t left = a + KTRX_CHECK_KEY, right = b * KTRX_CHECK_KEY;
	uint64_t low = (left & 0xffffffffu) * (right & 0xffffffffu), high = (left >> 32) * (right >> 32);
	uint64_t one = (left >> 32) * (right & 0xffffffffu), other = (left & 0xffffffffu) * (right >> 32);
	uint64_t middle = (low >> 32) + (one & 0xffffffffu) + (other & 0xffffffffu);

	return (middle << 32 | (low & 0xffffffffu)) ^ (high + (one >> 32) + (other >> 32) + (middle >> 32));
#endif
}

/*
 * Check of a first slot. a, b, c: its payload, bytes 12 to 19, 20 to 27 and 28 to 31. second: bits 88:64.
 * rest: ktrx_check_rest() of the record's other slots, 0 if there are none. Of the result, the bits of
 * KTRX_TAG_CHECK_MASK belong in word 0 and those of KTRX_W1_CHECK_MASK in the word of the thread; the others
 * are not used.
 */
static inline uint64_t ktrx_check_first(uint64_t a, uint64_t b, uint32_t c, uint32_t second, uint32_t lap,
					uint64_t rest)
{
	return ktrx_check_mix(a, b + (uint32_t)((c + second * 8u + lap) * KTRX_CHECK_FACTOR) + rest);
}

/* The same from a slot's four words. */
static inline uint64_t ktrx_check_of_first(const uint64_t *word, uint32_t lap, uint64_t rest)
{
	return ktrx_check_first(word[1] >> 32 | word[2] << 32, word[2] >> 32 | word[3] << 32,
				(uint32_t)(word[3] >> 32), (uint32_t)word[1] & ~KTRX_W1_CHECK_MASK, lap,
				rest);
}

/* Does the first slot of four words carry its check? */
static inline int ktrx_first_is_checked(const uint64_t *word, uint32_t lap, uint64_t rest)
{
	uint64_t check = ktrx_check_of_first(word, lap, rest);

	return ((check ^ word[0]) & KTRX_TAG_CHECK_MASK) == 0 &&
	       ((check ^ word[1]) & KTRX_W1_CHECK_MASK) == 0;
}

/*
 * Check of a continuation slot, from its four words; the check field counts as 0. Bits as for a first slot.
 */
static inline uint64_t ktrx_check_more(const uint64_t *word, uint32_t lap)
{
	uint64_t half = ktrx_check_mix(word[0] & ~(uint64_t)KTRX_TAG_CHECK_MASK,
				       word[1] + (uint32_t)(lap * KTRX_CHECK_FACTOR));

	return ktrx_check_mix(word[2], word[3] + half);
}

/*
 * Adds a continuation slot to what the first slot checks of the others: from 0 on, the record's last slot
 * first.
 */
static inline uint64_t ktrx_check_rest(uint64_t rest, uint64_t check_more)
{
	return (rest ^ check_more) * KTRX_CHECK_KEY;
}

/*
 * Check bits of a continuation slot of KTRX_SLOTS_COPIED, from its four words; the check field counts as 0.
 */
static inline uint32_t ktrx_check_copied(uint64_t w0, uint64_t w1, uint64_t w2, uint64_t w3)
{
	uint64_t mixed = (w0 & ~(uint64_t)KTRX_TAG_CHECK_MASK) ^ w1 * 3u ^ w2 * 5u ^ w3 * 7u;

	return (uint32_t)(mixed * UINT64_C(0x9e3779b97f4a7c15) >> 59);
}

/* Slots that a record of `bytes` payload bytes takes (extension block included). */
static inline uint32_t ktrx_record_slots(uint32_t bytes)
{
	if (bytes <= KTRX_FIRST_PAYLOAD)
		return 1;
	return 1u + (bytes - KTRX_FIRST_PAYLOAD + KTRX_MORE_PAYLOAD - 1u) / KTRX_MORE_PAYLOAD;
}

KTRX_CASTS_END

#endif
