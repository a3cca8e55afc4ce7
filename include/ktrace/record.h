/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The record path, to which every KTRACE() of event.h expands. Do not call it directly.
 *
 *   1. Load the event's state; if it is off, branch away.
 *   2. If the event needs more than the fast path (sign bit of the header), or has a string or more than
 *      20 bytes of fields, call one of ktrace_emit_*(), out of line.
 *   3. Reserve a slot with one atomic add, which selects ring and slot. Read the clock. If the timestamp is
 *      past the ring's deadline, continue out of line.
 *   4. Pack the fields into three words. Compute the check from these, the thread and the lap.
 *   5. Store payload, thread and part of the check, then the word that makes the slot valid.
 *   6. If a whole lap was reserved since step 3, the slot may belong to a later record: count the slot.
 *
 * The record path disables no interrupts, takes no lock and does not wait. An interrupt at any point uses
 * later slots of the same ring.
 */
#ifndef KTRACE_RECORD_H
#define KTRACE_RECORD_H

#include "ktrace/macros.h"
#include "ktrace/port.h"

KTRACE_BEGIN_C

/* Value of `word` while no slot is reserved. */
#define KTRACE_WORD_NONE KTRX_U64_MAX

/*
 * Sign bit of `header` in an event or place descriptor: the event is recorded out of line, see
 * KTRX_STATE_SLOW.
 */
#define KTRACE_HEADER_SLOW 0x80000000u

/*
 * Size in bytes that is counted for a string field. It is more than all fields of an event without a string
 * can have.
 */
#define KTRACE_STRING_SIZE 256u

/* 1 + the maximum total size, in bytes, of the fields of a record in one slot. */
#define KTRACE_BUILT_SHORT 21

/* Number of slots of the smallest ring. */
#define KTRACE_LEAST_SLOTS 512u

/* Maximum payload of a record, in bytes. It leaves room for the extension block of the boot ring. */
#define KTRACE_PAYLOAD_MAX (KTRX_RECORD_MAX_PAYLOAD - 4u)

/* Size in bytes of the longest extension block that is recorded: head, two callers and the call site. */
#define KTRACE_EXTENSION_MAX 28u

/* Number of payload bytes that fit into the slots of a record whose payload is `bytes` bytes. */
#define KTRACE_CAPACITY(bytes)                                                                  \
	((bytes) <= KTRX_FIRST_PAYLOAD                                                          \
		 ? KTRX_FIRST_PAYLOAD                                                           \
		 : KTRX_FIRST_PAYLOAD + ((bytes)-KTRX_FIRST_PAYLOAD + KTRX_MORE_PAYLOAD - 1u) / \
						KTRX_MORE_PAYLOAD * KTRX_MORE_PAYLOAD)

struct ktrace_packer;

/*
 * Record an event out of line. `site`: the address of the code that records; ktrace_emit_here() uses its own
 * return address. Any context, see port.h.
 */
KTRACE_HIDDEN void ktrace_emit_long(struct ktrace_packer *fields, uintptr_t site);
KTRACE_HIDDEN void ktrace_emit_here(struct ktrace_packer *fields);

/*
 * Records an event whose payload the caller has packed; used by bindings of other languages. Requires: the
 * payload is aligned to 8 bytes, and its buffer has KTRACE_CAPACITY(bytes) bytes, rounded up to a multiple of
 * 8, of which those after the payload are 0.
 */
KTRACE_HIDDEN void ktrace_emit_packed(struct ktrx_event *event, void *payload, uint32_t bytes);

/*
 * Record an event in one slot. `first` and `second` are payload bytes 0 to 7 and 8 to 15; `third` is bytes 16
 * to 19 | the payload's length << 32. `word` is the result of the reservation that the call site has made, or
 * KTRACE_WORD_NONE if it has reserved nothing; `stamp` is the timestamp that it has read. ktrace_emit_words()
 * gets the call site as an argument; the other functions use their return address.
 */
KTRACE_HIDDEN KTRACE_COLD void ktrace_emit_short(struct ktrx_event *event, uint64_t first, uint64_t second,
						 uint64_t third, uint64_t word, uint64_t stamp);
KTRACE_HIDDEN KTRACE_COLD void ktrace_emit_place(struct ktrx_event *event, uint64_t first, uint64_t second,
						 uint64_t third, uint64_t word, uint64_t stamp,
						 struct ktrx_place *place);
KTRACE_HIDDEN KTRACE_COLD void ktrace_emit_words(struct ktrx_event *event, struct ktrx_place *place,
						 uint64_t first, uint64_t second, uint64_t third,
						 uint64_t word, uint64_t stamp, uintptr_t site);

/* Counts the slot `word` in ring->lapped if a whole lap was reserved after it. Any context. */
KTRACE_HIDDEN void ktrace_count_if_lapped(struct ktrx_ring *ring, uint64_t word);

KTRACE_END_C

KTRX_CASTS_BEGIN

/* Types to access memory of another type. They have the smallest alignment that the CPU allows. */
typedef uint16_t ktrace_u16_any __attribute__((__may_alias__, __aligned__(KTRACE_ARCH_UNALIGNED ? 1 : 2)));
typedef uint32_t ktrace_u32_any __attribute__((__may_alias__, __aligned__(KTRACE_ARCH_UNALIGNED ? 1 : 4)));
typedef uint64_t ktrace_u64_any __attribute__((__may_alias__, __aligned__(KTRACE_ARCH_UNALIGNED ? 1 : 8)));

/*
 * Store a field at to[at]. Requires: `to` is aligned to 4 bytes. `at` is a constant, except after a string.
 * Each store is as large as alignment allows, so device memory works as well. `volatile` keeps the stores
 * separate, and in order after the store that opened the slot.
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
 * The fields of a record. If no field is a string, the fields are packed as in the payload. Otherwise there
 * is one word for each field, and the library packs the fields.
 */
struct ktrace_packer {
	uint32_t size; /* size of all fields in bytes; KTRACE_STRING_SIZE or more if one is a string */
	uint32_t at;   /* index of the next byte, or of the next word if there is a string */
	/*
	 * nonzero: record into the boot ring only, without callers, and do not call functions of the port
	 * that need a per-CPU area
	 */
	int early;
	struct ktrx_event *event;
	struct ktrx_place *place; /* descriptor of the place that records; NULL: the event has no places */
	uint64_t *word;		  /* KTRACE_PACKER_WORDS() words */
};

/*
 * Number of words that a packer needs for an event with this text and these fields. The words are a separate
 * array, so that the stack frame of a call site contains only the words that it needs: one for each field,
 * and the rest of the last slot.
 */
#define KTRACE_PACKER_WORDS(...) (KTRACE_COUNT(__VA_ARGS__) + 4)

/*
 * Initialises a packer. `built`: 1 + the size of all fields. Sets members one by one, because compilers turn
 * the initialiser of a whole structure into a library call.
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

/* Adds a field of 1, 2, 4 or 8 bytes. All arguments except `value` are constants. */
KTRACE_FIELD_INLINE void ktrace_pack(struct ktrace_packer *packer, uint32_t size, uint64_t value)
{
	uint32_t word = packer->at / 8, bit = packer->at % 8 * 8;

	if (packer->size >= KTRACE_STRING_SIZE) {
		packer->word[packer->at++] = value;
	} else if (KTRACE_ARCH_UNALIGNED && packer->size > KTRX_FIRST_PAYLOAD) {
		*(volatile ktrace_u64_any *)((uint8_t *)packer->word + packer->at) = value;
		packer->at += size;
	} else {
		value = size == 8 ? value : value & ((KTRX_U64(1) << size % 8 * 8) - 1);
		packer->word[word] = bit == 0 ? value : packer->word[word] | value << bit;
		if (bit + size * 8 > 64)
			packer->word[word + 1] = value >> (64 - bit) % 64;
		packer->at += size;
	}
}

/* One reserved slot, with its ring and timestamp. */
struct ktrace_claim {
	uint64_t word;
	uint64_t stamp;
	struct ktrx_ring *ring;
	uint8_t *slot;	 /* valid after ktrace_claim_slot() */
	uint64_t header; /* `header` of the event or place descriptor */
};

KTRX_STATIC_ASSERT(KTRACE_BUILT_SHORT == KTRX_FIRST_PAYLOAD + 1, "ktrace: the fields of one slot");

KTRACE_INLINE int ktrace_event_is_on(const struct ktrx_event *event)
{
	return *(const volatile uint8_t *)&event->state != 0;
}

/*
 * Loads the header of the event or place descriptor, once. Returns nonzero if the fast path may record the
 * event, 0 if the header's sign bit is set. The header's other bits go into the slot.
 */
KTRACE_INLINE int ktrace_claim_header(struct ktrace_claim *claim, const uint32_t *header)
{
	claim->header = *(const volatile uint32_t *)header;
	return KTRACE_LIKELY(!(claim->header & KTRACE_HEADER_SLOW)) != 0;
}

/*
 * Reserves a slot and reads the clock. Returns 0 if the timestamp is past the ring's deadline. The address of
 * the slot is computed before the clock is read, because the CPU has time for it while it reads the clock.
 */
KTRACE_INLINE int ktrace_claim_slot(struct ktrace_claim *claim)
{
	struct ktrx_ring *ring;
	uint8_t *slot;
	uint32_t index;

	claim->word = ktrace_arch_reserve(1);
	ktrace_arch_store_barrier();
	ring = ktrace_arch_ring(claim->word);
	KTRACE_COMPUTE_ONCE(ring);
	claim->ring = ring;
	index = (uint32_t)claim->word & ring->mask;
	slot = (uint8_t *)(uintptr_t)ring->base + ((uint64_t)index << KTRX_SLOT_SHIFT);
	KTRACE_COMPUTE_ONCE(slot);
	claim->slot = slot;
	claim->stamp = ktrace_arch_clock();
	return KTRACE_LIKELY(claim->stamp < ring->deadline) != 0;
}

/*
 * Counts the slot in ring->lapped if a whole lap was reserved after it. No ring is smaller than
 * KTRACE_LEAST_SLOTS, so if fewer slots were reserved, there was no lap. Otherwise, and if the thread
 * migrated to a CPU with another reserve word, ktrace_count_if_lapped() decides.
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
 * Fills the reserved slot and makes it valid. The check is computed from the values, never from the slot,
 * which may contain stores of another writer.
 *
 * The order of the steps, and KTRACE_COMPUTE_ONCE(), keep two dependency chains short, because a CPU cannot
 * hide them behind other work: from the clock to the last store, and from the reservation to the check. They
 * also free the registers of the payload early.
 */
KTRACE_INLINE void ktrace_commit(const struct ktrace_claim *claim, const struct ktrace_packer *packer)
{
	uint8_t *slot = claim->slot;
	uint64_t leading, lap, check;
	uint32_t thread, tail;

	ktrace_put64(slot, KTRX_FIRST_OFFSET, packer->word[0]);
	ktrace_put64(slot, KTRX_FIRST_OFFSET + 8, packer->word[1]);
	ktrace_put32(slot, KTRX_FIRST_OFFSET + 16, (uint32_t)packer->word[2]);
	thread = ktrace_arch_thread();
	lap = claim->word >> claim->ring->shift;
	/* ktrx_check_first() adds the last bytes of payload, 8 * thread and the lap; the lap is known last */
	tail = (uint32_t)packer->word[2] + thread * 8u;
	KTRACE_COMPUTE_ONCE(tail);
	check = ktrx_check_first(packer->word[0], packer->word[1], tail, 0, (uint32_t)lap, 0);
	ktrace_put32(slot, 8, thread + ((uint32_t)check & KTRX_W1_CHECK_MASK));
	leading = claim->header + (uint64_t)(uint8_t)lap * 8;
	KTRACE_COMPUTE_ONCE(leading);
	leading += check & KTRX_TAG_CHECK_MASK;
	ktrace_arch_publish((uint64_t *)(uintptr_t)slot, leading + (claim->stamp << 28));
	ktrace_claim_check(claim);
}

/*
 * Records an event in one slot. This function is inlined into the function that contains the call site. The
 * functions that it calls therefore return there, and record their return address as the call site.
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
