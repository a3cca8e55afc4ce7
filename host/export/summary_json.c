/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */

#include <stdio.h>

#include "base/json.h"
#include "export/timeline.h"
#include "base/machine.h"
#include "export/summary.h"
#include "analyze/note.h"
#include "analyze/order.h"
#include "ktrx/v2.h"

static void write_build_id(struct base_output *out, const struct ktread_info *info)
{
	if (!info->build_id_size)
		return;
	base_json_put_format(out, "build_id", "\"");
	for (uint32_t n = 0; n < info->build_id_size; n++)
		base_output_format(out, "%02x", info->build_id[n]);
	base_output_text(out, "\"");
}

static void write_order(struct base_output *out, const struct ktread *trace)
{
	char order[ORDER_TEXT];

	if (order_say_json(trace, order) > 0)
		base_json_put_format(out, NULL, "%s", order);
}

static void write_clocks(struct base_output *out, const struct ktread_info *info)
{
	if (info->clock == KTREAD_CLOCK_RAW && !info->clock_failed)
		return;
	base_json_begin(out, "clocks", '{');
	base_json_put_number(out, "cpus", info->clock_cpus);
	base_json_put_number(out, "measurements", info->clock_samples);
	base_json_put_number(out, "succeeded", info->clock_measured);
	base_json_put_number(out, "failed", info->clock_failed);
	base_json_put_number(out, "largest_ticks", info->clock_largest);
	base_json_put_number(out, "error_ticks", info->clock_error);
	base_json_put_number(out, "aligned_ticks", info->clock_aligned);
	base_output_text(out, "}");
}

static void write_taken(struct base_output *out, const struct ktread_info *info)
{
	size_t length;
	const char *taken = note_find(info->note, "taken", &length);
	double seconds;

	base_json_put_bool(out, "dumped", true);
	if (taken && sscanf(taken, "%lf", &seconds) == 1 && seconds >= 0 && seconds < 1e9)
		base_json_put_format(out, "taken_before_end", "%.3f", seconds);
}

static void write_head(struct base_output *out, const struct summary *summary)
{
	const struct ktread_info *info = ktread_info(summary->trace);
	const char *ended;
	size_t length;

	base_output_text(out, "{");
	base_json_put_number(out, "version", info->version);
	if (base_machine_name(info->machine))
		base_json_put_text(out, "machine", base_machine_name(info->machine));
	if (*info->kernel)
		base_json_put_text(out, "kernel", info->kernel);
	write_build_id(out, info);
	if (!info->records_only)
		base_json_put_text(out, "outcome", summary_outcome(info->outcome));
	if (info->outcome == KTRX_OUTCOME_EXITED)
		base_json_put_format(out, "status", "%d", info->status);
	ended = summary_ended(summary->trace, &length);
	if (ended && !summary->redact)
		base_json_put_bytes(out, "ended", ended, length < 256 ? length : 256);
	if (ktread_is_cut(info))
		base_json_put_bool(out, "cut_short", true);
	if (info->unusable)
		base_json_put_number(out, "unusable_rings", info->unusable);
	if (summary_is_dump(summary->trace))
		write_taken(out, info);
	if (summary_was_stopped(summary))
		base_json_put_bool(out, "stopped", true);
	base_json_put_bool(out, "registers", *info->registers != '\0');
	base_json_put_number(out, "frequency", info->frequency);
	base_json_put_number(out, "cpus", info->cpus);
	base_json_put_number(out, "online", info->online);
	write_clocks(out, info);
	write_order(out, summary->trace);
	base_json_put_number(out, "nonce", info->nonce);
	if (info->wall_ns) {
		base_json_put_number(out, "wall_stamp", info->wall_stamp);
		base_json_put_number(out, "wall_ns", info->wall_ns);
	}
	base_json_put_number(out, "dumps", info->dumps);
	base_json_put_number(out, "offset", info->offset);
	base_json_put_number(out, "skipped_bytes", info->skipped_bytes);
	base_json_put_number(out, "unknown_sections", info->unknown_sections);
	base_json_put_number(out, "lost_events", info->lost_events);
	base_json_put_number(out, "events", summary->tally->events);
	if (summary->tally->folded) {
		base_json_put_number(out, "folded", summary->tally->folded);
		base_json_put_number(out, "folding", summary->tally->folding);
	}
	base_json_put_number(out, "ticks",
			     summary->tally->events ? summary->tally->last - summary->tally->first : 0);
	base_json_put_format(out, "seconds", "%.9f", summary->seconds);
	if (summary->cost) {
		const double share = summary_cost_share(summary, summary->tally->events, summary->tally->rate,
							ktread_cpus_used(info));

		base_json_put_format(out, "cost_ticks", "%.3f", (double)summary->cost / 1000);
		base_json_put_format(out, "cost_share", "%.6f", share);
	}
	base_json_put_known(out, "lost_slots", !info->records_only, summary->overwritten + summary->invalid);
}

static void write_event(struct base_output *out, const struct summary *summary,
			const struct tally_entry *entry)
{
	const struct ktread_type *type = ktread_type(summary->trace, entry->key);

	base_json_put_number(out, "id", entry->key);
	if (type) {
		base_json_key(out, "event");
		base_output_done(out, json_put_event_name(base_output_line(out), type));
		if (type->count)
			base_json_put_number(out, "fired", type->count);
	}
	if (summary->tally->repeats[entry->key]) {
		base_json_put_number(out, "folded", summary->tally->repeats[entry->key]);
		base_json_put_number(out, "occurred", entry->count + summary->tally->repeats[entry->key]);
	}
	base_json_put_number(out, "records", entry->count);
}

static void write_thread(struct base_output *out, const struct summary *summary,
			 const struct tally_entry *entry)
{
	const char *name = ktread_thread_name(summary->trace, entry->key);

	base_json_put_number(out, "thread", entry->key);
	if (name && !summary->redact)
		base_json_put_text(out, "name", name);
	base_json_put_number(out, "records", entry->count);
}

static void write_cpu(struct base_output *out, const struct summary *summary, const struct tally_entry *entry)
{
	base_json_put_known(out, "cpu", entry->key < TALLY_CPUS - 1, entry->key);
	if (summary->cost)
		base_json_put_format(out, "cost_share", "%.6f",
				     summary_cost_share(summary, entry->count, entry->rate, 1));
	base_json_put_number(out, "records", entry->count);
}

static void write_list(struct base_output *out, const struct summary *summary, const char *name,
		       const struct tally_entry *entries, size_t count,
		       void (*write)(struct base_output *, const struct summary *,
				     const struct tally_entry *))
{
	base_output_format(out, ",\n\"%s\":[", name);
	for (size_t n = 0; n < count; n++) {
		base_output_text(out, n ? ",\n{" : "\n{");
		write(out, summary, &entries[n]);
		base_output_text(out, "}");
	}
	base_output_text(out, "]");
}

static void write_ring(struct base_output *out, const struct ktread_ring *ring)
{
	base_json_put_known(out, "cpu", ring->cpu != KTRX_NO_CPU, ring->cpu);
	base_json_put_number(out, "slots", ring->slots);
	base_json_put_number(out, "produced", ring->head);
	base_json_put_number(out, "overwritten", ring->overwritten);
	base_json_put_number(out, "decoded", ring->decoded);
	base_json_put_number(out, "invalid", ring->invalid);
	base_json_put_number(out, "records", ring->records);
	base_json_put_number(out, "dropped", ring->dropped);
	base_json_put_number(out, "lapped", ring->lapped);
}

void summary_write_json(struct base_output *out, const struct summary *summary)
{
	write_head(out, summary);
	write_list(out, summary, "by_event", summary->events, summary->event_count, write_event);
	write_list(out, summary, "by_thread", summary->threads, summary->thread_count, write_thread);
	write_list(out, summary, "by_cpu", summary->cpus, summary->cpu_count, write_cpu);
	base_output_text(out, ",\n\"rings\":[");
	for (uint32_t n = 0; n < ktread_info(summary->trace)->rings; n++) {
		base_output_text(out, n ? ",\n{" : "\n{");
		write_ring(out, ktread_ring(summary->trace, n));
		base_output_text(out, "}");
	}
	base_output_text(out, "]}\n");
}
