/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Writes the output of `ktrace stats` as text, JSON or an SVG picture, and makes the histograms in it. */
#ifndef EXPORT_STATS_H
#define EXPORT_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/histogram.h"
#include "analyze/latencies.h"
#include "analyze/worst.h"
#include "base/output.h"
#include "ktread/ktread.h"

/*
 * A histogram for display. Ticks of a known frequency are shown in nanoseconds. Values of signed fields keep
 * their sign. The edges of the bins are round numbers.
 */

#define DISTRIBUTION_BINS 128u

typedef __int128 distribution_number; /* holds any value of a 64-bit field, signed or unsigned */

struct distribution {
	struct histogram *values;
	/* histogram of the absolute values of negative values; NULL if there are none */
	struct histogram *negative;
	/* frequency of the counter if the values are ticks; 0 if they are other numbers */
	uint64_t frequency;
	/* "ns", "ticks", or a unit from the trace (untrusted text); "" if the values have no unit */
	const char *unit;
};

struct distribution_bin {
	/* the bin contains the values from `from` up to but not including `to` */
	distribution_number from, to;
	uint64_t count;
};

struct distribution_bins {
	struct distribution_bin bin[DISTRIBUTION_BINS];
	uint32_t count;
	uint64_t most; /* number of values in the fullest bin */
};

/*
 * Makes a distribution of ticks. They are shown in nanoseconds if the frequency is known, otherwise in ticks.
 */
struct distribution distribution_of_ticks(struct histogram *ticks, uint64_t frequency);

uint64_t distribution_count(const struct distribution *distribution);
/* These functions return a value of the distribution. Requires: distribution_count() is not 0. */
distribution_number distribution_least(const struct distribution *distribution);
distribution_number distribution_greatest(const struct distribution *distribution);
distribution_number distribution_rank(const struct distribution *distribution, unsigned part, unsigned whole);
double distribution_mean(const struct distribution *distribution);
/*
 * Returns whether distribution_rank() returns exact values. If not, each returned value is the largest value
 * of a histogram's bucket.
 */
bool distribution_is_exact(const struct distribution *distribution);

/*
 * Divides the distribution into bins. Edges are 1, 2, 5, 10, … or, if the values are close together, evenly
 * spaced numbers.
 * The first and the last bin are not empty.
 */
void distribution_bins(const struct distribution *distribution, struct distribution_bins *bins);

/*
 * Writes a value with its unit: "12.345 us", "-11", "7 pages". Writes at most DISTRIBUTION_TEXT bytes with
 * the NUL.
 * Returns `text`.
 */
#define DISTRIBUTION_TEXT 64u
char *distribution_text(const struct distribution *distribution, distribution_number value, char *text);
/* Writes the number without a unit. */
void distribution_write_number(struct base_output *out, distribution_number value);

/* ---- Distributions as `ktrace stats` shows them: one with all its figures, or a table of many ---- */

/* A distribution, and a description of the values in it. */
struct stats {
	struct ktread *trace;
	const char *title; /* what the user asked for on the command line */
	struct distribution distribution;
	/* result of pairing events; NULL if the values are those of a field */
	const struct pairs_result *pairs;
	uint64_t missing; /* number of events that lack the value; set only if `pairs` is NULL */
};

void stats_write_text(struct base_output *out, const struct stats *stats);
void stats_write_json(struct base_output *out, const struct stats *stats);
/* Writes the histogram as an SVG picture without external references. */
void stats_write_svg(struct base_output *out, const struct stats *stats);

struct stats_table {
	struct ktread *trace;
	struct latencies *latencies;
};

void stats_table_write_text(struct base_output *out, const struct stats_table *table);
void stats_table_write_json(struct base_output *out, const struct stats_table *table);

/*
 * Writes the name of a row, for example "read" or "33 timer"; "" for a kind that has only one row. The name
 * may be untrusted text. `name` has STATS_NAME bytes. Returns `name`.
 */
#define STATS_NAME 80u
char *stats_row_name(const struct stats_table *table, const struct latencies_row *row, char *name);
/* Returns the name of a kind of distribution, for example "syscall". */
const char *stats_kind_name(enum latencies_kind kind);

/*
 * Writes a timestamp as the timeline does: "0.001234", or ticks if the frequency is unknown.
 * `text` has STATS_TIME bytes. Returns `text`.
 */
#define STATS_TIME 32u
char *stats_time(struct ktread *trace, uint64_t stamp, char *text);

/* ---- The longest durations, with their shares ---- */

void stats_worst_write_text(struct base_output *out, struct ktread *trace, const struct worst *worst);
void stats_worst_write_json(struct base_output *out, struct ktread *trace, const struct worst *worst);

/* ---- Events in each interval of time, on each CPU ---- */

struct rates_options {
	uint64_t interval; /* length of an interval in ticks; not 0 */
	bool json;
};

/*
 * Writes a line for each interval, and then the totals of each CPU. The first interval begins at the first
 * event of the trace. Consecutive intervals without events are printed as one line. Returns 0,
 * KTREAD_E_MEMORY, or an error of ktread_next().
 */
int rates_write(struct base_output *out, struct ktread *trace, const struct rates_options *options);

#endif
