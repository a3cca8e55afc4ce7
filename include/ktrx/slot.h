/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * KTRX version 2, the ring: 32-byte slots. A record is one SINGLE slot, or a FIRST slot and the MORE and LAST
 * slots directly after it.
 *
 *   first slot, little-endian                      continuation slot
 *   bits  2:0   kind                               bits  2:0   kind
 *   bits 10:3   generation                         bits 10:3   generation
 *   bits 15:11  check, 5 of its 12 bits            bits 15:11  check, 5 bits
 *   bits 27:16  event id                           bytes 2..31 payload (30 bytes)
 *   bits 63:28  stamp, low 36 bits
 *   bits 85:64  thread id
 *   bits 87:86  context
 *   bit  88     an extension block precedes the payload
 *   bits 95:89  check, the other 7 bits
 *   bytes 12..31 payload (20 bytes)
 *
 * The generation is the number of the lap, modulo 256, in which the slot was written. A reader that knows the
 * ring's head knows the generation of each slot. So it never mistakes a slot that is empty, being written, or
 * of an earlier lap for the record that it expects.
 *
 * A writer that is delayed by a whole lap stores into a slot that by then belongs to a later lap. The slot
 * may then contain words of several writers. The check detects only that case. It is computed from the values
 * that a writer stores and from the full number of its lap. It fails to detect about one such slot in 4096,
 * or more if the payloads of the writers are similar. Normative text: spec/ktrx.md.
 */
#ifndef KTRX_SLOT_H
#define KTRX_SLOT_H

#include "ktrx/base.h"

#define KTRX_SLOT_SIZE	      32u
#define KTRX_SLOT_SHIFT	      5u
#define KTRX_FIRST_PAYLOAD    20u /* number of payload bytes in a SINGLE or FIRST slot, from byte 12 on */
#define KTRX_FIRST_OFFSET     12u
#define KTRX_MORE_PAYLOAD     30u /* number of payload bytes in a MORE or LAST slot, from byte 2 on */
#define KTRX_MORE_OFFSET      2u
#define KTRX_RECORD_MAX_SLOTS 8u
#define KTRX_RECORD_MAX_PAYLOAD \
	(KTRX_FIRST_PAYLOAD + (KTRX_RECORD_MAX_SLOTS - 1u) * KTRX_MORE_PAYLOAD) /* 230 */

/* Slot kinds. They determine how many slots a record has. */
#define KTRX_KIND_EMPTY	 0u /* the slot was never written */
#define KTRX_KIND_SINGLE 1u /* the slot contains a whole record */
#define KTRX_KIND_FIRST	 2u /* the first slot of a record; a MORE or LAST slot follows */
#define KTRX_KIND_MORE	 3u
#define KTRX_KIND_LAST	 4u
/* a slot that a writer of KTRX_SLOTS_COPIED abandoned; the slot is counted, but has no contents */
#define KTRX_KIND_VOID 5u

/*
 * Formats of slots (slot_format in struct ktrx_root). They differ in the check bits, with which a reader
 * detects slots that contain stores of several writers.
 */
/*
 * in first slots, bits 15:11 are 0, and bits 95:89 repeat the generation. ktrace wrote this format up to
 * November 2026
 */
#define KTRX_SLOTS_COPIED  0u
#define KTRX_SLOTS_CHECKED 1u

/* Contexts in which a record was made. */
#define KTRX_CONTEXT_THREAD    0u
#define KTRX_CONTEXT_INTERRUPT 1u
#define KTRX_CONTEXT_NMI       2u
#define KTRX_CONTEXT_EARLY     3u /* recorded before the port can report the context */

/* id of anchor records, struct ktrx_anchor; every other id belongs to an entry of the event table */
#define KTRX_EVENT_ANCHOR 0u
#define KTRX_EVENT_MAX	  4095u
#define KTRX_THREAD_MAX	  0x3fffffu
#define KTRX_STAMP_BITS	  36u

/* clang-format is off, because it would treat these macros as casts. */
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
 * Each ring has a reserve word, which is a 64-bit counter. A writer reserves slots by adding their number
 * atomically. The high bits are the number of the ring, so one addition determines both ring and slot. Ring 0
 * is the shared boot ring, and ring n belongs to CPU n - 1. The ring of rare events, if there is one, follows
 * the ring of the last CPU.
 */
#define KTRX_WORD_INDEX_BITS 51u
/* clang-format off */
#define KTRX_WORD_INDEX(word) (KTRX_CAST(uint64_t, word) & ((KTRX_U64(1) << KTRX_WORD_INDEX_BITS) - 1u))
#define KTRX_WORD_RING(word)  (KTRX_CAST(uint32_t, KTRX_CAST(uint64_t, word) >> KTRX_WORD_INDEX_BITS))
/* clang-format on */

/*
 * Payload of an anchor record. Slots contain only the low 36 bits of a timestamp; an anchor contains the full
 * timestamp. A writer must write an anchor before a record whose timestamp is 2^35 ticks or more after the
 * ring's last anchor. So the distance between two anchors is never ambiguous. ktrace already writes an anchor
 * after 2^34 ticks. Each anchor refers to the previous anchor; struct ktrx_ring refers to the newest anchor.
 */
struct ktrx_anchor {
	uint64_t stamp;	   /* full counter value at this anchor; the slot's timestamp is its low 36 bits */
	uint64_t previous; /* full timestamp of the previous anchor, 0 for the first */
	/*
	 * number of slots back to the previous anchor; 0: there is no previous anchor, or it is more than
	 * 2^32 - 1 slots back
	 */
	uint32_t distance;
} __attribute__((__packed__, __aligned__(4)));

/*
 * Extension block, which precedes the payload if bit 88 is set: this head, then 8 bytes for each caller (0 to
 * 2), then a 4-byte repeat count if KTRX_EXT_REPEAT is set, then the 8-byte address of the recording code if
 * KTRX_EXT_SITE is set. `size` is its total size, so that a reader can skip unknown parts.
 */
struct ktrx_extension {
	uint8_t size;  /* size in bytes of the whole block, including this head */
	uint8_t parts; /* KTRX_EXT_* */
	uint16_t cpu;  /* number of the CPU; valid if `parts` has KTRX_EXT_CPU */
};
#define KTRX_EXT_CPU	 1u /* number of the CPU; only in rings that several CPUs share */
#define KTRX_EXT_CALLER1 2u
#define KTRX_EXT_CALLER2 4u
#define KTRX_EXT_REPEAT	 8u
#define KTRX_EXT_SITE	 16u

KTRX_ASSERT_SIZE(struct ktrx_anchor, 20);
KTRX_ASSERT_OFFSET(struct ktrx_anchor, previous, 8);
KTRX_ASSERT_OFFSET(struct ktrx_anchor, distance, 16);
KTRX_ASSERT_SIZE(struct ktrx_extension, 4);

KTRX_CASTS_BEGIN

/* Returns the generation of slot `index` in a ring of 2^shift slots. */
static inline uint32_t ktrx_generation(uint64_t index, uint32_t shift)
{
	return (uint32_t)(index >> shift) & 0xffu;
}

/*
 * Returns the number of the lap in which a slot is written, modulo 2^32: the bits of the reserve word above
 * those that are the slot's position in the ring.
 */
static inline uint32_t ktrx_lap(uint32_t ring, uint64_t index, uint32_t shift)
{
	return (uint32_t)(((uint64_t)ring << KTRX_WORD_INDEX_BITS | index) >> shift);
}

#define KTRX_CHECK_KEY	  KTRX_U64(0x9e3779b97f4a7c15)
#define KTRX_CHECK_FACTOR 0xe2b84105u

/*
 * Multiplies to 128 bits and combines both halves with xor: each bit of the result depends on all bits of a
 * and b.
 */
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
 * Returns the check of a first slot. a, b, c: its payload, bytes 12 to 19, 20 to 27 and 28 to 31. second:
 * bits 88:64. rest: ktrx_check_rest() of the record's other slots, 0 if there are none. The bits in
 * KTRX_TAG_CHECK_MASK belong in word 0, those in KTRX_W1_CHECK_MASK in the 32-bit word with the thread id;
 * the other bits are not used.
 */
static inline uint64_t ktrx_check_first(uint64_t a, uint64_t b, uint32_t c, uint32_t second, uint32_t lap,
					uint64_t rest)
{
	return ktrx_check_mix(a, b + (uint32_t)((c + second * 8u + lap) * KTRX_CHECK_FACTOR) + rest);
}

/* Returns the check of a first slot, from the slot's four words. */
static inline uint64_t ktrx_check_of_first(const uint64_t *word, uint32_t lap, uint64_t rest)
{
	return ktrx_check_first(word[1] >> 32 | word[2] << 32, word[2] >> 32 | word[3] << 32,
				(uint32_t)(word[3] >> 32), (uint32_t)word[1] & ~KTRX_W1_CHECK_MASK, lap,
				rest);
}

/* Returns nonzero if the check in a first slot, given as four words, is correct. */
static inline int ktrx_first_is_checked(const uint64_t *word, uint32_t lap, uint64_t rest)
{
	uint64_t check = ktrx_check_of_first(word, lap, rest);

	return ((check ^ word[0]) & KTRX_TAG_CHECK_MASK) == 0 &&
	       ((check ^ word[1]) & KTRX_W1_CHECK_MASK) == 0;
}

/*
 * Returns the check of a continuation slot, computed from its four words, with 0 in place of the check field.
 * The bits of the result are used as for a first slot.
 */
static inline uint64_t ktrx_check_more(const uint64_t *word, uint32_t lap)
{
	uint64_t half = ktrx_check_mix(word[0] & ~(uint64_t)KTRX_TAG_CHECK_MASK,
				       word[1] + (uint32_t)(lap * KTRX_CHECK_FACTOR));

	return ktrx_check_mix(word[2], word[3] + half);
}

/*
 * Adds the check of a continuation slot to `rest` of ktrx_check_first(). Start with `rest` 0, and add the
 * continuation slots from the last to the first.
 */
static inline uint64_t ktrx_check_rest(uint64_t rest, uint64_t check_more)
{
	return (rest ^ check_more) * KTRX_CHECK_KEY;
}

/*
 * Returns the check bits of a continuation slot of KTRX_SLOTS_COPIED, computed from its four words, with 0 in
 * place of the check field.
 */
static inline uint32_t ktrx_check_copied(uint64_t w0, uint64_t w1, uint64_t w2, uint64_t w3)
{
	uint64_t mixed = (w0 & ~(uint64_t)KTRX_TAG_CHECK_MASK) ^ w1 * 3u ^ w2 * 5u ^ w3 * 7u;

	return (uint32_t)(mixed * KTRX_U64(0x9e3779b97f4a7c15) >> 59);
}

/* Returns the number of slots of a record with `bytes` bytes of payload, including the extension block. */
static inline uint32_t ktrx_record_slots(uint32_t bytes)
{
	if (bytes <= KTRX_FIRST_PAYLOAD)
		return 1;
	return 1u + (bytes - KTRX_FIRST_PAYLOAD + KTRX_MORE_PAYLOAD - 1u) / KTRX_MORE_PAYLOAD;
}

KTRX_CASTS_END

#endif
