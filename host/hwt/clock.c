/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "file.h"

#include <stdlib.h>

#include "base/grow.h"

int hwt_clock_add(struct hwt_clock *clock, const struct hwt_moment *moment)
{
	struct hwt_moment *grown = base_grow(clock->moment, &clock->room, clock->moments + 1, sizeof(*grown));

	if (!grown)
		return -1;
	clock->moment = grown;
	clock->moment[clock->moments++] = *moment;
	return 0;
}

static int compare(const void *left, const void *right)
{
	const struct hwt_moment *a = left, *b = right;

	return a->unit_time < b->unit_time ? -1 : a->unit_time > b->unit_time;
}

void hwt_clock_settle(struct hwt_clock *clock)
{
	if (clock->moments)
		qsort(clock->moment, clock->moments, sizeof(*clock->moment), compare);
}

/* The moment at or before a time; the first where there is none. */
static size_t find(const struct hwt_clock *clock, uint64_t unit_time)
{
	size_t low = 0, high = clock->moments;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (clock->moment[middle].unit_time <= unit_time)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/*
 * Packets have the lower bits of the unit's time: the upper ones are those that bring it nearest to what is
 * known.
 */
static uint64_t widen(const struct hwt_clock *clock, uint64_t unit_time)
{
	const uint64_t unit = clock->bits && clock->bits < 64 ? UINT64_C(1) << clock->bits : 0;
	const uint64_t known = clock->moment[0].unit_time;
	uint64_t wide;

	if (!unit)
		return unit_time;
	wide = (known & ~(unit - 1)) | (unit_time & (unit - 1));
	if (wide < known && known - wide > unit / 2 && wide <= UINT64_MAX - unit)
		return wide + unit;
	if (wide > known && wide - known > unit / 2 && wide >= unit)
		return wide - unit;
	return wide;
}

static int64_t scale(int64_t ticks, uint64_t by, uint64_t of)
{
	return of ? (int64_t)((__int128)ticks * (__int128)by / (__int128)of) : ticks;
}

uint64_t hwt_clock_stamp(const struct hwt_clock *clock, uint64_t unit_time)
{
	const struct hwt_moment *moment;
	uint64_t by = 0, of = 0;
	size_t at;

	if (!clock->moments)
		return unit_time;
	unit_time = widen(clock, unit_time);
	at = find(clock, unit_time);
	moment = &clock->moment[at];
	if (at + 1 < clock->moments && unit_time >= moment->unit_time &&
	    moment[1].unit_time > moment->unit_time && moment[1].stamp >= moment->stamp) {
		by = moment[1].stamp - moment->stamp;
		of = moment[1].unit_time - moment->unit_time;
	} else if (moment->unit_frequency && clock->frequency) {
		by = clock->frequency;
		of = moment->unit_frequency;
	}
	return moment->stamp + (uint64_t)scale((int64_t)(unit_time - moment->unit_time), by, of);
}

void hwt_clock_free(struct hwt_clock *clock)
{
	free(clock->moment);
	*clock = (struct hwt_clock){ 0 };
}
