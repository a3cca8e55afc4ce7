/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Finds the reference of a ring: the whole timestamp from which the timestamps in the ring's slots are
 * counted. To find it, follows the chain of the ring's anchors.
 */
#include "versions.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "message.h"

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

/* Returns the reference for timestamps in the slots before an anchor. */
static uint64_t reference_before(const struct ktrx_anchor *anchor)
{
	return anchor->previous ? anchor->previous : anchor->stamp;
}

/*
 * Searches for the oldest anchor from slot `begin` on. Sets *found to whether there is an anchor. If so, sets
 * *reference to the reference for the slots before this anchor. Returns 0 or an error.
 */
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

				*reference = reference_before(&anchor);
				*found = true;
				return 0;
			}
	}
	return 0;
}

/*
 * Follows the chain of anchors back from the anchor in slot `index`. Returns 1 if the chain reaches an anchor
 * that has no earlier anchor from slot `begin` on. Returns 0 if an anchor of the chain is missing. Otherwise
 * returns an error.
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
		start->reference = start->missing_stamp = reference_before(&anchor);
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
		/*
		 * in memory that survived a reset, the ring's descriptor may be older than the newest anchor,
		 * so search for an anchor
		 */
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

/* maximum number of anchors in a list; a ring with more anchors was written over a very long time */
#define ANCHORS_MAX 65536u

int ktread_stamp_list_anchors(const struct ktread_layout *layout, uint32_t ring, uint64_t begin,
			      uint64_t head, struct ktread_stamp_anchor **anchor, uint32_t *count)
{
	const struct ktread_ring_place *place = &layout->ring[ring];
	struct ktread_stamp_anchor *list = NULL;
	uint64_t index = place->row.anchor_index;
	uint32_t room = 0, found = 0;
	int status = 1;

	while (status > 0 && index >= begin && index < head) {
		struct ktread_stamp_anchor *grown = NULL;
		struct ktrx_anchor row;
		uint64_t slot[4];

		status = read_slot(place, index, slot);
		if (status < 0)
			break;
		status = found < ANCHORS_MAX && is_anchor(place, slot, index);
		if (status == 0)
			break;
		grown = base_grow(list, &room, (size_t)found + 1, sizeof(*list));
		if (!grown) {
			status = ktread_fail_memory();
			break;
		}
		list = grown;
		row = ktread_anchor_of(slot);
		list[found++] = (struct ktread_stamp_anchor){ index, row.stamp };
		if (row.distance == 0 || row.distance > index - begin)
			break;
		index -= row.distance;
	}
	if (status <= 0) {
		free(list);
		return status;
	}
	for (uint32_t low = 0; low < found / 2; low++) {
		struct ktread_stamp_anchor swap = list[low];

		list[low] = list[found - 1 - low];
		list[found - 1 - low] = swap;
	}
	*anchor = list;
	*count = found;
	return 1;
}

/*
 * Repetitions that the kernel was still counting when the trace was taken. They are in the kernel's table of
 * repetitions, whose rows are read one at a time. A row is skipped if its CPU was changing the row while the
 * row was read, or if the contents of the row are impossible.
 */

#define ROWS_MOST    (KTRX_MAX_RINGS * 64u)
#define STABLE_TRIES 10u

/* Reads a row once. Returns 1 if the row is consistent, 0 if its CPU was changing the row, or an error. */
static int read_once(const struct ktread_section *section, uint64_t at, struct ktrx_fold *fold)
{
	uint64_t after;
	int status = ktread_region_read(&section->region, at, fold, sizeof(*fold));

	if (status == 0)
		status = ktread_region_read(&section->region, at, &after, sizeof(after));
	if (status < 0)
		return status;
	return !(after & 1) && after == fold->sequence;
}

static uint64_t row_bytes(const struct ktread_section *section)
{
	return section->row.entry_size ? section->row.entry_size : sizeof(struct ktrx_fold);
}

/*
 * Reads row `n`, in several attempts if necessary. Returns 1 on success, 0 if there is no such row, or an
 * error. Sets *whole to false if the row's CPU was changing the row in each attempt.
 */
static int read_row(const struct ktread *trace, uint32_t n, struct ktrx_fold *fold, bool *whole)
{
	const struct ktread_section *section =
		trace->layout ? ktread_layout_section(trace->layout, KTRX_SECTION_FOLDS, 0) : NULL;
	int status = 0;

	if (!section || row_bytes(section) < sizeof(*fold) || n >= ROWS_MOST ||
	    n >= section->region.length / row_bytes(section))
		return 0;
	for (unsigned i = 0; i < STABLE_TRIES && status == 0; i++)
		status = read_once(section, n * row_bytes(section), fold);
	*whole = status > 0;
	return status < 0 ? status : 1;
}

/* Returns true if the row is empty, or if its contents are possible. */
static bool is_sound(const struct ktrx_fold *fold)
{
	return fold->event <= KTRX_EVENT_MAX && fold->bytes <= KTRX_RECORD_MAX_PAYLOAD &&
	       (fold->count == 0 || (int64_t)(fold->last - fold->first) >= 0);
}

/* Returns true if `id` is the id of a place in the source code that records `event`. */
static bool is_of(const struct ktread *trace, uint32_t id, uint32_t event)
{
	const struct ktread_place *place =
		id <= KTRX_EVENT_MAX ? ktread_types_place(&trace->types, id) : NULL;

	return place && place->event == event;
}

static void describe(struct ktread *trace, struct ktread_fold *fold)
{
	const struct ktrx_fold *row = &trace->fold;
	struct ktread_event *event = &fold->event;

	memset(event, 0, sizeof(*event));
	event->cpu = row->cpu;
	event->ring = row->ring;
	event->thread = KTRX_W1_THREAD(row->second);
	event->context = KTRX_W1_CONTEXT(row->second);
	event->payload = row->payload;
	event->payload_size = row->bytes;
	ktread_types_identify(&trace->types, event,
			      is_of(trace, row->place, row->event) ? row->place : row->event);
	if (KTRX_W1_EXTENDED(row->second) && row->bytes >= sizeof(struct ktrx_extension))
		ktread_v2_take_extension(event);
	fold->count = row->count;
	fold->first = ktread_corrected(trace, row->cpu, row->first);
	fold->last = ktread_corrected(trace, row->cpu, row->last);
	event->stamp = fold->last;
}

static bool is_wanted(const struct ktread *trace, const struct ktread_fold *fold)
{
	const struct ktread_selection *want = &trace->selection;
	struct ktread_event event = fold->event;

	if (fold->last > want->until && fold->first <= want->until)
		event.stamp = want->until;
	return ktread_wanted(want, &event);
}

int ktread_fold(struct ktread *trace, uint32_t *row, struct ktread_fold *fold)
{
	bool whole;
	int status;

	while ((status = read_row(trace, *row, &trace->fold, &whole)) > 0) {
		++*row;
		if (!whole || !is_sound(&trace->fold) || trace->fold.event == 0 || trace->fold.count == 0)
			continue;
		describe(trace, fold);
		if (is_wanted(trace, fold))
			return 1;
	}
	return status < 0 ? ktread_keep_message(trace, status) : 0;
}

int ktread_folds_check(struct ktread *trace)
{
	uint32_t damaged = 0, torn = 0, n = 0;
	bool whole;
	int status;

	while ((status = read_row(trace, n++, &trace->fold, &whole)) > 0) {
		torn += !whole;
		damaged += whole && !is_sound(&trace->fold);
	}
	if (damaged)
		ktread_warn(trace, "%s: %u damaged rows of the table of repetitions are skipped",
			    trace->memory->name, damaged);
	if (torn)
		ktread_warn(trace,
			    "%s: %u rows of the table of repetitions are skipped: they were being changed",
			    trace->memory->name, torn);
	return status;
}
