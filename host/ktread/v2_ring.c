/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Reads one ring of version 2. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "stream.h"
#include "versions.h"

#define RUNNING_SLOTS 256u /* number of slots of a running guest that one call reads */
#define SLOT_WORDS    (KTRX_SLOT_SIZE / sizeof(uint64_t))

static size_t buffer_bytes(const struct ktread_v2_ring *ring)
{
	return ((size_t)KTREAD_CARRY(ring->reorder) + ring->window) * KTRX_SLOT_SIZE;
}

static size_t item_bytes(const struct ktread_v2_ring *ring)
{
	return ((size_t)ring->reorder + ring->window) * sizeof(*ring->item);
}

size_t ktread_v2_ring_bytes(const struct ktread_v2_ring *ring)
{
	return sizeof(*ring) + buffer_bytes(ring) + item_bytes(ring);
}

int ktread_v2_ring_init(struct ktread_v2_ring *ring, uint32_t rings)
{
	uint32_t window = ktread_window_slots(rings);
	uint64_t produced = ring->head - ring->begin;

	ring->window = produced < window ? (uint32_t)produced : window;
	if (ring->window < KTRX_RECORD_MAX_SLOTS)
		ring->window = KTRX_RECORD_MAX_SLOTS;
	ring->reorder = ring->window / 4 < KTREAD_REORDER ? ring->window / 4 : KTREAD_REORDER;
	ring->whole = ring->place->row.kind == KTRX_RING_SHARED && produced <= ring->window;
	ring->buffer = malloc(buffer_bytes(ring));
	ring->item = malloc(item_bytes(ring));
	return ring->buffer && ring->item ? 0 : ktread_fail_memory();
}

void ktread_v2_ring_free(struct ktread_v2_ring *ring)
{
	free(ring->buffer);
	free(ring->item);
	free(ring->anchor);
}

void ktread_v2_ring_restart(struct ktread_v2_ring *ring)
{
	uint64_t slots = ktread_ring_slots(ring->place), produced = ring->head - ring->place->row.first;

	ring->index = ring->begin;
	ring->stop = ring->head;
	ring->outside = 0;
	ring->passed = false;
	ring->reference = ring->start.reference;
	ring->lost = produced > slots ? produced - slots : 0;
	ring->last_stamp = 0;
	ring->decoded = ring->invalid = ring->disordered = 0;
	ring->items = ring->ready = 0;
	ring->rejected_lost = 0;
}

static uint32_t record_cpu(const struct ktread_v2_ring *ring, const uint64_t *slot)
{
	struct ktrx_extension extension;

	if (!KTRX_W1_EXTENDED(slot[1]))
		return ring->place->row.cpu;
	memcpy(&extension, (const unsigned char *)slot + KTRX_FIRST_OFFSET, sizeof(extension));
	return extension.parts & KTRX_EXT_CPU ? extension.cpu : ring->place->row.cpu;
}

static uint64_t corrected(const struct ktread_v2_ring *ring, const uint64_t *slot, uint64_t stamp)
{
	return ktread_corrected(ring->trace, record_cpu(ring, slot), stamp);
}

/* Returns the CPU that recorded the item. */
static uint32_t cpu_of(const struct ktread_v2_ring *ring, const struct ktread_v2_item *item)
{
	return record_cpu(ring, ring->buffer[item->slot]);
}

/*
 * Inserts an item in the order of timestamps, but at most KTREAD_REORDER places before the last item; if the
 * ring is sorted as a whole, also before more items of other CPUs.
 */
static void insert_item(struct ktread_v2_ring *ring, struct ktread_v2_item item)
{
	const uint32_t last = ring->items++;
	uint32_t at = last;

	for (; at > 0 && ring->item[at - 1].stamp > item.stamp; at--) {
		if (last - at >= KTREAD_REORDER &&
		    (!ring->whole || cpu_of(ring, &ring->item[at - 1]) == cpu_of(ring, &item)))
			break;
		ring->item[at] = ring->item[at - 1];
	}
	ring->item[at] = item;
}

bool ktread_v2_ring_stamp(struct ktread_v2_ring *ring, const uint64_t *slot, uint64_t *stamp)
{
	if (KTRX_W0_EVENT(slot[0]) == KTRX_EVENT_ANCHOR) {
		ring->reference = ktread_stamp_of_anchor(slot, ring->reference);
		return false;
	}
	*stamp = ktread_stamp_extend(ring->reference, KTRX_W0_STAMP(slot[0]));
	ring->reference = *stamp;
	if (ring->trace->info.clock != KTREAD_CLOCK_RAW)
		*stamp = corrected(ring, slot, *stamp);
	return true;
}

static void take_record(struct ktread_v2_ring *ring, uint64_t *slot, uint64_t index, uint32_t at,
			uint32_t slots)
{
	struct ktread_v2_item item = { .index = index, .lost = ring->lost, .slot = at, .slots = slots };

	ring->decoded += slots;
	if (!ktread_v2_ring_stamp(ring, slot, &item.stamp))
		return;
	ring->lost = 0;
	insert_item(ring, item);
}

static void skip_slots(struct ktread_v2_ring *ring, uint64_t count)
{
	if (ring->start.missing_index - ring->index < count)
		ring->reference = ring->start.missing_stamp;
	ring->invalid += count;
	ring->lost += count;
	ring->index += count;
}

/*
 * Processes `count` slots in the window. Does not use the first `dropped` slots, because the guest may have
 * changed these slots while they were read.
 */
static void parse_window(struct ktread_v2_ring *ring, uint32_t count, uint64_t dropped)
{
	const struct ktread_slot_form *form = &ring->place->form;
	const uint32_t carried = KTREAD_CARRY(ring->reorder);
	uint64_t(*window)[4] = ring->buffer + carried;
	const uint64_t start = ring->index, end = start + count;

	if (dropped)
		skip_slots(ring, dropped < count ? dropped : count);
	while (ring->index < end) {
		uint32_t n = (uint32_t)(ring->index - start), slots;

		if (!ktread_slot_is_first(form, window[n], ring->index)) {
			skip_slots(ring, 1);
			continue;
		}
		slots = ktread_slot_record(form, window + n, ring->index, count - n);
		if (slots == 0 && count - n < KTRX_RECORD_MAX_SLOTS && end < ring->stop && n > 0)
			/*
			 * the record may continue after the window: read it again later, beginning with its
			 * first slot
			 */
			return;
		if (slots == 0) {
			skip_slots(ring, 1);
			continue;
		}
		take_record(ring, window[n], ring->index, carried + n, slots);
		ring->index += slots;
	}
}

static int read_once(const struct ktread_ring_place *place, uint64_t index, uint64_t (*slot)[4],
		     uint64_t count)
{
	uint64_t slots = ktread_ring_slots(place), position = index & (slots - 1);
	uint64_t straight = count < slots - position ? count : slots - position;
	int status =
		ktread_region_read(&place->slots, position * KTRX_SLOT_SIZE, slot, straight * KTRX_SLOT_SIZE);

	if (status == 0 && straight < count)
		status = ktread_region_read(&place->slots, 0, slot + straight,
					    (count - straight) * KTRX_SLOT_SIZE);
	return status;
}

/*
 * Reads slots of a running guest. A writer stores the first word of a slot last. So a reader must load the
 * first word before the other words. Copying the slots does not guarantee any order. So the slots are read
 * twice, and the first words of the first reading are used with the other words of the second reading. If the
 * first word of a slot differs between the two readings, the slot counts as not written yet.
 */
static int read_running(const struct ktread_ring_place *place, uint64_t index, uint64_t (*slot)[4],
			uint64_t count)
{
	uint64_t first[RUNNING_SLOTS];
	int status = read_once(place, index, slot, count);

	for (uint64_t n = 0; n < count && status == 0; n++)
		first[n] = slot[n][0];
	atomic_thread_fence(memory_order_acquire);
	if (status == 0)
		status = read_once(place, index, slot, count);
	for (uint64_t n = 0; n < count && status == 0; n++)
		if (slot[n][0] != first[n])
			slot[n][0] = KTRX_KIND_EMPTY;
	return status;
}

int ktread_slots_read(const struct ktread_ring_place *place, uint64_t index, uint64_t (*slot)[4],
		      uint64_t count)
{
	int status = 0;

	if (!place->slots.memory->live)
		return read_once(place, index, slot, count);
	for (uint64_t n = 0; n < count && status == 0; n += RUNNING_SLOTS)
		status = read_running(place, index + n, slot + n,
				      count - n < RUNNING_SLOTS ? count - n : RUNNING_SLOTS);
	return status;
}

/* Steps over slots in a hole of the memory without reading them. */
static void skip_nothing(struct ktread_v2_ring *ring)
{
	uint64_t slots = ktread_ring_slots(ring->place), position = ring->index & (slots - 1);
	uint64_t next = ktread_region_next(&ring->place->slots, position * KTRX_SLOT_SIZE) / KTRX_SLOT_SIZE;
	uint64_t nothing = (next < slots ? next : slots) - position;

	if (nothing > ring->stop - ring->index)
		nothing = ring->stop - ring->index;
	if (nothing > ring->window)
		skip_slots(ring, nothing);
}

/*
 * Sets *overtaken to the number of slots that a writer may have begun to overwrite while they were read,
 * counted from ring->index on.
 */
static int count_overtaken(const struct ktread_v2_ring *ring, uint64_t *overtaken)
{
	uint64_t head, begin;
	int status;

	*overtaken = 0;
	if (!ring->layout->memory->live)
		return 0;
	status = ktread_layout_head(ring->layout, ring->ring, &head);
	begin = ktread_ring_begin(ring->place, head);
	*overtaken = begin > ring->index ? begin - ring->index : 0;
	return status;
}

/* Moves the items that were not returned yet, and their slots, to the front of the buffer. */
static void carry_over(struct ktread_v2_ring *ring)
{
	uint64_t kept[KTREAD_CARRY(KTREAD_REORDER)][SLOT_WORDS];
	uint32_t slots = 0, left = ring->items - ring->ready;

	memmove(ring->item, ring->item + ring->ready, left * sizeof(*ring->item));
	ring->items = left;
	ring->ready = 0;
	for (uint32_t i = 0; i < left; i++) {
		struct ktread_v2_item *item = &ring->item[i];

		memcpy(kept[slots], ring->buffer[item->slot], (size_t)item->slots * KTRX_SLOT_SIZE);
		item->slot = slots;
		slots += item->slots;
	}
	memcpy(ring->buffer, kept, (size_t)slots * KTRX_SLOT_SIZE);
}

/*
 * Computes how many items can be returned now. The last items are held back, because a slot that is read
 * later may have an earlier timestamp.
 */
static void hold_back(struct ktread_v2_ring *ring)
{
	uint32_t slots = 0;

	ring->ready = ring->items;
	if (ring->index == ring->stop)
		return;
	while (ring->ready > 0 && ring->items - ring->ready < ring->reorder &&
	       slots + ring->item[ring->ready - 1].slots <= KTREAD_CARRY(ring->reorder))
		slots += ring->item[--ring->ready].slots;
}

static int fill_once(struct ktread_v2_ring *ring)
{
	uint64_t left, overtaken = 0;
	uint32_t count;
	int status;

	carry_over(ring);
	skip_nothing(ring);
	left = ring->stop - ring->index;
	count = left < ring->window ? (uint32_t)left : ring->window;
	status = ktread_slots_read(ring->place, ring->index, ring->buffer + KTREAD_CARRY(ring->reorder),
				   count);
	if (status == 0)
		status = count_overtaken(ring, &overtaken);
	if (status < 0)
		return status;
	parse_window(ring, count, overtaken);
	hold_back(ring);
	return 0;
}

/*
 * Counts the records that came too late: their timestamps are out of order although the window has sorted the
 * items.
 */
static void count_disorder(struct ktread_v2_ring *ring)
{
	uint64_t last = ring->last_stamp;

	for (uint32_t i = 0; i < ring->ready; i++) {
		ring->disordered += ring->item[i].stamp < last;
		last = ring->item[i].stamp;
	}
	ring->last_stamp = last;
}

int ktread_v2_ring_fill(struct ktread_v2_ring *ring)
{
	do {
		int status;

		if (ring->index == ring->stop && ring->items == ring->ready)
			return 0;
		status = fill_once(ring);
		if (status < 0)
			return status;
	} while (ring->ready == 0);
	count_disorder(ring);
	return 1;
}

void ktread_v2_ring_gather(struct ktread_v2_ring *ring, const struct ktread_v2_item *item)
{
	const unsigned char *first = (const unsigned char *)ring->buffer[item->slot];

	memcpy(ring->gathered, first + KTRX_FIRST_OFFSET, KTRX_FIRST_PAYLOAD);
	for (uint32_t n = 1; n < item->slots; n++)
		memcpy(ring->gathered + KTRX_FIRST_PAYLOAD + (n - 1) * KTRX_MORE_PAYLOAD,
		       first + n * KTRX_SLOT_SIZE + KTRX_MORE_OFFSET, KTRX_MORE_PAYLOAD);
}

/* ---- Finds a time window in a ring ---- */

/*
 * Returns the reference for the slots from `index` on: the whole timestamp from which their timestamps are
 * counted.
 */
static uint64_t reference_at(const struct ktread_v2_ring *ring, uint64_t index)
{
	uint32_t low = 0, high = ring->anchors;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (ring->anchor[middle].index <= index)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? ring->anchor[low - 1].stamp : ring->start.reference;
}

static int read_stamps(void *context, uint64_t at, uint64_t *stamp, uint32_t count)
{
	const struct ktread_v2_ring *ring = context;
	const struct ktread_slot_form *form = &ring->place->form;
	uint64_t slot[KTREAD_SEEK_CHUNK + KTRX_RECORD_MAX_SLOTS][4], index = ring->begin + at;
	uint64_t left = ring->head - index, most = count + KTRX_RECORD_MAX_SLOTS - 1;
	uint64_t got = left < most ? left : most;
	int status = ktread_slots_read(ring->place, index, slot, got);

	if (status < 0)
		return status;
	for (uint32_t n = 0; n < count; n++) {
		stamp[n] = KTREAD_SEEK_NONE;
		if (ktread_slot_is_first(form, slot[n], index + n) &&
		    KTRX_W0_EVENT(slot[n][0]) != KTRX_EVENT_ANCHOR &&
		    ktread_slot_record(form, slot + n, index + n, got - n) != 0)
			stamp[n] =
				ktread_stamp_extend(reference_at(ring, index + n), KTRX_W0_STAMP(slot[n][0]));
	}
	return 0;
}

static bool find_part(void *context, uint64_t since, uint64_t until, uint64_t *from, uint64_t *to)
{
	const struct ktread_v2_ring *ring = context;
	const struct ktread_region *slots = &ring->place->slots;
	const uint64_t oldest = ring->begin & (ktread_ring_slots(ring->place) - 1),
		       window[2] = { since, until };
	const uint64_t produced = ring->head - ring->begin;

	if (slots->pieces != 1 || !ktread_stream_find(slots->memory, slots->piece[0].physical, slots->length,
						      oldest * KTRX_SLOT_SIZE, window, from, to))
		return false;
	*from = *from / KTRX_SLOT_SIZE < produced ? *from / KTRX_SLOT_SIZE : produced;
	*to = *to / KTRX_SLOT_SIZE < produced ? *to / KTRX_SLOT_SIZE : produced;
	return true;
}

/* Returns the lowest recorded timestamp whose corrected value is `stamp` or later. */
static uint64_t recorded(const struct ktread_v2_ring *ring, uint64_t stamp)
{
	uint64_t low = 0, high = UINT64_MAX;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (ktread_corrected(ring->trace, ring->place->row.cpu, middle) < stamp)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Returns 1 if the whole timestamp of any record can be computed without reading all slots before it. This
 * requires that all anchors are known, and that the clocks of all CPUs in the ring are corrected in the same
 * way. Otherwise returns 0 or an error.
 */
static int can_seek(struct ktread_v2_ring *ring)
{
	const struct ktread_layout *layout = ring->layout;

	if (ring->start.broken || ring->start.missing_index != UINT64_MAX ||
	    (layout->root.flags & KTRX_FLAG_KEPT) ||
	    (ring->place->row.kind == KTRX_RING_SHARED && ring->trace->info.clock != KTREAD_CLOCK_RAW))
		return 0;
	if (ring->anchor)
		return 1;
	return ktread_stamp_list_anchors(layout, ring->ring, ring->begin, ring->head, &ring->anchor,
					 &ring->anchors);
}

int ktread_v2_ring_seek(struct ktread_v2_ring *ring, uint64_t since, uint64_t until, uint64_t spacing)
{
	int status = can_seek(ring);

	if (status <= 0)
		return status;
	if (ring->trace->info.clock != KTREAD_CLOCK_RAW) {
		since = recorded(ring, since);
		until = until == UINT64_MAX ? until : recorded(ring, until + 1);
		until -= until > 0 && until < UINT64_MAX;
	}
	ring->seek.slots = ring->head - ring->begin;
	ring->seek.spacing = spacing;
	ring->seek.stamps = read_stamps;
	ring->seek.part = find_part;
	ring->seek.context = ring;
	status = ktread_seek_run(&ring->seek, since, until);
	if (status <= 0)
		return status;
	ring->index = ring->begin + ring->seek.first;
	ring->stop = ring->begin + ring->seek.end;
	ring->reference = reference_at(ring, ring->index);
	return 0;
}
