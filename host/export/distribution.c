/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "export/views.h"

#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/ticks.h"

/* if the largest value is more than about CLOSE times the smallest value, bins for larger values are wider */
#define CLOSE	      20
#define LINEAR_BINS   20
#define UNIT_MAX      16u
#define NS_PER_SECOND 1000000000u
#define NUMBER_TEXT   44u
#define TEN_19	      UINT64_C(10000000000000000000)

struct distribution distribution_of_ticks(struct histogram *ticks, uint64_t frequency)
{
	return (struct distribution){ .values = ticks,
				      .frequency = frequency,
				      .unit = frequency ? "ns" : "ticks" };
}

static uint64_t negatives(const struct distribution *d)
{
	return d->negative ? d->negative->count : 0;
}

uint64_t distribution_count(const struct distribution *d)
{
	return d->values->count + negatives(d);
}

static distribution_number shown(const struct distribution *d, uint64_t value)
{
	return d->frequency ? base_ticks_nanoseconds_exact(value, d->frequency) : value;
}

distribution_number distribution_least(const struct distribution *d)
{
	return negatives(d) ? -(distribution_number)d->negative->greatest : shown(d, d->values->least);
}

distribution_number distribution_greatest(const struct distribution *d)
{
	return d->values->count ? shown(d, d->values->greatest) : -(distribution_number)d->negative->least;
}

distribution_number distribution_rank(const struct distribution *d, unsigned part, unsigned whole)
{
	uint64_t rank = histogram_rank(distribution_count(d), part, whole), below = negatives(d);

	if (rank <= below)
		return -(distribution_number)histogram_nth(d->negative, below - rank + 1);
	return shown(d, histogram_nth(d->values, rank - below));
}

double distribution_mean(const struct distribution *d)
{
	double sum = d->values->sum - (d->negative ? d->negative->sum : 0);

	return sum / (double)distribution_count(d) *
	       (d->frequency ? (double)NS_PER_SECOND / (double)d->frequency : 1);
}

bool distribution_is_exact(const struct distribution *d)
{
	return !d->values->counted && !(d->negative && d->negative->counted);
}

/* Returns the smallest value that is displayed as `edge` or a larger number. */
static uint64_t value_of(const struct distribution *d, distribution_number edge)
{
	unsigned __int128 ticks = (unsigned __int128)edge;

	if (d->frequency)
		ticks = (ticks * d->frequency + NS_PER_SECOND - 1) / NS_PER_SECOND;
	return ticks > UINT64_MAX ? UINT64_MAX : (uint64_t)ticks;
}

static uint64_t below(const struct distribution *d, distribution_number edge)
{
	if (edge > UINT64_MAX)
		return distribution_count(d);
	if (edge > 0)
		return negatives(d) + histogram_below(d->values, value_of(d, edge));
	return negatives(d) ? d->negative->count - histogram_below(d->negative, (uint64_t)-edge + 1) : 0;
}

/* Returns the smallest number in the series 1, 2, 5, 10, … that is at least `value`. */
static distribution_number round_up(distribution_number value)
{
	distribution_number round = 1;

	for (unsigned step = 0; round < value; step++)
		round = step % 3 == 1 ? round / 2 * 5 : round * 2;
	return round;
}

/*
 * Returns the next edge after `edge`. Edges are 0, the numbers 1, 2, 5, 10, …, and their negatives.
 */
static distribution_number next_edge(distribution_number edge)
{
	distribution_number nearer = 0;

	if (edge == 0)
		return 1;
	if (edge > 0)
		return round_up(edge + 1);
	for (distribution_number round = 1; round < -edge; round = round_up(round + 1))
		nearer = round;
	return -nearer;
}

static distribution_number first_edge(distribution_number least)
{
	distribution_number edge = 0;

	if (least < 0)
		return -round_up(-least);
	while (next_edge(edge) <= least)
		edge = next_edge(edge);
	return edge;
}

void distribution_bins(const struct distribution *d, struct distribution_bins *bins)
{
	distribution_number least = distribution_least(d), greatest = distribution_greatest(d);
	bool linear = least >= 0 && greatest / CLOSE <= least && greatest < UINT64_MAX / 2;
	distribution_number width = linear ? round_up((greatest - least) / LINEAR_BINS + 1) : 0;
	distribution_number from = linear ? least / width * width : first_edge(least);
	uint64_t before = 0;

	memset(bins, 0, sizeof(*bins));
	while (from <= greatest && bins->count < DISTRIBUTION_BINS) {
		distribution_number to = linear ? from + width : next_edge(from);
		uint64_t until = below(d, to);

		bins->bin[bins->count++] = (struct distribution_bin){ from, to, until - before };
		if (until - before > bins->most)
			bins->most = until - before;
		before = until;
		from = to;
	}
}

static char *time_text(distribution_number nanoseconds, char *text)
{
	static const struct {
		const char *name;
		uint64_t scale;
	} units[] = { { "s", 1000000000 }, { "ms", 1000000 }, { "us", 1000 } };

	for (size_t n = 0; n < sizeof(units) / sizeof(units[0]); n++) {
		uint64_t scale = units[n].scale;

		if (nanoseconds < scale)
			continue;
		snprintf(text, DISTRIBUTION_TEXT, "%llu.%03llu %s", (unsigned long long)(nanoseconds / scale),
			 (unsigned long long)(nanoseconds % scale / (scale / 1000)), units[n].name);
		return text;
	}
	snprintf(text, DISTRIBUTION_TEXT, "%u ns", (unsigned)nanoseconds);
	return text;
}

/*
 * Writes all digits of a value. The edge after the largest 64-bit value needs more than 64 bits. Returns
 * `text`.
 */
static char *digits(distribution_number value, char text[NUMBER_TEXT])
{
	const unsigned __int128 magnitude = (unsigned __int128)(value < 0 ? -value : value);
	const unsigned long long high = (unsigned long long)(magnitude / TEN_19);
	const unsigned long long low = (unsigned long long)(magnitude % TEN_19);

	if (high)
		snprintf(text, NUMBER_TEXT, "%s%llu%019llu", value < 0 ? "-" : "", high, low);
	else
		snprintf(text, NUMBER_TEXT, "%s%llu", value < 0 ? "-" : "", low);
	return text;
}

char *distribution_text(const struct distribution *d, distribution_number value, char *text)
{
	char unit[UNIT_MAX * 4 + 1], number[NUMBER_TEXT];

	if (d->frequency)
		return time_text(value, text);
	*base_escape_text(unit, d->unit, strnlen(d->unit, UNIT_MAX), sizeof(unit) - 1) = '\0';
	snprintf(text, DISTRIBUTION_TEXT, "%s%s%.32s", digits(value, number), *unit ? " " : "", unit);
	return text;
}

void distribution_write_number(struct base_output *out, distribution_number value)
{
	char number[NUMBER_TEXT];

	base_output_text(out, digits(value, number));
}
