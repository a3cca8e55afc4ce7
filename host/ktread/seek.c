/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Finds the slots of a time window in a ring. */
#include "versions.h"

#define SAMPLES 64u /* maximum number of samples of a ring, and of each part of it that is searched */
#define SAMPLE	16u /* number of slots that are examined for one sample */
#define SMALL	32u /* a ring of at most this many distances between samples is read whole */

static uint64_t least_spacing(const struct ktread_seek *seek)
{
	return seek->spacing ? seek->spacing : KTREAD_SEEK_SPACING;
}

/*
 * Returns the margin: the number of slots that are also read before the first and after the last record of
 * the window. With these slots, the reader can put nested records in order, and knows which slots were lost
 * directly before or after the time window.
 */
static uint64_t margin_of(const struct ktread_seek *seek)
{
	return least_spacing(seek) / 2;
}

/* The part of the ring that is examined slot by slot. */
struct part {
	uint64_t from, to;
};

/*
 * Finds the first record in slots [from, to). Sets *found to its slot, or to `to` if there is no record. Sets
 * *timestamp to its timestamp. Returns 0 or an error.
 */
static int first_record(const struct ktread_seek *seek, uint64_t from, uint64_t to, uint64_t *found,
			uint64_t *stamp)
{
	uint64_t chunk[KTREAD_SEEK_CHUNK];

	for (*found = from; *found < to;) {
		uint64_t left = to - *found;
		uint32_t count = left < SAMPLE ? (uint32_t)left : SAMPLE;
		int status = seek->stamps(seek->context, *found, chunk, count);

		if (status < 0)
			return status;
		for (uint32_t n = 0; n < count; n++, ++*found)
			if (chunk[n] != KTREAD_SEEK_NONE) {
				*stamp = chunk[n];
				return 0;
			}
	}
	return 0;
}

/*
 * Reads samples of the part at this distance, and narrows the part to the slots between which the time window
 * must be. Returns 1, 0 if the samples are not in order, or an error.
 */
static int narrow(const struct ktread_seek *seek, uint64_t spacing, struct part *part)
{
	const uint64_t disorder = KTREAD_SEEK_DISORDER * spacing;
	uint64_t before = 0, last_early = part->from, first_late = part->to;

	for (uint64_t at = part->from; at < part->to; at += spacing) {
		uint64_t left = part->to - at, end = at + (left < SAMPLE ? left : SAMPLE), found, stamp;
		int status = first_record(seek, at, end, &found, &stamp);

		if (status < 0)
			return status;
		if (found == end)
			continue;
		if (stamp < before)
			return 0;
		before = stamp;
		if (stamp < seek->since)
			last_early = found;
		if (stamp > seek->until && first_late == part->to)
			first_late = found;
	}
	if (last_early - part->from > disorder)
		part->from = last_early - disorder;
	if (part->to - first_late > disorder)
		part->to = first_late + disorder;
	return 1;
}

/*
 * Sets *part to the slots between which the time window must be. Reads samples of the whole ring. Then reads
 * samples of the part that was found, at smaller and smaller distances, as long as this halves the part and
 * the samples are in order. Returns 1, 0 if the samples of the whole ring are not in order, or an error.
 */
static int find_part(const struct ktread_seek *seek, struct part *part)
{
	const uint64_t least = least_spacing(seek);
	struct part found = { 0, seek->slots };
	uint64_t slots;
	int status;

	*part = found;
	do {
		slots = part->to - part->from;
		status = narrow(seek, slots / SAMPLES > least ? slots / SAMPLES : least, &found);
		if (status < 0 || (status == 0 && slots == seek->slots))
			return status;
		if (status > 0)
			*part = found;
	} while (part->to - part->from <= slots / 2 && part->to - part->from > SMALL * least);
	return 1;
}

/*
 * Finds the first record from `from` on whose timestamp is not before `stamp`. Sets *found to the slot of
 * this record, or to `to` if there is no such record.
 */
static int scan_up(const struct ktread_seek *seek, uint64_t from, uint64_t to, uint64_t stamp,
		   uint64_t *found)
{
	uint64_t chunk[KTREAD_SEEK_CHUNK];

	for (uint64_t at = from; at < to; at += KTREAD_SEEK_CHUNK) {
		uint32_t count = to - at < KTREAD_SEEK_CHUNK ? (uint32_t)(to - at) : KTREAD_SEEK_CHUNK;
		int status = seek->stamps(seek->context, at, chunk, count);

		if (status < 0)
			return status;
		for (uint32_t n = 0; n < count; n++)
			if (chunk[n] >= stamp && chunk[n] != KTREAD_SEEK_NONE) {
				*found = at + n;
				return 0;
			}
	}
	*found = to;
	return 0;
}

/*
 * Finds the last record in [from, to) whose timestamp is not after `stamp`. Sets *end to the slot after this
 * record, or to `from` if there is no such record.
 */
static int scan_down(const struct ktread_seek *seek, uint64_t from, uint64_t to, uint64_t stamp,
		     uint64_t *end)
{
	uint64_t chunk[KTREAD_SEEK_CHUNK];

	while (to > from) {
		uint32_t count = to - from < KTREAD_SEEK_CHUNK ? (uint32_t)(to - from) : KTREAD_SEEK_CHUNK;
		int status = seek->stamps(seek->context, to - count, chunk, count);

		if (status < 0)
			return status;
		for (uint32_t n = count; n > 0; n--)
			if (chunk[n - 1] <= stamp && chunk[n - 1] != KTREAD_SEEK_NONE) {
				*end = to - count + n;
				return 0;
			}
		to -= count;
	}
	*end = from;
	return 0;
}

/*
 * Moves `first` back by the margin, or further, to a record that is before the time window. If there is no
 * such record, moves `first` to the first slot.
 */
static int add_margin_before(struct ktread_seek *seek)
{
	const uint64_t window = seek->first;

	for (uint64_t margin = margin_of(seek); margin < window; margin *= 2) {
		uint64_t found, stamp;
		int status = first_record(seek, window - margin, window - margin + SAMPLE, &found, &stamp);

		if (status < 0)
			return status;
		if (found < window - margin + SAMPLE && stamp < seek->since) {
			seek->first = found;
			return 0;
		}
	}
	seek->first = 0;
	return 0;
}

/*
 * Moves `end` by the margin past the first record that is later than the time window, but at most to the
 * ring's end.
 */
static int add_margin_after(struct ktread_seek *seek)
{
	const uint64_t margin = margin_of(seek);
	uint64_t later = seek->slots;
	int status = 0;

	if (seek->until < UINT64_MAX)
		status = scan_up(seek, seek->end, seek->slots, seek->until + 1, &later);
	seek->end = seek->slots - later > margin ? later + margin : seek->slots;
	return status;
}

static int search(struct ktread_seek *seek)
{
	struct part part;
	int status = seek->part && seek->part(seek->context, seek->since, seek->until, &part.from, &part.to);

	if (status == 0 && seek->slots <= SMALL * least_spacing(seek))
		return 0;
	if (status == 0)
		status = find_part(seek, &part);
	if (status <= 0)
		return status;
	status = scan_up(seek, part.from, part.to, seek->since, &seek->first);
	if (status == 0)
		status = scan_down(seek, seek->first, part.to, seek->until, &seek->end);
	if (status == 0)
		status = add_margin_before(seek);
	if (status == 0)
		status = add_margin_after(seek);
	return status < 0 ? status : 1;
}

int ktread_seek_run(struct ktread_seek *seek, uint64_t since, uint64_t until)
{
	int status;

	if (seek->searched && seek->since == since && seek->until == until)
		return seek->found;
	seek->since = since;
	seek->until = until;
	status = search(seek);
	seek->searched = status >= 0;
	seek->found = status > 0;
	return status;
}
