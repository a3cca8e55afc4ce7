/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "export/classic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/ticks.h"

#define PIDS_SHOWN 20u
#define NAME_BYTES 120u

typedef void write_row(struct base_output *out, const struct ktread *trace, const struct tally_entry *entry);

static void row_type(struct base_output *out, const struct ktread *trace, const struct tally_entry *entry)
{
	const struct ktread_type *type = ktread_type(trace, entry->key);
	char name[NAME_BYTES + 1];

	if (type)
		*base_escape_text(name, type->name, strlen(type->name), NAME_BYTES) = '\0';
	else
		snprintf(name, sizeof(name), "UNKNOWN(%u)", entry->key);
	base_output_format(out, "  %-20s %8llu\n", name, (unsigned long long)entry->count);
}

static void row_pid(struct base_output *out, const struct ktread *trace, const struct tally_entry *entry)
{
	(void)trace;
	base_output_format(out, "  PID %-6u %8llu\n", entry->key, (unsigned long long)entry->count);
}

static void row_cpu(struct base_output *out, const struct ktread *trace, const struct tally_entry *entry)
{
	(void)trace;
	base_output_format(out, "  CPU%u  %8llu\n", entry->key, (unsigned long long)entry->count);
}

static int section(struct base_output *out, const struct ktread *trace, const struct tally *tally,
		   enum tally_kind kind)
{
	static const struct {
		const char *title;
		write_row *row;
		enum tally_order order;
		size_t limit;
	} kinds[] = {
		[TALLY_BY_EVENT] = { "\nEvents by type:\n", row_type, TALLY_MOST_FIRST, SIZE_MAX },
		[TALLY_BY_THREAD] = { "\nEvents by PID:\n", row_pid, TALLY_MOST_FIRST, PIDS_SHOWN },
		[TALLY_BY_CPU] = { "\nEvents by CPU:\n", row_cpu, TALLY_BY_KEY, SIZE_MAX },
	};
	size_t entries;
	struct tally_entry *list = tally_list(tally, kind, kinds[kind].order, &entries);

	if (!list)
		return KTREAD_E_MEMORY;
	base_output_text(out, kinds[kind].title);
	for (size_t n = 0; n < entries && n < kinds[kind].limit; n++)
		kinds[kind].row(out, trace, &list[n]);
	free(list);
	return 0;
}

int classic_summary(struct base_output *out, const struct ktread *trace, const struct tally *tally)
{
	const struct ktread_info *info = ktread_info(trace);
	const struct ktread_ring *ring = ktread_ring(trace, 0);
	double span = info->frequency ? base_ticks_seconds(tally->last - tally->first, info->frequency) : 0;

	base_output_format(out, "ktrace dump: version=%u cpus=%u ring_size=%llu tsc_freq=%llu\n",
			   info->version, info->cpus, ring ? (unsigned long long)ring->slots : 0,
			   (unsigned long long)info->frequency);
	base_output_format(out, "Total events: %llu\n", (unsigned long long)tally->events);
	for (int kind = TALLY_BY_EVENT; kind <= TALLY_BY_CPU; kind++)
		if (section(out, trace, tally, (enum tally_kind)kind) < 0)
			return KTREAD_E_MEMORY;
	if (span > 0)
		base_output_format(out, "\nTime span: %.6fs (%.0f events/s)\n", span,
				   (double)tally->events / span);
	else
		base_output_text(out, "\n");
	return 0;
}
