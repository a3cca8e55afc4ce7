/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What is in a trace, in numbers: counts by event, thread and CPU, the time it spans, and where every slot
 * went. The trace must have been read to its end.
 */
#ifndef EXPORT_SUMMARY_H
#define EXPORT_SUMMARY_H

#include <stdbool.h>

#include "base/output.h"
#include "export/tally.h"

struct summary {
	const struct ktread *trace;
	const struct tally *tally;
	struct tally_entry *events, *threads, *cpus;
	size_t event_count, thread_count, cpu_count;
	double seconds; /* between the first event and the last, 0 if the frequency is unknown */
	uint64_t cost;	/* ticks that a thousand events cost, 0: unknown */
	uint64_t overwritten, invalid, dropped; /* of all rings */
};

/* 0 or KTREAD_E_MEMORY. */
int summary_init(struct summary *summary, const struct ktread *trace, const struct tally *tally);
void summary_free(struct summary *summary);

void summary_write_text(struct base_output *out, const struct summary *summary, const char *path);
void summary_write_json(struct base_output *out, const struct summary *summary);

/* What `ktrace run` said of the guest's end, and its length; NULL if it said nothing. */
/* Whether the guest sent the trace itself, so that it covers what came before it was taken and no more. */
bool summary_is_dump(const struct ktread *trace);
const char *summary_ended(const struct ktread *trace, size_t *length);
/* "exited", "panicked" or "running". */
const char *summary_outcome(uint32_t outcome);
/* The part of the time of `cpus` CPUs that recording so many events took; 0 if it cannot be told. */
double summary_cost_share(const struct summary *summary, uint64_t events, uint32_t cpus);

#endif
