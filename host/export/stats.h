/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Distributions as `ktrace stats` shows them: one with all its figures, or a table of many. */
#ifndef EXPORT_STATS_H
#define EXPORT_STATS_H

#include "analyze/latencies.h"
#include "analyze/pairs.h"
#include "export/distribution.h"
#include "base/output.h"
#include "ktread/ktread.h"

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

#endif
