/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "analyze/histogram.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/grow.h"
#include "ktread/ktread.h"
#include "ktrx/slot.h"
#include "ktrx/v2.h"

/*
 * Octave 0 has one bucket for each value below HISTOGRAM_STEPS. Octave n > 0 begins at the value
 * HISTOGRAM_STEPS << (n - 1), and each of its buckets contains 1 << (n - 1) values.
 */
static unsigned octave_of(uint64_t value)
{
	return value < HISTOGRAM_STEPS ? 0 : 64u - HISTOGRAM_STEP_BITS - (unsigned)__builtin_clzll(value);
}

static unsigned step_of(uint64_t value, unsigned octave)
{
	return (unsigned)(octave ? value >> (octave - 1) : value) % HISTOGRAM_STEPS;
}

static uint64_t least_of(unsigned octave, unsigned step)
{
	return octave ? (uint64_t)(HISTOGRAM_STEPS + step) << (octave - 1) : step;
}

static uint64_t greatest_of(unsigned octave, unsigned step)
{
	return least_of(octave, step) + ((UINT64_C(1) << (octave ? octave - 1 : 0)) - 1);
}

static int count_value(struct histogram *histogram, uint64_t value)
{
	unsigned octave = octave_of(value);
	uint64_t **steps = &histogram->octave[octave];

	if (!*steps)
		*steps = calloc(HISTOGRAM_STEPS, sizeof(**steps));
	if (!*steps)
		return KTREAD_E_MEMORY;
	(*steps)[step_of(value, octave)]++;
	return 0;
}

/* Moves the individual values into buckets. */
static int start_counting(struct histogram *histogram)
{
	int error = 0;

	for (uint64_t n = 0; n < histogram->count && !error; n++)
		error = count_value(histogram, histogram->value[n]);
	free(histogram->value);
	histogram->value = NULL;
	histogram->counted = true;
	return error;
}

static int keep_value(struct histogram *histogram, uint64_t value)
{
	uint64_t *larger =
		base_grow(histogram->value, &histogram->room, (size_t)histogram->count + 1, sizeof(*larger));

	if (!larger)
		return KTREAD_E_MEMORY;
	histogram->value = larger;
	histogram->value[histogram->count] = value;
	histogram->sorted = false;
	return 0;
}

int histogram_add(struct histogram *histogram, uint64_t value)
{
	int error = 0;

	if (histogram->count == HISTOGRAM_EXACT && !histogram->counted)
		error = start_counting(histogram);
	if (!error)
		error = histogram->counted ? count_value(histogram, value) : keep_value(histogram, value);
	if (error)
		return error;
	if (histogram->count == 0 || value < histogram->least)
		histogram->least = value;
	if (value > histogram->greatest)
		histogram->greatest = value;
	histogram->sum += (double)value;
	histogram->count++;
	return 0;
}

void histogram_free(struct histogram *histogram)
{
	free(histogram->value);
	for (unsigned n = 0; n <= HISTOGRAM_OCTAVES; n++)
		free(histogram->octave[n]);
}

static int by_value(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

static void sort(struct histogram *histogram)
{
	if (!histogram->sorted && histogram->count)
		qsort(histogram->value, histogram->count, sizeof(*histogram->value), by_value);
	histogram->sorted = true;
}

static uint64_t rank_of_bucket(const struct histogram *histogram, uint64_t rank)
{
	for (unsigned octave = 0; octave <= HISTOGRAM_OCTAVES; octave++)
		for (unsigned step = 0; histogram->octave[octave] && step < HISTOGRAM_STEPS; step++) {
			uint64_t count = histogram->octave[octave][step], value = greatest_of(octave, step);

			if (count >= rank)
				return value < histogram->greatest ? value : histogram->greatest;
			rank -= count;
		}
	return histogram->greatest;
}

uint64_t histogram_nth(struct histogram *histogram, uint64_t rank)
{
	if (histogram->counted)
		return rank_of_bucket(histogram, rank);
	sort(histogram);
	return histogram->value[rank - 1];
}

uint64_t histogram_below(struct histogram *histogram, uint64_t limit)
{
	uint64_t below = 0;

	if (!histogram->counted) {
		sort(histogram);
		while (below < histogram->count && histogram->value[below] < limit)
			below++;
		return below;
	}
	for (unsigned octave = 0; octave <= HISTOGRAM_OCTAVES; octave++)
		for (unsigned step = 0; histogram->octave[octave] && step < HISTOGRAM_STEPS; step++)
			if (least_of(octave, step) < limit)
				below += histogram->octave[octave][step];
	return below;
}

/* ---- The values of a field ---- */

static bool is_negative(const struct ktread_value *value)
{
	switch (value->type) {
	case KTRX_TYPE_I8:
	case KTRX_TYPE_I16:
	case KTRX_TYPE_I32:
	case KTRX_TYPE_I64:
		return (int64_t)value->number < 0;
	default:
		return false;
	}
}

static int take(struct values *values, const struct ktread_event *event, const char *field)
{
	struct ktread_value value;

	if (ktread_value_named(event, field, &value) < 0 || value.type == KTRX_TYPE_STRING) {
		values->missing++;
		return 0;
	}
	if (is_negative(&value))
		return histogram_add(&values->negative, 0 - value.number);
	return histogram_add(&values->positive, value.number);
}

int values_read(struct values *values, struct ktread *trace, const uint8_t *events, const char *field)
{
	const struct ktread_event *event;
	int status, error = 0;

	while ((status = ktread_next(trace, &event)) > 0 && !error)
		if (events[(event->id & KTRX_EVENT_MAX) / 8] >> event->id % 8 & 1)
			error = take(values, event, field);
	return error ? error : status;
}

void values_free(struct values *values)
{
	histogram_free(&values->positive);
	histogram_free(&values->negative);
}
