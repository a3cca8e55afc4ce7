/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Follows one ring of a running guest. */
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "follow_state.h"
#include "message.h"

#define LEAST_ROOM 1024u
/* a ring fills fast if more than 1/FAST_PART of its slots are written between two polls */
#define FAST_PART 4u

static int set_room(struct ktread_follow_ring *follow, uint32_t room)
{
	struct ktread_v2_ring *ring = &follow->ring;
	uint64_t(*buffer)[4] = realloc(ring->buffer, (size_t)room * sizeof(*buffer));
	struct ktread_v2_item *item;

	if (!buffer)
		return ktread_fail_memory();
	ring->buffer = buffer;
	item = realloc(ring->item, (size_t)room * sizeof(*item));
	if (!item)
		return ktread_fail_memory();
	ring->item = item;
	follow->room = room;
	return 0;
}

/* Sets the reference for timestamps, using the ring's newest anchors. */
static int find_reference(struct ktread_follow_ring *follow)
{
	struct ktread_v2_ring *ring = &follow->ring;
	int status =
		ktread_stamp_find_start(ring->layout, ring->ring, ring->index, follow->head, &ring->start);

	if (status == 0)
		ring->reference = ring->start.reference;
	return status;
}

int ktread_follow_ring_open(struct ktread_follow_ring *follow)
{
	struct ktread_v2_ring *ring = &follow->ring;

	follow->shift = ring->place->row.shift;
	follow->head = ring->place->head;
	follow->start = ring->place->row.first < follow->head ? ring->place->row.first : follow->head;
	ring->index = ktread_ring_begin(ring->place, follow->head);
	if (ring->index > follow->head)
		ring->index = follow->head;
	ring->lost = follow->overwritten = follow->unreported = ring->index - follow->start;
	follow->passed = malloc(KTREAD_FOLLOW_PASSED * sizeof(*follow->passed));
	if (!follow->passed)
		return ktread_fail_memory();
	follow->usable = true;
	return set_room(follow, LEAST_ROOM) < 0 ? KTREAD_E_MEMORY : find_reference(follow);
}

void ktread_follow_ring_close(struct ktread_follow_ring *follow)
{
	free(follow->passed);
	ktread_v2_ring_free(&follow->ring);
	memset(follow, 0, sizeof(*follow));
}

/*
 * Reads the ring's head again. Skips the unread slots that writers may have begun to overwrite, and counts
 * them as overwritten.
 */
static int advance_head(struct ktread_follow_ring *follow)
{
	struct ktread_v2_ring *ring = &follow->ring;
	uint64_t slots = ktread_ring_slots(ring->place), head, gone;
	int status = ktread_layout_head(ring->layout, ring->ring, &head);

	if (status < 0)
		return status;
	if (head < follow->head) {
		/*
		 * A head never decreases. If this head has decreased, the memory now contains another trace:
		 * start again.
		 */
		follow->start = follow->head = ring->index = head;
		follow->overwritten = follow->skipped = ring->decoded = ring->invalid = 0;
		follow->passed_count = 0;
		return 0;
	}
	follow->head = head;
	if (head - ring->index <= slots)
		return 0;
	gone = head - slots - ring->index;
	ring->index += gone;
	ring->lost += gone;
	follow->overwritten += gone;
	follow->unreported += gone;
	return find_reference(follow);
}

static int add_item(struct ktread_follow_ring *follow, struct ktread_v2_item item, uint64_t (*slot)[4])
{
	struct ktread_v2_ring *ring = &follow->ring;
	uint32_t at = ring->items;

	if (follow->used + item.slots > follow->room && set_room(follow, follow->room * 2) < 0)
		return KTREAD_E_MEMORY;
	item.slot = follow->used;
	memcpy(ring->buffer + follow->used, slot, (size_t)item.slots * KTRX_SLOT_SIZE);
	follow->used += item.slots;
	for (; at > 0 && ring->item[at - 1].stamp > item.stamp; at--)
		ring->item[at] = ring->item[at - 1];
	ring->item[at] = item;
	ring->items++;
	return 0;
}

/*
 * Processes the record that consists of `slots` slots from `index` on. An anchor sets the reference for
 * timestamps. Any other record becomes an item.
 */
static int take(struct ktread_follow_ring *follow, uint64_t (*slot)[4], uint64_t index, uint32_t slots)
{
	struct ktread_v2_ring *ring = &follow->ring;
	struct ktread_v2_item item = { .index = index, .lost = ring->lost, .slots = slots };

	ring->decoded += slots;
	if (!ktread_v2_ring_stamp(ring, slot[0], &item.stamp))
		return 0;
	ring->lost = 0;
	return add_item(follow, item, slot);
}

static bool is_void(const uint64_t *slot, uint64_t index, uint32_t shift)
{
	return KTRX_TAG_KIND(slot[0]) == KTRX_KIND_VOID &&
	       KTRX_TAG_GENERATION(slot[0]) == ktrx_generation(index, shift);
}

/*
 * Remembers the index of a slot that the reader passes over, to read the slot again later. If there is no
 * room, forgets the oldest remembered slot and counts it as invalid.
 */
static void remember(struct ktread_follow_ring *follow, uint64_t index)
{
	if (follow->passed_count == KTREAD_FOLLOW_PASSED) {
		follow->ring.invalid++;
		follow->passed_count--;
		memmove(follow->passed, follow->passed + 1, follow->passed_count * sizeof(*follow->passed));
	}
	follow->passed[follow->passed_count++] = (struct ktread_passed){ index, follow->ring.reference };
}

/*
 * Steps over the slot at ring->index, which continues a record. If the slot before it was skipped or passed
 * over, counts this slot as skipped or passed over, too. Otherwise counts this slot as invalid, because the
 * beginning of its record is lost.
 */
static void skip_continuation(struct ktread_follow_ring *follow)
{
	struct ktread_v2_ring *ring = &follow->ring;

	if (follow->skipped && ring->index == follow->skipped_end) {
		follow->skipped++;
		follow->skipped_end++;
	} else if (follow->passed_count &&
		   follow->passed[follow->passed_count - 1].index + 1 == ring->index) {
		remember(follow, ring->index);
	} else {
		ring->invalid++;
	}
	ring->index++;
	ring->lost++;
}

/*
 * Handles the slot at ring->index, whose record is unfinished. Returns true if the reader passes over the
 * slot, false if the reader must wait for the slot to be finished.
 */
static bool pass_over(struct ktread_follow_ring *follow, const struct ktread_follow_look *look)
{
	struct ktread_v2_ring *ring = &follow->ring;

	if (ring->index >= follow->wait_head) {
		follow->wait_head = follow->head;
		follow->wait_until = look->now + look->patience;
	}
	if (look->now < follow->wait_until && !look->last)
		return false;
	remember(follow, ring->index);
	ring->index++;
	ring->lost++;
	return true;
}

/*
 * Processes `count` slots from ring->index on. Returns 1 if all of them were processed, except perhaps a last
 * record that may continue in later slots; 0 if the reader must wait for an unfinished slot; or an error.
 */
static int go_through(struct ktread_follow_ring *follow, const struct ktread_follow_look *look,
		      uint32_t count)
{
	struct ktread_v2_ring *ring = &follow->ring;
	const struct ktread_slot_form *form = &ring->place->form;
	const uint64_t start = ring->index, end = start + count;

	while (ring->index < end) {
		uint64_t(*slot)[4] = look->scratch + (ring->index - start);
		uint64_t left = end - ring->index;
		uint32_t slots = ktread_slot_is_first(form, slot[0], ring->index)
					 ? ktread_slot_record(form, slot, ring->index, left)
					 : 0;

		if (slots) {
			uint64_t index = ring->index;

			ring->index += slots;
			if (take(follow, slot, index, slots) < 0)
				return KTREAD_E_MEMORY;
		} else if (is_void(slot[0], ring->index, form->shift)) {
			ring->index++;
			ring->lost++;
			ring->invalid++;
		} else if (left < KTRX_RECORD_MAX_SLOTS && end < follow->head && ring->index > start) {
			return 1; /* the record may continue after the slots that were read */
		} else if (ktread_slot_is_continuation(form, slot[0], ring->index)) {
			skip_continuation(follow);
		} else if (!pass_over(follow, look)) {
			return 0;
		}
	}
	return 1;
}

/* Steps over slots in a hole of the memory without reading them. Requires: the guest no longer writes. */
static void skip_nothing(struct ktread_follow_ring *follow)
{
	struct ktread_v2_ring *ring = &follow->ring;
	uint64_t slots = ktread_ring_slots(ring->place), position = ring->index & (slots - 1);
	uint64_t next = ktread_region_next(&ring->place->slots, position * KTRX_SLOT_SIZE) / KTRX_SLOT_SIZE;
	uint64_t nothing = (next < slots ? next : slots) - position;

	if (nothing > follow->head - ring->index)
		nothing = follow->head - ring->index;
	if (nothing < KTREAD_FOLLOW_SCRATCH)
		return;
	ring->index += nothing;
	ring->lost += nothing;
	ring->invalid += nothing;
}

/*
 * Reads and processes as many slots as fit into the scratch buffer, but none from index `end` on. Returns
 * what go_through() returns.
 */
static int read_some(struct ktread_follow_ring *follow, const struct ktread_follow_look *look, uint64_t end)
{
	struct ktread_v2_ring *ring = &follow->ring;
	struct ktread_follow_look rest = *look;
	uint64_t left = end - ring->index, from = ring->index;
	uint32_t count = left < KTREAD_FOLLOW_SCRATCH ? (uint32_t)left : KTREAD_FOLLOW_SCRATCH;
	int status = ktread_slots_read(ring->place, from, look->scratch, count);

	if (status == 0)
		status = advance_head(follow);
	if (status < 0)
		return status;
	/* the slots were overwritten while they were read, or the ring was started again */
	if (ring->index - from >= count)
		return 1;
	rest.scratch += ring->index - from;
	return go_through(follow, &rest, count - (uint32_t)(ring->index - from));
}

/*
 * Reads and processes the slots up to the head that the ring has at the time of the call. Returns 1 if all of
 * them were processed, 0 if some slots must be read later, or an error.
 */
static int read_new(struct ktread_follow_ring *follow, const struct ktread_follow_look *look)
{
	struct ktread_v2_ring *ring = &follow->ring;
	const uint64_t end = follow->head, begin = ring->index;
	int going = 1;

	follow->backlog = false;
	while (going > 0 && ring->index < end && ring->index < follow->head) {
		if (look->last)
			skip_nothing(follow);
		follow->backlog = follow->used >= look->limit || ring->index - begin >= look->limit;
		if (follow->backlog)
			return 0;
		if (ring->index < end)
			going = read_some(follow, look, end);
	}
	return going;
}

/*
 * Reads again the passed-over slot number `n`. Returns the number of remembered slots that need not be read
 * again: the number of slots of the record if it is finished now, 1 if the slot is void or overwritten, and 0
 * if nothing has changed. Returns a negative error if reading failed.
 */
static int revisit_one(struct ktread_follow_ring *follow, uint32_t n, uint32_t most)
{
	struct ktread_v2_ring *ring = &follow->ring;
	const struct ktread_passed *passed = &follow->passed[n];
	uint64_t slot[KTRX_RECORD_MAX_SLOTS][4], index = passed->index;
	const uint64_t reference = ring->reference, lost = ring->lost;
	uint32_t run = 1, slots = 0;
	int status;

	while (run < most && run < KTRX_RECORD_MAX_SLOTS && passed[run].index == index + run)
		run++;
	status = ktread_slots_read(ring->place, index, slot, run);
	if (status == 0)
		status = advance_head(follow);
	if (status < 0)
		return status;
	if (follow->head - index > ktread_ring_slots(ring->place) ||
	    is_void(slot[0], index, ring->place->row.shift)) {
		ring->invalid++;
		return 1;
	}
	if (ktread_slot_is_first(&ring->place->form, slot[0], index))
		slots = ktread_slot_record(&ring->place->form, slot, index, run);
	if (slots == 0)
		return 0;
	/*
	 * this record is older than the ring's current position: use the reference that was remembered for it
	 */
	ring->reference = passed->reference;
	ring->lost = 0;
	status = take(follow, slot, index, slots);
	ring->reference = reference;
	ring->lost = lost;
	return status < 0 ? status : (int)slots;
}

/* Reads again all slots that the reader has passed over. */
static int revisit(struct ktread_follow_ring *follow)
{
	uint32_t kept = 0, n = 0;

	while (n < follow->passed_count) {
		int settled = revisit_one(follow, n, follow->passed_count - n);

		if (settled < 0)
			return settled;
		if (settled == 0)
			follow->passed[kept++] = follow->passed[n++];
		n += (uint32_t)settled;
	}
	follow->passed_count = kept;
	return 0;
}

/*
 * Returns the timestamp up to which all events of the ring have been read; 0: none. If the first unread slot
 * is unfinished, it was reserved after all slots before it, so its timestamp is not earlier than the
 * timestamps of those slots. If that slot is finished (there is a backlog), its timestamp may be earlier than
 * the timestamps of the KTREAD_REORDER slots before it, but not earlier than the timestamps of older slots.
 */
static uint64_t reached(const struct ktread_follow_ring *follow)
{
	const struct ktread_v2_ring *ring = &follow->ring;
	uint32_t back = follow->backlog ? KTREAD_REORDER : 1;

	return ring->items >= back ? ring->item[ring->items - back].stamp : 0;
}

/*
 * Skips the oldest unread slots, so that at most the `most` newest slots remain unread. If `most` is 0, skips
 * nothing.
 */
static int skip(struct ktread_follow_ring *follow, uint32_t most)
{
	struct ktread_v2_ring *ring = &follow->ring;
	uint64_t skipped = follow->head - ring->index;

	if (most == 0 || skipped <= most)
		return 0;
	skipped -= most;
	ring->index += skipped;
	ring->lost += skipped;
	follow->skipped += skipped;
	follow->skipped_end = ring->index;
	return find_reference(follow);
}

int ktread_follow_ring_look(struct ktread_follow_ring *follow, const struct ktread_follow_look *look)
{
	struct ktread_v2_ring *ring = &follow->ring;
	uint64_t frontier, before = follow->head;
	int status = advance_head(follow);

	if (status == 0)
		status = revisit(follow);
	if (status == 0)
		status = skip(follow, look->most);
	if (status == 0)
		status = read_new(follow, look);
	if (status < 0)
		return status;
	follow->filling_fast =
		look->most == 0 && follow->head - before > ktread_ring_slots(ring->place) / FAST_PART;
	if (look->last && !follow->backlog) {
		ring->invalid += follow->passed_count;
		follow->passed_count = 0;
	}
	frontier = status ? look->seen : reached(follow);
	if (frontier > follow->frontier)
		follow->frontier = frontier;
	return 0;
}

uint32_t ktread_follow_ring_upto(const struct ktread_follow_ring *follow, uint64_t stamp)
{
	return (uint32_t)base_count_up_to(follow->ring.item, follow->ring.items, sizeof(*follow->ring.item),
					  offsetof(struct ktread_v2_item, stamp), stamp);
}

/* If the waiting records use only a small part of the buffer, moves them to the front of the buffer. */
static void pack(struct ktread_follow_ring *follow)
{
	struct ktread_v2_ring *ring = &follow->ring;
	uint64_t(*packed)[4];
	uint32_t live = 0;

	for (uint32_t i = 0; i < ring->items; i++)
		live += ring->item[i].slots;
	if (follow->used < 2 * live + LEAST_ROOM)
		return;
	packed = malloc((size_t)follow->room * sizeof(*packed));
	if (!packed)
		return; /* out of memory: leave the buffer unchanged */
	follow->used = 0;
	for (uint32_t i = 0; i < ring->items; i++) {
		struct ktread_v2_item *item = &ring->item[i];

		memcpy(packed + follow->used, ring->buffer + item->slot,
		       (size_t)item->slots * KTRX_SLOT_SIZE);
		item->slot = follow->used;
		follow->used += item->slots;
	}
	free(ring->buffer);
	ring->buffer = packed;
}

void ktread_follow_ring_drop(struct ktread_follow_ring *follow, uint32_t count)
{
	struct ktread_v2_ring *ring = &follow->ring;

	ring->items -= count;
	memmove(ring->item, ring->item + count, ring->items * sizeof(*ring->item));
	if (ring->items == 0)
		follow->used = 0;
	else
		pack(follow);
}
