/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The record path: what every site expands to. Not called by hand; KTRACE() in event.h leads here.
 *
 *   1. one load of the event's state and a branch: off
 *   2. more than "on" (sign of the header), a string or more than 20 bytes: out of line, ktrace_emit()
 *   3. one atomic add names ring and slot; the clock is read; past the ring's deadline: out of line
 *   4. the fields are packed into three words; a check is computed from these, the thread and the lap
 *   5. payload, thread and part of the check are stored, then the word that makes the slot valid
 *   6. if a whole lap passed meanwhile, the slot may belong to a later record: this is counted
 *
 * Nothing here masks, locks or waits. An interrupt at any point takes later slots of the same ring.
 */
#ifndef KTRACE_RECORD_H
#define KTRACE_RECORD_H

#include "ktrace/macros.h"
#include "ktrace/port.h"

KTRACE_BEGIN_C

/* Stands for "nothing reserved yet" where a claim is handed on. */
#define KTRACE_WORD_NONE UINT64_MAX

/* Sign of a row's `header`: the event goes out of line, see KTRX_STATE_SLOW. */
#define KTRACE_HEADER_SLOW 0x80000000u

/* The size of a string field: more than all fields of an event without one. */
#define KTRACE_STRING_SIZE 256u

/* 1 + the most bytes of fields that one slot holds. */
#define KTRACE_BUILT_SHORT 21

/* The smallest ring. */
#define KTRACE_LEAST_SLOTS 512u

/* Payload bytes a record may have, the boot ring's extension block left room for. */
#define KTRACE_PAYLOAD_MAX (KTRX_RECORD_MAX_PAYLOAD - 4u)

/* Bytes of the longest extension block that is recorded: head, two callers and the site. */
#define KTRACE_EXTENSION_MAX 28u

/* Payload bytes that the slots of a record of so many bytes hold. */
#define KTRACE_CAPACITY(bytes)                                                                  \
	((bytes) <= KTRX_FIRST_PAYLOAD                                                          \
		 ? KTRX_FIRST_PAYLOAD                                                           \
		 : KTRX_FIRST_PAYLOAD + ((bytes)-KTRX_FIRST_PAYLOAD + KTRX_MORE_PAYLOAD - 1u) / \
						KTRX_MORE_PAYLOAD * KTRX_MORE_PAYLOAD)

struct ktrace_packer;

/*
 * Records out of line. `site`: the address in the kernel that records; ktrace_emit_here() takes where the
 * call returns to. Any context, see port.h.
 */
KTRACE_HIDDEN void ktrace_emit_long(struct ktrace_packer *fields, uintptr_t site);
KTRACE_HIDDEN void ktrace_emit_here(struct ktrace_packer *fields);

/*
 * The same for bindings of other languages, which pack by themselves: the payload is aligned to 8 bytes, in a
 * buffer of KTRACE_CAPACITY(bytes), rounded up to 8, whose end is cleared.
 */
KTRACE_HIDDEN void ktrace_emit_packed(struct ktrx_event *event, void *payload, uint32_t bytes);

/*
 * The same for a record of one slot: the payload's bytes 0 to 7, 8 to 15, and 16 to 19 | its length << 32.
 * `word` and `stamp` are what a site reserved and read already; `word` is KTRACE_WORD_NONE if nothing. The
 * site is where the call returns to; ktrace_emit_words() is given it.
 */
KTRACE_HIDDEN KTRACE_COLD void ktrace_emit_short(struct ktrx_event *event, uint64_t first, uint64_t second,
						 uint64_t third, uint64_t word, uint64_t stamp);
KTRACE_HIDDEN KTRACE_COLD void ktrace_emit_place(struct ktrx_event *event, uint64_t first, uint64_t second,
						 uint64_t third, uint64_t word, uint64_t stamp,
						 struct ktrx_place *place);
KTRACE_HIDDEN KTRACE_COLD void ktrace_emit_words(struct ktrx_event *event, struct ktrx_place *place,
						 uint64_t first, uint64_t second, uint64_t third,
						 uint64_t word, uint64_t stamp, uintptr_t site);

/* Counts the one slot at `word` in ring->lapped if a whole lap was reserved since. Any context. */
KTRACE_HIDDEN void ktrace_count_if_lapped(struct ktrx_ring *ring, uint64_t word);

KTRACE_END_C

KTRX_CASTS_BEGIN

/* Words of memory that is of another type; as unaligned as the CPU allows. */
typedef uint16_t ktrace_u16_any __attribute__((__may_alias__, __aligned__(KTRACE_ARCH_UNALIGNED ? 1 : 2)));
typedef uint32_t ktrace_u32_any __attribute__((__may_alias__, __aligned__(KTRACE_ARCH_UNALIGNED ? 1 : 4)));
typedef uint64_t ktrace_u64_any __attribute__((__may_alias__, __aligned__(KTRACE_ARCH_UNALIGNED ? 1 : 8)));

/*
 * Stores of a field at to[at], `to` being aligned to 4 bytes. Offsets are constants in every use but behind
 * a string; pieces are as large as alignment allows, so memory of device type will do. Volatile keeps the
 * pieces apart and behind the store that opened the slot.
 */
KTRACE_FIELD_INLINE void ktrace_put8(uint8_t *to, uint32_t at, uint32_t value)
{
	*(volatile uint8_t *)(to + at) = (uint8_t)value;
}

KTRACE_FIELD_INLINE void ktrace_put16(uint8_t *to, uint32_t at, uint32_t value)
{
	if (KTRACE_ARCH_UNALIGNED || at % 2 == 0) {
		*(volatile ktrace_u16_any *)(to + at) = (uint16_t)value;
	} else {
		ktrace_put8(to, at, value);
		ktrace_put8(to, at + 1, value >> 8);
	}
}

KTRACE_FIELD_INLINE void ktrace_put32(uint8_t *to, uint32_t at, uint32_t value)
{
	if (KTRACE_ARCH_UNALIGNED || at % 4 == 0) {
		*(volatile ktrace_u32_any *)(to + at) = value;
	} else {
		ktrace_put16(to, at, value);
		ktrace_put16(to, at + 2, value >> 16);
	}
}

KTRACE_FIELD_INLINE void ktrace_put64(uint8_t *to, uint32_t at, uint64_t value)
{
	if (KTRACE_ARCH_UNALIGNED) {
		*(volatile ktrace_u64_any *)(to + at) = value;
	} else {
		ktrace_put32(to, at, (uint32_t)value);
		ktrace_put32(to, at + 4, (uint32_t)(value >> 32));
	}
}

/*
 * The fields of a record: packed, as the payload has them, or with strings among them a word for each, so
 * that the library packs them.
 */
struct ktrace_packer {
	uint32_t size; /* bytes of all fields; KTRACE_STRING_SIZE or more: there is a string */
	uint32_t at;   /* next byte of what is packed, or next word */
	/* Record only into the boot ring, without callers and without a hook that needs a per-CPU area. */
	int early;
	struct ktrx_event *event;
	struct ktrx_place *place; /* the one of the event's places that records; NULL: none */
	uint64_t *word;		  /* KTRACE_PACKER_WORDS() */
};

/*
 * Words of a packer, for a text and so many fields. Apart, because a site has them on its stack: 8 bytes a
 * field, and the end of the last slot.
 */
#define KTRACE_PACKER_WORDS(...) (KTRACE_COUNT(__VA_ARGS__) + 4)

/*
 * `built`: 1 + the size of all fields. Sets up by members: compilers make a library call of a whole
 * structure.
 */
KTRACE_INLINE void ktrace_packer_set(struct ktrace_packer *packer, uint64_t *word, struct ktrx_event *event,
				     uint32_t built, int early, struct ktrx_place *place)
{
	packer->event = event;
	packer->word = word;
	packer->size = built - 1;
	packer->at = 0;
	packer->early = early;
	packer->place = place;
	packer->word[0] = 0;
	packer->word[1] = 0;
	packer->word[2] = 0;
}

/* Adds a field of `size` bytes, 1, 2, 4 or 8. All but `value` are constants. */
KTRACE_FIELD_INLINE void ktrace_pack(struct ktrace_packer *packer, uint32_t size, uint64_t value)
{
	uint32_t word = packer->at / 8, bit = packer->at % 8 * 8;

	if (packer->size >= KTRACE_STRING_SIZE) {
		packer->word[packer->at++] = value;
	} else if (KTRACE_ARCH_UNALIGNED && packer->size > KTRX_FIRST_PAYLOAD) {
		*(volatile ktrace_u64_any *)((uint8_t *)packer->word + packer->at) = value;
		packer->at += size;
	} else {
		value = size == 8 ? value : value & ((UINT64_C(1) << size % 8 * 8) - 1);
		packer->word[word] = bit == 0 ? value : packer->word[word] | value << bit;
		if (bit + size * 8 > 64)
			packer->word[word + 1] = value >> (64 - bit) % 64;
		packer->at += size;
	}
}

/* One reserved slot of a ring that has room for its stamp. */
struct ktrace_claim {
	uint64_t word;
	uint64_t stamp;
	struct ktrx_ring *ring;
	uint64_t header; /* of the event's or place's row */
};

KTRX_STATIC_ASSERT(KTRACE_BUILT_SHORT == KTRX_FIRST_PAYLOAD + 1, "ktrace: the fields of one slot");

KTRACE_INLINE int ktrace_event_is_on(const struct ktrx_event *event)
{
	return *(const volatile uint8_t *)&event->state != 0;
}

/*
 * Loads the header of the event's or place's row, once: its sign says whether the event is no more than "on",
 * the rest goes into the slot. 0: it is more.
 */
KTRACE_INLINE int ktrace_claim_header(struct ktrace_claim *claim, const uint32_t *header)
{
	claim->header = *(const volatile uint32_t *)header;
	return KTRACE_LIKELY(!(claim->header & KTRACE_HEADER_SLOW)) != 0;
}

/* Reserves a slot and reads the clock. 0: the stamp is past the ring's deadline. */
KTRACE_INLINE int ktrace_claim_slot(struct ktrace_claim *claim)
{
	struct ktrx_ring *ring;

	claim->word = ktrace_arch_reserve(1);
	ktrace_arch_store_barrier();
	ring = ktrace_arch_ring(claim->word);
	KTRACE_COMPUTE_ONCE(ring);
	claim->ring = ring;
	claim->stamp = ktrace_arch_clock();
	return KTRACE_LIKELY(claim->stamp < ring->deadline) != 0;
}

/*
 * No ring is smaller than KTRACE_LEAST_SLOTS, so with fewer reserved since there was no lap; otherwise, and
 * if the thread was moved to a CPU with another word, it is looked at closely.
 */
#ifdef KTRACE_PORT_PINNED
KTRACE_INLINE void ktrace_claim_check(const struct ktrace_claim *claim)
{
	(void)claim;
}
#else
KTRACE_INLINE void ktrace_claim_check(const struct ktrace_claim *claim)
{
	if (KTRACE_UNLIKELY(ktrace_arch_reserve_read() - claim->word >= KTRACE_LEAST_SLOTS))
		ktrace_count_if_lapped(claim->ring, claim->word);
}
#endif

/*
 * Fills the claimed slot with what was packed and makes it valid. The check comes from these values, never
 * from the slot: that may hold another writer's.
 */
KTRACE_INLINE void ktrace_commit(const struct ktrace_claim *claim, const struct ktrace_packer *packer)
{
	const struct ktrx_ring *ring = claim->ring;
	uint32_t index = (uint32_t)claim->word & ring->mask;
	uint8_t *slot = (uint8_t *)(uintptr_t)ring->base + ((uint64_t)index << KTRX_SLOT_SHIFT);
	uint64_t leading = claim->header + (claim->stamp << 28), lap, check;
	uint32_t thread;

	KTRACE_COMPUTE_ONCE(leading); /* now, so that registers are free for the check */
	lap = claim->word >> ring->shift;
	thread = ktrace_arch_thread();
	check = ktrx_check_first(packer->word[0], packer->word[1], (uint32_t)packer->word[2], thread,
				 (uint32_t)lap, 0);
	ktrace_put64(slot, KTRX_FIRST_OFFSET, packer->word[0]);
	ktrace_put64(slot, KTRX_FIRST_OFFSET + 8, packer->word[1]);
	ktrace_put32(slot, KTRX_FIRST_OFFSET + 16, (uint32_t)packer->word[2]);
	ktrace_put32(slot, 8, thread + ((uint32_t)check & KTRX_W1_CHECK_MASK));
	ktrace_arch_publish((uint64_t *)(uintptr_t)slot,
			    leading + (check & KTRX_TAG_CHECK_MASK) + (uint64_t)(uint8_t)lap * 8);
	ktrace_claim_check(claim);
}

/*
 * Records a record of one slot. Part of the site: what it calls returns into the function that is recorded as
 * the site's.
 */
KTRACE_INLINE void ktrace_record(const struct ktrace_packer *packer)
{
	struct ktrx_event *event = packer->event;
	struct ktrx_place *place = packer->place;
	const uint64_t third = packer->word[2] | (uint64_t)packer->at << 32;
	unsigned long pinned = ktrace_arch_pin();
	struct ktrace_claim claim;

	claim.word = KTRACE_WORD_NONE;
	claim.stamp = 0;
	if (ktrace_claim_header(&claim, place ? &place->header : &event->header) && ktrace_claim_slot(&claim))
		ktrace_commit(&claim, packer);
	else if (place)
		ktrace_emit_place(event, packer->word[0], packer->word[1], third, claim.word, claim.stamp,
				  place);
	else
		ktrace_emit_short(event, packer->word[0], packer->word[1], third, claim.word, claim.stamp);
	KTRACE_COME_BACK();
	ktrace_arch_unpin(pinned);
}

KTRX_CASTS_END

#endif
