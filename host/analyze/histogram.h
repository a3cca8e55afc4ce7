/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The distribution of values. Memory is bounded, however many values there are. Count, sum, smallest and
 * largest value are always exact. Up to HISTOGRAM_EXACT values are stored individually, so ranks are exact.
 * If there are more values, they are counted in buckets, HISTOGRAM_STEPS for each power of two. The result
 * for a rank is then the largest value of the rank's bucket: too large by at most 1/HISTOGRAM_STEPS, never
 * too small.
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

/* A zero-initialised structure is ready for use. */
struct histogram {
	uint64_t count;
	uint64_t least, greatest; /* the smallest and the largest value; valid if count > 0 */
	double sum;
	uint64_t *value; /* the values, at most HISTOGRAM_EXACT; NULL once the values are in buckets */
	uint32_t room;
	bool sorted;
	bool counted; /* true if the values are in buckets */
	/* an array of HISTOGRAM_STEPS buckets for each octave; NULL: the octave has no value */
	uint64_t *octave[HISTOGRAM_OCTAVES + 1];
};

/* Returns 0 or KTREAD_E_MEMORY. */
int histogram_add(struct histogram *histogram, uint64_t value);
void histogram_free(struct histogram *histogram);

/*
 * Returns the rank of a percentile: the smallest rank whose value is at least as large as part / whole of all
 * values. For p99, `part` is 99 and `whole` is 100.
 */
static inline uint64_t histogram_rank(uint64_t count, unsigned part, unsigned whole)
{
	uint64_t rank = (uint64_t)(((unsigned __int128)count * part + whole - 1) / whole);

	return rank ? rank : 1;
}

/* Returns the value with this rank. Rank 1 is the smallest value. Requires: 1 <= rank <= count. */
uint64_t histogram_nth(struct histogram *histogram, uint64_t rank);

/*
 * Returns the number of values below `limit`. If values are in buckets and `limit` is within a bucket, the
 * number includes all values of that bucket.
 */
uint64_t histogram_below(struct histogram *histogram, uint64_t limit);

/* ---- The distribution of a field's values ---- */

/* A zero-initialised structure is ready for use. */
struct values {
	struct histogram positive; /* values that are 0 or more */
	struct histogram negative; /* absolute values of the negative values */
	uint64_t missing;	   /* number of events that lack the field, or whose field is a string */
};

/*
 * Reads the trace to its end. `events`: bit map of ids. Returns 0, KTREAD_E_MEMORY, or the error of
 * ktread_next().
 */
int values_read(struct values *values, struct ktread *trace, const uint8_t *events, const char *field);
void values_free(struct values *values);

#endif
