/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Walking the anchors of a ring. */
#include "stamps.h"
#include "v2_ring.h"

#define SEARCH_SLOTS 256u

static bool is_anchor(const struct ktread_ring_place *place, const uint64_t *slot, uint64_t index)
{
	return ktread_slot_is_first(&place->form, slot, index) &&
	       KTRX_TAG_KIND(slot[0]) == KTRX_KIND_SINGLE && KTRX_W0_EVENT(slot[0]) == KTRX_EVENT_ANCHOR &&
	       ktread_anchor_agrees(slot);
}

static int read_slot(const struct ktread_ring_place *place, uint64_t index, uint64_t *slot)
{
	uint64_t position = index & (ktread_ring_slots(place) - 1);

	return ktread_region_read(&place->slots, position * KTRX_SLOT_SIZE, slot, KTRX_SLOT_SIZE);
}

/* What the slots in front of an anchor are counted from. */
static uint64_t before(const struct ktrx_anchor *anchor)
{
	return anchor->previous ? anchor->previous : anchor->stamp;
}

/* Looks for the oldest anchor from `begin` on. `found` tells whether there is one. */
static int search(const struct ktread_ring_place *place, uint64_t begin, uint64_t head, uint64_t *reference,
		  bool *found)
{
	uint64_t slot[SEARCH_SLOTS][4], slots = ktread_ring_slots(place);

	*found = false;
	for (uint64_t index = begin; index < head;) {
		uint64_t position = index & (slots - 1), count = head - index;
		uint64_t data = ktread_region_next(&place->slots, position * KTRX_SLOT_SIZE) / KTRX_SLOT_SIZE;
		int status;

		if (data > position) {
			index += (data < slots ? data : slots) - position;
			continue;
		}
		count = count < slots - position ? count : slots - position;
		count = count < SEARCH_SLOTS ? count : SEARCH_SLOTS;
		status = ktread_region_read(&place->slots, position * KTRX_SLOT_SIZE, slot,
					    count * KTRX_SLOT_SIZE);
		if (status < 0)
			return status;
		for (uint64_t n = 0; n < count; n++, index++)
			if (is_anchor(place, slot[n], index)) {
				struct ktrx_anchor anchor = ktread_anchor_of(slot[n]);

				*reference = before(&anchor);
				*found = true;
				return 0;
			}
	}
	return 0;
}

/*
 * Follows the chain from `index` on. Returns 1 when it leads out of the window or to the first anchor of all,
 * 0 when an anchor is missing.
 */
static int walk_back(const struct ktread_ring_place *place, uint64_t index, uint64_t begin, uint64_t head,
		     struct ktread_stamp_start *start)
{
	while (index >= begin && index < head) {
		uint64_t slot[4];
		struct ktrx_anchor anchor;
		int status = read_slot(place, index, slot);

		if (status < 0)
			return status;
		start->missing_index = index;
		if (!is_anchor(place, slot, index))
			return 0;
		anchor = ktread_anchor_of(slot);
		start->reference = start->missing_stamp = before(&anchor);
		start->missing_index = UINT64_MAX;
		if (anchor.distance == 0 || anchor.distance > index - begin)
			return 1;
		index -= anchor.distance;
	}
	return 0;
}

int ktread_stamp_find_start(const struct ktread_layout *layout, uint32_t ring, uint64_t begin, uint64_t head,
			    struct ktread_stamp_start *start)
{
	const struct ktread_ring_place *place = &layout->ring[ring];
	uint64_t newest = place->row.anchor_stamp;
	bool found;
	int status;

	*start = (struct ktread_stamp_start){ newest, UINT64_MAX, newest, false };
	if (place->row.anchor_index < begin) {
		/* The row of a boot that was kept may be older than the newest anchor. */
		return layout->root.flags & KTRX_FLAG_KEPT
			       ? search(place, begin, head, &start->reference, &found)
			       : 0;
	}
	status = walk_back(place, place->row.anchor_index, begin, head, start);
	if (status != 0)
		return status < 0 ? status : 0;
	status = search(place, begin, head, &start->reference, &found);
	start->broken = start->missing_index != UINT64_MAX;
	return status;
}
