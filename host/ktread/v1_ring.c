/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Reads one ring of version 1. */
#include <stdlib.h>

#include "message.h"
#include "stream.h"
#include "versions.h"

#define PROBES 64u

static uint64_t slot_position(const struct ktread_v1_ring *ring, uint64_t slot)
{
	return ring->position + slot * sizeof(struct ktrx1_record);
}

/* Facts about all records of a ring, read in the order of their addresses. */
struct survey {
	uint64_t descents; /* number of records with a lower timestamp than the previous record */
	/* slot of the last record with a lower timestamp than the previous record */
	uint64_t descent;
	uint64_t first, last;
	bool any;
};

static void survey_records(struct survey *survey, const struct ktrx1_record *record, uint32_t count,
			   uint64_t slot)
{
	for (uint32_t i = 0; i < count; i++) {
		uint64_t stamp = record[i].stamp;

		if (stamp == 0)
			continue;
		if (!survey->any) {
			survey->first = stamp;
			survey->any = true;
		} else if (stamp < survey->last) {
			survey->descents++;
			survey->descent = slot + i;
		}
		survey->last = stamp;
	}
}

static int survey_all(struct ktread_v1_ring *ring)
{
	struct survey survey = { 0 };
	uint64_t slot = 0;

	while (slot < ring->slots) {
		uint64_t data = ktread_memory_next_data(ring->memory, slot_position(ring, slot));
		uint64_t left;
		uint32_t count;
		int status;

		if (data > slot_position(ring, slot))
			slot += (data - slot_position(ring, slot)) / sizeof(*ring->window);
		if (slot >= ring->slots)
			break;
		left = ring->slots - slot;
		count = left < ring->window_slots ? (uint32_t)left : ring->window_slots;
		status = ktread_memory_read(ring->memory, slot_position(ring, slot), ring->window,
					    count * sizeof(*ring->window));
		if (status < 0)
			return status;
		survey_records(&survey, ring->window, count, slot);
		slot += count;
	}
	ring->start = survey.descents == 1 ? survey.descent : 0;
	ring->unsorted = survey.descents > 1 || (survey.descents == 1 && survey.last > survey.first);
	return 0;
}

/*
 * Examines at most 8 slots from `slot` on. Sets *timestamp to the timestamp of the first of these records
 * that is not empty, or to 0 if all are empty.
 */
static int probe(const struct ktread_v1_ring *ring, uint64_t slot, uint64_t *stamp)
{
	struct ktrx1_record record[8];
	uint64_t left = ring->slots - slot;
	uint32_t count = left < 8 ? (uint32_t)left : 8;
	int status = ktread_memory_read(ring->memory, slot_position(ring, slot), record,
					count * sizeof(record[0]));

	*stamp = 0;
	for (uint32_t i = 0; status == 0 && i < count && *stamp == 0; i++)
		*stamp = record[i].stamp;
	return status;
}

/*
 * Finds the slot at which the timestamps of a full ring begin. `first` is the timestamp of the first record
 * in memory. All timestamps before this slot are >= `first`; all timestamps from this slot on are lower.
 */
static int find_start(struct ktread_v1_ring *ring, uint64_t first)
{
	uint64_t low = 0, high = ring->slots - 1;

	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2, stamp;
		int status = probe(ring, middle, &stamp);

		if (status < 0)
			return status;
		if (stamp >= first)
			low = middle;
		else
			high = middle;
	}
	ring->start = high;
	return 0;
}

static int survey_probes(struct ktread_v1_ring *ring)
{
	uint64_t first, last, before = 0;
	int status = probe(ring, 0, &first);

	if (status == 0)
		status = probe(ring, ring->slots - 1, &last);
	if (status < 0)
		return status;
	ring->start = 0;
	ring->unsorted = false;
	if (last != 0 && first > last && (status = find_start(ring, first)) < 0)
		return status;
	for (uint32_t i = 0; i < PROBES; i++) {
		uint64_t stamp;

		status = probe(ring, (ring->start + ring->slots / PROBES * i) % ring->slots, &stamp);
		if (status < 0)
			return status;
		if (stamp != 0 && stamp < before)
			ring->unsorted = true;
		before = stamp ? stamp : before;
	}
	return 0;
}

int ktread_v1_ring_survey(struct ktread_v1_ring *ring, bool thorough)
{
	uint64_t oldest;

	if (ring->slots == 0)
		return 0;
	if (!thorough &&
	    ktread_stream_oldest(ring->memory, ring->position, ring->slots * KTRX1_RECORD_SIZE, &oldest)) {
		ring->start = oldest / KTRX1_RECORD_SIZE;
		ring->unsorted = false;
		return 0;
	}
	return thorough || ring->slots < PROBES ? survey_all(ring) : survey_probes(ring);
}

/*
 * Removes the empty slots from the window. Sets place[] to the places of the remaining records; `first` is
 * the place of the first slot. Returns the number of these records.
 */
static uint32_t compact(struct ktrx1_record *record, uint32_t count, uint64_t *place, uint64_t first)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < count; i++)
		if (record[i].stamp != 0) {
			place[kept] = first + i;
			record[kept++] = record[i];
		}
	return kept;
}

static bool has_empty_slot(const struct ktrx1_record *record, uint32_t count)
{
	bool empty = false;

	for (uint32_t i = 0; i < count; i++)
		empty |= record[i].stamp == 0;
	return empty;
}

void ktread_v1_ring_forget(struct ktread_v1_ring *ring)
{
	free(ring->sorted);
	free(ring->place);
	ring->sorted = NULL;
	ring->place = NULL;
}

/* Steps over the slots in a hole of the file, all of which are empty. */
static void skip_hole(struct ktread_v1_ring *ring)
{
	uint64_t slot = (ring->start + ring->taken) % ring->slots;
	uint64_t here = slot_position(ring, slot);
	uint64_t data = ktread_memory_next_data(ring->memory, here);
	uint64_t hole = data > here ? (data - here) / sizeof(*ring->window) : 0;

	if (hole > ring->slots - slot)
		hole = ring->slots - slot;
	if (hole > ring->end - ring->taken)
		hole = ring->end - ring->taken;
	ring->taken += hole;
}

/*
 * Reads the next slots, at most `limit`. Stops at the end of the ring's memory, and before the slot at which
 * reading began.
 */
static int read_slots(struct ktread_v1_ring *ring, struct ktrx1_record *to, uint64_t limit, uint64_t *count)
{
	uint64_t slot = (ring->start + ring->taken) % ring->slots;
	uint64_t left = ring->end - ring->taken;

	*count = limit < left ? limit : left;
	if (*count > ring->slots - slot)
		*count = ring->slots - slot;
	ring->taken += *count;
	return ktread_memory_read(ring->memory, slot_position(ring, slot), to, *count * sizeof(*to));
}

int ktread_v1_ring_read(struct ktread_v1_ring *ring)
{
	free(ring->place);
	ring->place = NULL;
	while (ring->taken < ring->end) {
		uint64_t count;
		uint32_t kept;
		int status;

		ring->origin = ring->taken;
		status = read_slots(ring, ring->window, ring->window_slots, &count);
		if (status < 0)
			return status;
		if (!has_empty_slot(ring->window, (uint32_t)count)) {
			free(ring->place); /* it describes an earlier window, which had only empty slots */
			ring->place = NULL;
			return (int)count;
		}
		if (!ring->place && !(ring->place = malloc(ring->window_slots * sizeof(*ring->place))))
			return ktread_fail_memory();
		kept = compact(ring->window, (uint32_t)count, ring->place, ring->origin);
		if (kept)
			return (int)kept;
		if (ring->taken < ring->end)
			skip_hole(ring);
	}
	return 0;
}

/* ---- Sorting ---- */

/* An array of records, and their places. */
struct records {
	struct ktrx1_record *record;
	uint64_t *place;
};

static struct records records_from(struct records records, uint64_t n)
{
	return (struct records){ records.record + n, records.place + n };
}

/* Allocates both arrays. Returns 0 or an error. The caller must free the records even after an error. */
static int records_create(struct records *records, uint64_t count)
{
	records->record = malloc((count ? count : 1) * sizeof(*records->record));
	records->place = malloc((count ? count : 1) * sizeof(*records->place));
	return records->record && records->place ? 0 : ktread_fail_memory();
}

static void records_free(struct records *records)
{
	free(records->record);
	free(records->place);
}

/*
 * Merges two sorted parts. The second part begins right after the first part. Records with equal timestamps
 * keep their order: the records of the first part come first.
 */
static void merge_halves(struct records from, struct records to, uint64_t half, uint64_t end)
{
	uint64_t left = 0, right = half;

	for (uint64_t i = 0; i < end; i++) {
		bool take_left =
			left < half && (right >= end || from.record[left].stamp <= from.record[right].stamp);
		uint64_t taken = take_left ? left++ : right++;

		to.record[i] = from.record[taken];
		to.place[i] = from.place[taken];
	}
}

/* Sorts the records. May replace the arrays in *records by others. Returns 0 or an error. */
static int sort_records(struct records *records, uint64_t count)
{
	struct records from = *records, to;
	int status = records_create(&to, count);

	for (uint64_t width = 1; width < count && status == 0; width *= 2) {
		for (uint64_t i = 0; i < count; i += 2 * width) {
			uint64_t left = count - i;

			merge_halves(records_from(from, i), records_from(to, i), width < left ? width : left,
				     2 * width < left ? 2 * width : left);
		}
		struct records swap = from;

		from = to;
		to = swap;
	}
	*records = from;
	records_free(&to);
	return status;
}

/* Reads all slots that were not read yet, and adds their records. Returns 0 or an error. */
static int read_rest(struct ktread_v1_ring *ring, struct records all, uint64_t *filled)
{
	while (ring->taken < ring->end) {
		const struct records to = records_from(all, *filled);
		const uint64_t first = ring->taken;
		uint64_t count;
		int status = read_slots(ring, to.record, ring->window_slots, &count);

		if (status < 0)
			return status;
		*filled += compact(to.record, (uint32_t)count, to.place, first);
		if (ring->taken < ring->end)
			skip_hole(ring);
	}
	return 0;
}

int64_t ktread_v1_ring_sort(struct ktread_v1_ring *ring, uint32_t held)
{
	uint64_t filled = held;
	struct records all;
	int status = records_create(&all, held + (ring->end - ring->taken));

	for (uint32_t n = 0; n < held && status == 0; n++) {
		all.record[n] = ring->window[n];
		all.place[n] = ktread_v1_ring_place(ring, n);
	}
	if (status == 0)
		status = read_rest(ring, all, &filled);
	if (status == 0)
		status = sort_records(&all, filled);
	if (status < 0) {
		records_free(&all);
		return status;
	}
	ktread_v1_ring_forget(ring);
	ring->sorted = all.record;
	ring->place = all.place;
	return (int64_t)filled;
}

/* ---- Reading a time window ---- */

/* number of slots of a ring whose order is checked at a time, before they are read */
#define EXAMINED_SLOTS (UINT64_C(2) << 20)

static int read_stamps(void *context, uint64_t at, uint64_t *stamp, uint32_t count)
{
	const struct ktread_v1_ring *ring = context;
	struct ktrx1_record record[KTREAD_SEEK_CHUNK];
	uint64_t slot = (ring->start + at) % ring->slots;
	uint64_t straight = count < ring->slots - slot ? count : ring->slots - slot;
	int status = ktread_memory_read(ring->memory, slot_position(ring, slot), record,
					straight * sizeof(*record));

	if (status == 0 && straight < count)
		status = ktread_memory_read(ring->memory, ring->position, record + straight,
					    (count - straight) * sizeof(*record));
	for (uint32_t n = 0; n < count && status == 0; n++)
		stamp[n] = record[n].stamp ? record[n].stamp : KTREAD_SEEK_NONE;
	return status;
}

static bool find_part(void *context, uint64_t since, uint64_t until, uint64_t *from, uint64_t *to)
{
	const struct ktread_v1_ring *ring = context;
	const uint64_t window[2] = { since, until };

	if (!ktread_stream_find(ring->memory, ring->position, ring->slots * KTRX1_RECORD_SIZE,
				ring->start * KTRX1_RECORD_SIZE, window, from, to))
		return false;
	*from /= KTRX1_RECORD_SIZE;
	*to /= KTRX1_RECORD_SIZE;
	return true;
}

/*
 * Sets ring->sort_first if the records from ring->taken to ring->end are not in order. Returns 0 or an error.
 */
static int examine_order(struct ktread_v1_ring *ring)
{
	uint64_t stamp[KTREAD_SEEK_CHUNK], before = 0;

	if (ring->end - ring->taken > EXAMINED_SLOTS)
		return 0;
	for (uint64_t at = ring->taken; at < ring->end && !ring->sort_first; at += KTREAD_SEEK_CHUNK) {
		uint64_t left = ring->end - at;
		uint32_t count = left < KTREAD_SEEK_CHUNK ? (uint32_t)left : KTREAD_SEEK_CHUNK;
		int status = read_stamps(ring, at, stamp, count);

		if (status < 0)
			return status;
		for (uint32_t n = 0; n < count; n++) {
			if (stamp[n] == KTREAD_SEEK_NONE)
				continue;
			ring->sort_first |= stamp[n] < before;
			before = stamp[n];
		}
	}
	return 0;
}

/*
 * Rounds `taken` down to the value of ring->taken at which a window of slots begins when the whole ring is
 * read. So the same records are sorted together, whether the ring is read whole or in part.
 */
static uint64_t window_before(const struct ktread_v1_ring *ring, uint64_t taken)
{
	uint64_t straight = ring->slots - ring->start;

	if (taken < straight)
		return taken - taken % ring->window_slots;
	return taken - (taken - straight) % ring->window_slots;
}

int ktread_v1_ring_seek(struct ktread_v1_ring *ring, uint64_t since, uint64_t until, uint64_t spacing)
{
	int status;

	if (ring->unsorted || ring->slots == 0)
		return 0;
	ring->seek.slots = ring->slots;
	ring->seek.spacing = spacing;
	ring->seek.stamps = read_stamps;
	ring->seek.part = find_part;
	ring->seek.context = ring;
	status = ktread_seek_run(&ring->seek, since, until);
	if (status <= 0)
		return status;
	ring->taken = window_before(ring, ring->seek.first);
	ring->end = window_before(ring, ring->seek.end) + ring->window_slots;
	if (ring->end > ring->slots || ring->seek.end == ring->slots)
		ring->end = ring->slots;
	return examine_order(ring);
}
