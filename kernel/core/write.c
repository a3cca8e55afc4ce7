/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Writes slots. A reservation is never given back. So every slot before a ring's head is either written or
 * found invalid by readers.
 */
#include "core.h"

/*
 * Members are filled in one by one, because compilers turn initialisers of whole structures into library
 * calls.
 */
struct ktrace_writer {
	struct ktrx_ring *ring;
	struct ktrace_slot *base;
	uint64_t word;	/* result of the reservation: selects ring and first slot */
	uint32_t slots; /* number of reserved slots */
	/* thread, context and extension bit, as in the member `second` of struct ktrace_pending */
	uint32_t second;
	uint64_t stamp;
};

static struct ktrace_slot *slot_at(const struct ktrace_writer *writer, uint32_t n)
{
	return &writer->base[(uint32_t)(writer->word + n) & writer->ring->mask];
}

static uint32_t tag_at(const struct ktrace_writer *writer, uint32_t n, uint32_t kind)
{
	return kind | ktrx_generation(writer->word + n, writer->ring->shift) << 3;
}

static void slot_store(struct ktrace_slot *slot, const uint64_t *words)
{
	volatile uint64_t *to = slot->word;

	to[1] = words[1];
	to[2] = words[2];
	to[3] = words[3];
	ktrace_arch_publish(&slot->word[0], words[0]);
}

static inline void pending_end(const struct ktrace_pending *pending, uint32_t slots)
{
	uint32_t bytes = pending->bytes;
	volatile uint32_t *word = pending->payload + bytes / 4;
	const uint32_t *end =
		pending->payload + (KTRX_FIRST_PAYLOAD + (slots - 1) * KTRX_MORE_PAYLOAD + 3) / 4;

	if (bytes % 4) {
		*word = *word & ((KTRX_U32(1) << (bytes % 4 * 8)) - 1);
		word++;
	}
	while (word < end)
		*word++ = 0;
}

void ktrace_pending_end(const struct ktrace_pending *pending)
{
	pending_end(pending, ktrx_record_slots(pending->bytes));
}

/*
 * Loads eight bytes of the payload at an even offset. Reads up to two bytes beyond them. The memory may be
 * device memory.
 */
static uint64_t payload_word(const uint32_t *payload, uint32_t at)
{
	const uint8_t *from = (const uint8_t *)payload + at;
	const volatile ktrace_u32_any *word = (const volatile ktrace_u32_any *)(from - at % 4);

	if (KTRACE_ARCH_UNALIGNED)
		return *(const ktrace_u64_any *)from;
	if (at % 4 == 0)
		return word[0] | (uint64_t)word[1] << 32;
	return word[0] >> 16 | (uint64_t)word[1] << 16 | (uint64_t)word[2] << 48;
}

static uint32_t lap_at(const struct ktrace_writer *writer, uint32_t n)
{
	return (uint32_t)((writer->word + n) >> writer->ring->shift);
}

/* Stores the first slot. `rest`: the check of the record's other slots. */
static inline void first_store(const struct ktrace_writer *writer, uint32_t id, const uint32_t *payload,
			       uint64_t rest)
{
	uint32_t tag = tag_at(writer, 0, writer->slots == 1 ? KTRX_KIND_SINGLE : KTRX_KIND_FIRST);
	uint64_t a = payload_word(payload, 0), b = payload_word(payload, 8);
	uint64_t check = ktrx_check_first(a, b, payload[4], writer->second, lap_at(writer, 0), rest);
	const uint64_t words[4] = {
		(tag | (uint64_t)id << 16 | writer->stamp << 28) + (check & KTRX_TAG_CHECK_MASK),
		(writer->second + (check & KTRX_W1_CHECK_MASK)) | a << 32,
		a >> 32 | b << 32,
		b >> 32 | (uint64_t)payload[4] << 32,
	};

	slot_store(slot_at(writer, 0), words);
}

static uint32_t pending_id(const struct ktrace_pending *pending)
{
	return pending->place ? pending->place : pending->event;
}

/* Stores a continuation slot. Returns the slot's contribution to the record's check. */
static inline uint64_t more_store(const struct ktrace_writer *writer, uint32_t n, const uint32_t *payload)
{
	uint32_t at = KTRX_FIRST_PAYLOAD + (n - 1) * KTRX_MORE_PAYLOAD;
	uint32_t tag = tag_at(writer, n, n + 1 == writer->slots ? KTRX_KIND_LAST : KTRX_KIND_MORE);
	uint64_t words[4] = {
		tag | payload_word(payload, at) << 16,
		payload_word(payload, at + 6),
		payload_word(payload, at + 14),
		payload_word(payload, at + 22),
	};
	uint64_t check = ktrx_check_more(words, lap_at(writer, n));

	words[0] += check & KTRX_TAG_CHECK_MASK;
	slot_store(slot_at(writer, n), words);
	return check;
}

/*
 * Adds the number of the record's slots to `lapped` if other writers have reserved a whole lap since the
 * record's first slot was reserved. In this case the record may have overwritten newer slots. The count is a
 * lower bound: a CPU may load the head before its stores are visible, and a port may omit the call.
 */
static void count_if_lapped(const struct ktrace_writer *writer)
{
	uint64_t now = *(volatile uint64_t *)(uintptr_t)writer->ring->head;

	if (now - writer->word > (uint64_t)writer->ring->mask + 1)
		ktrace_arch_fetch_add(&writer->ring->lapped, writer->slots);
}

void ktrace_count_if_lapped(struct ktrx_ring *ring, uint64_t word)
{
	struct ktrace_writer writer;

	writer.ring = ring;
	writer.word = word;
	writer.slots = 1;
	count_if_lapped(&writer);
}

static void record_write(const struct ktrace_writer *writer, uint32_t id, const uint32_t *payload)
{
	uint64_t rest = 0;

	for (uint32_t n = writer->slots; --n > 0;)
		rest = ktrx_check_rest(rest, more_store(writer, n, payload));
	first_store(writer, id, payload, rest);
	count_if_lapped(writer);
}

/*
 * Returns nonzero if the distance between the record and the last anchor is too great. The timestamp of the
 * anchor may also be later than that of the record, if a CPU with another clock wrote the anchor.
 */
static int needs_anchor(const struct ktrace_writer *writer)
{
	const struct ktrx_ring *ring = writer->ring;

	return ring->anchor_stamp == 0 ||
	       writer->stamp - ring->anchor_stamp + KTRACE_ANCHOR_TICKS >= 2 * KTRACE_ANCHOR_TICKS;
}

/*
 * Stores the anchor as the ring's newest anchor, unless a later anchor was written already. Does not set a
 * deadline for the boot ring: its deadline stays in the past, so call sites never write into the boot ring
 * themselves.
 */
static void anchor_name(struct ktrx_ring *ring, uint64_t stamp, uint64_t index)
{
	if (ring->anchor_stamp != 0 && (int64_t)(index - ring->anchor_index) < 0)
		return;
	*(volatile uint64_t *)&ring->anchor_index = index;
	*(volatile uint64_t *)&ring->anchor_stamp = stamp;
	if (ring != ktrace_ring)
		*(volatile uint64_t *)&ring->deadline = stamp + KTRACE_ANCHOR_TICKS;
}

/* Writes an anchor into the single slot that the writer has reserved. */
static void anchor_store(const struct ktrace_writer *writer)
{
	struct ktrx_ring *ring = writer->ring;
	uint64_t index = KTRX_WORD_INDEX(writer->word);
	uint64_t distance = ring->anchor_stamp ? index - ring->anchor_index : 0;
	uint32_t payload[KTRX_FIRST_PAYLOAD / 4];

	payload[0] = (uint32_t)writer->stamp;
	payload[1] = (uint32_t)(writer->stamp >> 32);
	payload[2] = (uint32_t)ring->anchor_stamp;
	payload[3] = (uint32_t)(ring->anchor_stamp >> 32);
	payload[4] = distance <= KTRX_U32_MAX ? (uint32_t)distance : 0;
	record_write(writer, KTRX_EVENT_ANCHOR, payload);
	anchor_name(ring, writer->stamp, index);
}

/*
 * Turns the writer's reservation into an anchor. If there are several slots, each gets an anchor: readers
 * skip anchors, so no slot counts as lost. An anchor at time 0 is stored as 1, because an anchor_stamp of 0
 * means that there is none.
 */
static void anchor_write(struct ktrace_writer *writer)
{
	uint64_t word = writer->word, stamp = writer->stamp;
	uint32_t slots = writer->slots, second = writer->second;

	writer->slots = 1;
	writer->second = second & ~KTRX_W1_EXTENDED_BIT;
	writer->stamp = stamp ? stamp : 1;
	for (; writer->word < word + slots; writer->word++)
		anchor_store(writer);
	writer->word = word;
	writer->slots = slots;
	writer->second = second;
	writer->stamp = stamp;
}

static void writer_begin(struct ktrace_writer *writer, const struct ktrace_pending *pending)
{
	writer->slots = ktrx_record_slots(pending->bytes);
	writer->second = pending->second;
	pending_end(pending, writer->slots);
}

/* ---- Rings that all CPUs write --------------------------------------------------------------------- */

static void shared_reserve(struct ktrace_writer *writer, uint64_t *head)
{
	writer->word = ktrace_arch_fetch_add(head, writer->slots);
	ktrace_arch_store_barrier();
}

/* Requires: the caller has set the writer's ring. */
static uint64_t shared_write(struct ktrace_writer *writer, uint64_t *head,
			     const struct ktrace_pending *pending)
{
	writer_begin(writer, pending);
	shared_reserve(writer, head);
	writer->stamp = ktrace_arch_clock();
	if (needs_anchor(writer)) {
		anchor_write(writer);
		shared_reserve(writer, head);
	}
	record_write(writer, pending_id(pending), pending->payload);
	return writer->stamp;
}

/* The address of the boot ring is computed relative to the code, and not read from the ring's entry. */
static uint64_t boot_write(const struct ktrace_pending *pending)
{
	struct ktrace_writer writer;

	writer.ring = ktrace_ring;
	writer.base = ktrace_boot_slot;
	return shared_write(&writer, &ktrace_ring[0].word, pending);
}

static uint64_t rare_write(const struct ktrace_pending *pending)
{
	struct ktrace_writer writer;

	writer.ring = &ktrace_ring[ktrace_state.rare];
	writer.base = (struct ktrace_slot *)(uintptr_t)writer.ring->base;
	return shared_write(&writer, &ktrace_state.rare_word, pending);
}

/* ---- Rings of one CPU ------------------------------------------------------------------------------ */

/*
 * Reserves slots if this overwrites no older slot. Otherwise counts the record as dropped and returns 0.
 */
static int reserve_if_room(struct ktrace_writer *writer)
{
	struct ktrx_ring *ring = writer->ring;
	uint64_t *head = (uint64_t *)(uintptr_t)ring->head;

	do {
		writer->word = *(volatile uint64_t *)head;
		if (KTRX_WORD_INDEX(writer->word) + writer->slots - ring->first > (uint64_t)ring->mask + 1) {
			ktrace_arch_fetch_add(&ring->dropped, 1);
			return 0;
		}
	} while (!ktrace_arch_compare_swap(head, writer->word, writer->word + writer->slots));
	ktrace_arch_store_barrier();
	return 1;
}

static void writer_place(struct ktrace_writer *writer, uint32_t ring)
{
	writer->ring = &ktrace_ring[ring];
	writer->base = (struct ktrace_slot *)(uintptr_t)writer->ring->base;
}

/*
 * Reserves slots in this CPU's ring. Requires: the CPU is online, and writer->ring is set (its policy is
 * used). Returns 0 if the ring is full.
 */
static inline int ring_reserve(struct ktrace_writer *writer)
{
	if (writer->ring->policy == KTRX_POLICY_STOP)
		return reserve_if_room(writer);
	writer->word = ktrace_arch_reserve(writer->slots);
	ktrace_arch_store_barrier();
	writer_place(writer, KTRX_WORD_RING(writer->word));
	return 1;
}

/*
 * Writes the record into the reserved slots. If an anchor is due, writes anchors into these slots, and
 * reserves other slots for the record. Returns the record's timestamp; 0 if the ring is full. Requires: the
 * writer has reserved the slots and has a timestamp.
 */
static uint64_t ring_write(struct ktrace_writer *writer, const struct ktrace_pending *pending)
{
	if (needs_anchor(writer)) {
		anchor_write(writer);
		if (!ring_reserve(writer))
			return 0;
	}
	record_write(writer, pending_id(pending), pending->payload);
	return writer->stamp;
}

uint64_t ktrace_write_reserved(const struct ktrace_pending *pending, uint64_t word, uint64_t stamp)
{
	struct ktrace_writer writer;

	writer_begin(&writer, pending);
	writer_place(&writer, pending->ring);
	writer.word = word;
	writer.stamp = stamp;
	return ring_write(&writer, pending);
}

uint64_t ktrace_write_own(const struct ktrace_pending *pending)
{
	struct ktrace_writer writer;

	writer_begin(&writer, pending);
	writer_place(&writer, pending->ring);
	if (!ring_reserve(&writer))
		return 0;
	writer.stamp = ktrace_arch_clock();
	return ring_write(&writer, pending);
}

uint64_t ktrace_write(const struct ktrace_pending *pending)
{
	if (pending->ring == 0)
		return boot_write(pending);
	if (pending->ring == ktrace_state.rare)
		return rare_write(pending);
	return ktrace_write_own(pending);
}
