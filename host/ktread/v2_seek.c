/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Finds a time window in a ring of version 2. */
#include "message.h"
#include "stream.h"
#include "versions.h"

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
