/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The distribution of numbers, in memory that does not grow with how many there are. Count, sum, least and
 * greatest are exact always. Ranks are exact up to HISTOGRAM_EXACT values, which are kept as they are; from
 * then on values are counted in buckets, HISTOGRAM_STEPS to each power of two, and a rank is the greatest
 * value of its bucket: at most 1/HISTOGRAM_STEPS too great, never too small.
 */
#ifndef ANALYZE_HISTOGRAM_H
#define ANALYZE_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "ktread/ktread.h"

#define HISTOGRAM_EXACT	    2048u
#define HISTOGRAM_STEP_BITS 7u
#define HISTOGRAM_STEPS	    (1u << HISTOGRAM_STEP_BITS)
#define HISTOGRAM_OCTAVES   (64u - HISTOGRAM_STEP_BITS)

/* Zero-initialised is ready for use. */
struct histogram {
	uint64_t count;
	uint64_t least, greatest; /* if there are any */
	double sum;
	uint64_t *value; /* while there are no more than HISTOGRAM_EXACT; NULL from then on */
	uint32_t room;
	bool sorted;
	bool counted;				 /* in buckets by now */
	uint64_t *octave[HISTOGRAM_OCTAVES + 1]; /* HISTOGRAM_STEPS buckets each, NULL: none counted */
};

/* 0 or KTREAD_E_MEMORY. */
int histogram_add(struct histogram *histogram, uint64_t value);
void histogram_free(struct histogram *histogram);

/*
 * The rank of a percentile: of how many values the greatest is the least one that `part` of `whole` do not
 * exceed. 99 of 100 is p99.
 */
static inline uint64_t histogram_rank(uint64_t count, unsigned part, unsigned whole)
{
	uint64_t rank = (uint64_t)(((unsigned __int128)count * part + whole - 1) / whole);

	return rank ? rank : 1;
}

/* The value of that rank, from 1, the least, to the count. */
uint64_t histogram_nth(struct histogram *histogram, uint64_t rank);

/* How many values are below `limit`; of a bucket that lies on both sides, all or none. */
uint64_t histogram_below(struct histogram *histogram, uint64_t limit);

/* ---- The distribution of what a field of some events holds ---- */

/* Zero-initialised is ready for use. */
struct values {
	struct histogram positive; /* zero, too */
	struct histogram negative; /* magnitudes */
	uint64_t missing;	   /* events that lack the field, or hold a string there */
};

/* Reads the trace to its end; `events`: bit map of ids. 0, or KTREAD_E_MEMORY, or what ktread_next() said. */
int values_read(struct values *values, struct ktread *trace, const uint8_t *events, const char *field);
void values_free(struct values *values);

#endif
