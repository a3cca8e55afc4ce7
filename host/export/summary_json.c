/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <string.h>

#include <stdio.h>

#include "base/json.h"
#include "export/json.h"
#include "base/machine.h"
#include "base/put.h"
#include "export/summary.h"
#include "analyze/note.h"
#include "analyze/order.h"
#include "ktrx/v2.h"

/* ,"name":123 */
static void number(struct base_output *out, const char *name, uint64_t value)
{
	char *at = base_json_name(base_output_line(out), name);

	*at = ':';
	at = base_put_decimal(at + 1, value);
	*at = ',';
	base_output_done(out, at + 1);
}

/* The last number of an object. */
static void last_number(struct base_output *out, const char *name, uint64_t value, const char *close)
{
	number(out, name, value);
	base_output_done(out, out->at - 1);
	base_output_text(out, close);
}

static void text_of(struct base_output *out, const char *name, const char *value, size_t length)
{
	char *at = base_json_name(base_output_line(out), name);

	*at = ':';
	at = base_json_string(at + 1, value, length < 256 ? length : 256);
	*at = ',';
	base_output_done(out, at + 1);
}

static void text(struct base_output *out, const char *name, const char *value)
{
	text_of(out, name, value, strnlen(value, 256));
}

static void write_build_id(struct base_output *out, const struct ktread_info *info)
{
	if (!info->build_id_size)
		return;
	base_output_text(out, "\"build_id\":\"");
	for (uint32_t n = 0; n < info->build_id_size; n++)
		base_output_format(out, "%02x", info->build_id[n]);
	base_output_text(out, "\",");
}

static void write_order(struct base_output *out, const struct ktread *trace)
{
	char order[ORDER_TEXT];

	if (order_say_json(trace, order) > 0)
		base_output_format(out, "%s,", order);
}

static void write_clocks(struct base_output *out, const struct ktread_info *info)
{
	if (info->clock == KTREAD_CLOCK_RAW && !info->clock_failed)
		return;
	base_output_text(out, "\"clocks\":{");
	number(out, "cpus", info->clock_cpus);
	number(out, "measurements", info->clock_samples);
	number(out, "succeeded", info->clock_measured);
	number(out, "failed", info->clock_failed);
	number(out, "largest_ticks", info->clock_largest);
	number(out, "error_ticks", info->clock_error);
	last_number(out, "aligned_ticks", info->clock_aligned, "},");
}

static void write_head(struct base_output *out, const struct summary *summary)
{
	const struct ktread_info *info = ktread_info(summary->trace);
	const char *ended;
	size_t length;

	base_output_text(out, "{");
	number(out, "version", info->version);
	if (base_machine_name(info->machine))
		text(out, "machine", base_machine_name(info->machine));
	if (*info->kernel)
		text(out, "kernel", info->kernel);
	write_build_id(out, info);
	if (!info->records_only)
		text(out, "outcome", summary_outcome(info->outcome));
	if (info->outcome == KTRX_OUTCOME_EXITED)
		base_output_format(out, "\"status\":%d,", info->status);
	ended = summary_ended(summary->trace, &length);
	if (ended)
		text_of(out, "ended", ended, length);
	if (ktread_is_cut(info))
		base_output_text(out, "\"cut_short\":true,");
	if (summary_is_dump(summary->trace)) {
		const char *taken = note_find(info->note, "taken", &length);
		double seconds;

		base_output_text(out, "\"dumped\":true,");
		if (taken && sscanf(taken, "%lf", &seconds) == 1 && seconds >= 0 && seconds < 1e9)
			base_output_format(out, "\"taken_before_end\":%.3f,", seconds);
	}
	base_output_format(out, "\"registers\":%s,", *info->registers ? "true" : "false");
	number(out, "frequency", info->frequency);
	number(out, "cpus", info->cpus);
	number(out, "online", info->online);
	write_clocks(out, info);
	write_order(out, summary->trace);
	number(out, "nonce", info->nonce);
	if (info->wall_ns) {
		number(out, "wall_stamp", info->wall_stamp);
		number(out, "wall_ns", info->wall_ns);
	}
	number(out, "dumps", info->dumps);
	number(out, "offset", info->offset);
	number(out, "skipped_bytes", info->skipped_bytes);
	number(out, "unknown_sections", info->unknown_sections);
	number(out, "lost_events", info->lost_events);
	number(out, "events", summary->tally->events);
	if (summary->tally->folded) {
		number(out, "folded", summary->tally->folded);
		number(out, "folding", summary->tally->folding);
	}
	number(out, "ticks", summary->tally->events ? summary->tally->last - summary->tally->first : 0);
	base_output_format(out, "\"seconds\":%.9f,", summary->seconds);
	if (summary->cost)
		base_output_format(
			out, "\"cost_ticks\":%.3f,\"cost_share\":%.6f,", (double)summary->cost / 1000,
			summary_cost_share(summary, summary->tally->events, ktread_cpus_used(info)));
	if (info->records_only)
		base_output_text(out, "\"lost_slots\":null,");
	else
		number(out, "lost_slots", summary->overwritten + summary->invalid);
}

static void write_event(struct base_output *out, const struct summary *summary,
			const struct tally_entry *entry)
{
	const struct ktread_type *type = ktread_type(summary->trace, entry->key);

	base_output_text(out, "{");
	number(out, "id", entry->key);
	if (type) {
		char *at = json_put_event_name(base_put_literal(base_output_line(out), "\"event\":"), type);

		*at = ',';
		base_output_done(out, at + 1);
		if (type->count)
			number(out, "fired", type->count);
	}
	if (summary->tally->repeats[entry->key]) {
		number(out, "folded", summary->tally->repeats[entry->key]);
		number(out, "occurred", entry->count + summary->tally->repeats[entry->key]);
	}
	last_number(out, "records", entry->count, "}");
}

static void write_thread(struct base_output *out, const struct summary *summary,
			 const struct tally_entry *entry)
{
	const char *name = ktread_thread_name(summary->trace, entry->key);

	base_output_text(out, "{");
	number(out, "thread", entry->key);
	if (name)
		text(out, "name", name);
	last_number(out, "records", entry->count, "}");
}

static void write_cpu(struct base_output *out, const struct summary *summary, const struct tally_entry *entry)
{
	if (entry->key < TALLY_CPUS - 1)
		base_output_format(out, "{\"cpu\":%u,", entry->key);
	else
		base_output_text(out, "{\"cpu\":null,");
	if (summary->cost)
		base_output_format(out, "\"cost_share\":%.6f,", summary_cost_share(summary, entry->count, 1));
	last_number(out, "records", entry->count, "}");
}

static void write_list(struct base_output *out, const struct summary *summary, const char *name,
		       const struct tally_entry *entries, size_t count,
		       void (*write)(struct base_output *, const struct summary *,
				     const struct tally_entry *))
{
	base_output_format(out, "\n\"%s\":[", name);
	for (size_t n = 0; n < count; n++) {
		base_output_text(out, n ? ",\n" : "\n");
		write(out, summary, &entries[n]);
	}
	base_output_text(out, "],");
}

static void write_ring(struct base_output *out, const struct ktread_ring *ring)
{
	if (ring->cpu == KTRX_NO_CPU)
		base_output_text(out, "{\"cpu\":null,");
	else
		base_output_format(out, "{\"cpu\":%u,", ring->cpu);
	number(out, "slots", ring->slots);
	number(out, "produced", ring->head);
	number(out, "overwritten", ring->overwritten);
	number(out, "decoded", ring->decoded);
	number(out, "invalid", ring->invalid);
	number(out, "records", ring->records);
	number(out, "dropped", ring->dropped);
	last_number(out, "lapped", ring->lapped, "}");
}

void summary_write_json(struct base_output *out, const struct summary *summary)
{
	write_head(out, summary);
	write_list(out, summary, "by_event", summary->events, summary->event_count, write_event);
	write_list(out, summary, "by_thread", summary->threads, summary->thread_count, write_thread);
	write_list(out, summary, "by_cpu", summary->cpus, summary->cpu_count, write_cpu);
	base_output_text(out, "\n\"rings\":[");
	for (uint32_t n = 0; n < ktread_info(summary->trace)->rings; n++) {
		base_output_text(out, n ? ",\n" : "\n");
		write_ring(out, ktread_ring(summary->trace, n));
	}
	base_output_text(out, "]}\n");
}
