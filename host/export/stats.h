/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* `ktrace stats` as text, JSON and drawings, and the histograms in it. */
#ifndef EXPORT_STATS_H
#define EXPORT_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/histogram.h"
#include "analyze/latencies.h"
#include "base/output.h"
#include "ktread/ktread.h"

/*
 * A histogram as people read it: in nanoseconds where it holds ticks of a known frequency, with a sign where
 * numbers have one, in bins whose edges are round.
 */

#define DISTRIBUTION_BINS 128u

typedef __int128 distribution_number; /* any value of a 64-bit field, of either sign */

struct distribution {
	struct histogram *values;
	struct histogram *negative; /* magnitudes; NULL: there are none */
	uint64_t frequency;	    /* of the ticks that it holds; 0: plain numbers */
	const char *unit; /* "ns", "ticks" or what the trace says, which may be hostile; "" if none */
};

struct distribution_bin {
	distribution_number from, to; /* `to` excluded */
	uint64_t count;
};

struct distribution_bins {
	struct distribution_bin bin[DISTRIBUTION_BINS];
	uint32_t count;
	uint64_t most; /* in one bin */
};

/* Of ticks: in nanoseconds if the frequency is known. */
struct distribution distribution_of_ticks(struct histogram *ticks, uint64_t frequency);

uint64_t distribution_count(const struct distribution *distribution);
/* Of the following there must be values. */
distribution_number distribution_least(const struct distribution *distribution);
distribution_number distribution_greatest(const struct distribution *distribution);
distribution_number distribution_rank(const struct distribution *distribution, unsigned part, unsigned whole);
double distribution_mean(const struct distribution *distribution);
/* Ranks are those of the very values, not of buckets. */
bool distribution_is_exact(const struct distribution *distribution);

/*
 * Bins of 1, 2, 5, 10, …, or of one width where the values lie close together. The first and the last are not
 * empty.
 */
void distribution_bins(const struct distribution *distribution, struct distribution_bins *bins);

/* "12.345 us", "-11", "7 pages". At most DISTRIBUTION_TEXT bytes, which ends with a NUL; returns `text`. */
#define DISTRIBUTION_TEXT 64u
char *distribution_text(const struct distribution *distribution, distribution_number value, char *text);
/* The bare digits. */
void distribution_write_number(struct base_output *out, distribution_number value);

/* Distributions as `ktrace stats` shows them: one with all its figures, or a table of many. */

/* One distribution and where it comes from. */
struct stats {
	struct ktread *trace;
	const char *title; /* what the command line asked for */
	struct distribution distribution;
	const struct pairs_result *pairs; /* NULL: it is not of pairs */
	uint64_t missing;		  /* else: events without the value */
};

void stats_write_text(struct base_output *out, const struct stats *stats);
void stats_write_json(struct base_output *out, const struct stats *stats);
/* The histogram as a picture that needs nothing else. */
void stats_write_svg(struct base_output *out, const struct stats *stats);

struct stats_table {
	struct ktread *trace;
	struct latencies *latencies;
};

void stats_table_write_text(struct base_output *out, const struct stats_table *table);
void stats_table_write_json(struct base_output *out, const struct stats_table *table);

/* "read", "33 timer"; "" for kinds that have one row. Needs STATS_NAME bytes; may be hostile. */
#define STATS_NAME 80u
char *stats_row_name(const struct stats_table *table, const struct latencies_row *row, char *name);
/* "syscall" */
const char *stats_kind_name(enum latencies_kind kind);

/* A stamp as the timeline shows it: "0.001234", or ticks. Needs STATS_TIME bytes; returns `text`. */
#define STATS_TIME 32u
char *stats_time(struct ktread *trace, uint64_t stamp, char *text);

/* How many events there are in each stretch of time, on each CPU. */

struct rates_options {
	uint64_t interval; /* ticks, not 0 */
	bool json;
};

/*
 * A line for each interval, counted from the first event of the trace, and the figures of each CPU at the
 * end. Intervals without events are told together. 0, or KTREAD_E_MEMORY, or what ktread_next() said.
 */
int rates_write(struct base_output *out, struct ktread *trace, const struct rates_options *options);

#endif
