/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "live/live.h"

#include <inttypes.h>
#include <stdio.h>

#include "analyze/order.h"
#include "base/json.h"

#define TEXT	   192u
#define CPUS_SHOWN 16u /* maximum number of CPUs in a line of text */

static void write_tail(struct live_lines *lines, const struct live_tail *tail)
{
	uint64_t count = tail->lines - lines->written;

	for (count = count < lines->tail ? count : lines->tail; count > 0; count--) {
		const char *line = live_tail_line(tail, count - 1);

		if (line)
			base_output_format(lines->out, "%s\n", line);
	}
	lines->written = tail->lines;
}

/* ---- Text ---- */

static void write_cpu(struct base_output *out, const struct live_model *model, uint32_t n)
{
	const struct live_cpu *cpu = &model->cpu[n];
	char thread[TEXT], text[TEXT];

	base_output_format(out, " | %" PRIu32 ":", n);
	if (!cpu->online) {
		base_output_text(out, " offline");
		return;
	}
	for (unsigned i = 0; i < LIVE_SHARES; i++)
		if (cpu->share[i] >= 0.005)
			base_output_format(out, " %s %.0f%%", live_share_name((enum live_share)i),
					   cpu->share[i] * 100);
	if (cpu->stuck > 0)
		base_output_format(out, " STUCK for %.1f s", cpu->stuck);
	if (cpu->stuck > 0 && cpu->heartbeats)
		base_output_format(out, " at 0x%" PRIx64, cpu->pc);
	if (cpu->now != LIVE_IDLE) {
		live_thread_text(live_model_trace(model), cpu->thread, thread, sizeof(thread));
		base_output_format(out, " %s", thread);
	}
	if (cpu->waits) {
		live_object_text(live_model_trace(model), cpu->lock, cpu->lock_name, cpu->owner, text,
				 sizeof(text));
		base_output_format(out, " waits for lock %s", text);
	}
}

static void write_top(struct base_output *out, const struct live_model *model, unsigned most)
{
	struct ktread *trace = live_model_trace(model);
	char name[TEXT];

	for (unsigned i = 0; i < most && model->top[i].rate > 0; i++) {
		const struct ktread_type *type = trace ? ktread_type(trace, model->top[i].id) : NULL;

		if (!type)
			continue;
		live_event_text(type, name, sizeof(name));
		base_output_format(out, "%s%s %.0f", i ? ", " : " | ", name, model->top[i].rate);
	}
}

static void write_text(const struct live_lines *lines, const struct live_model *model)
{
	struct base_output *out = lines->out;

	base_output_format(out, "%8.1f s ", model->seconds);
	if (!model->running) {
		base_output_format(out, "%s\n",
				   model->ends ? "the guest has ended, waiting for another one"
					       : "waiting for a guest");
		return;
	}
	if (model->boots > 1)
		base_output_format(out, " boot %" PRIu64, model->boots);
	base_output_format(out, " %.0f events/s", model->rate);
	if (model->cost >= 0)
		base_output_format(out, ", cost %.2f%%", model->cost * 100);
	base_output_format(out, ", lost %" PRIu64, live_model_lost(model));
	if (live_model_unreadable(model))
		base_output_format(out, ", unreadable %" PRIu64, live_model_unreadable(model));
	base_output_format(out, ", %" PRIu64 " not read", live_model_skipped(model));
	for (uint32_t n = 0; n < model->cpus && n < CPUS_SHOWN; n++)
		write_cpu(out, model, n);
	if (model->cpus > CPUS_SHOWN)
		base_output_format(out, " | and %" PRIu32 " more CPUs", model->cpus - CPUS_SHOWN);
	write_top(out, model, 3);
	base_output_text(out, "\n");
}

/* ---- JSON ---- */

static void write_name(struct base_output *out, const struct ktread *trace, uint32_t thread)
{
	const char *name = trace ? ktread_thread_name(trace, thread) : NULL;

	base_json_put_number(out, "thread", thread);
	if (name && *name)
		base_json_put(out, "name", name);
}

static void write_object_name(struct base_output *out, const char *name)
{
	if (*name)
		base_json_put(out, "object_name", name);
}

static void write_owner(struct base_output *out, uint32_t owner)
{
	if (owner & KTRX_HOLDER_CPU)
		base_output_format(out, ",\"owner_cpu\":%" PRIu32, owner & ~KTRX_HOLDER_CPU);
	else if (owner)
		base_output_format(out, ",\"owner_thread\":%" PRIu32, owner - 1);
}

static void write_cpu_json(struct base_output *out, const struct live_model *model, uint32_t n)
{
	const struct live_cpu *cpu = &model->cpu[n];

	base_output_format(out, "%s{\"cpu\":%" PRIu32 ",\"online\":%s", n ? "," : "", n,
			   cpu->online ? "true" : "false");
	for (unsigned i = 0; i < LIVE_SHARES; i++)
		base_output_format(out, ",\"%s\":%.3f", live_share_name((enum live_share)i), cpu->share[i]);
	base_output_format(out, ",\"now\":\"%s\",\"stuck_seconds\":%.1f,\"heartbeats\":%" PRIu64,
			   live_share_name(cpu->now), cpu->stuck, cpu->heartbeats);
	write_name(out, live_model_trace(model), cpu->thread);
	if (cpu->waits) {
		base_output_format(out, ",\"lock\":\"0x%" PRIx64 "\"", cpu->lock);
		write_object_name(out, cpu->lock_name);
		write_owner(out, cpu->owner);
	}
	base_output_text(out, "}");
}

static void write_top_json(struct base_output *out, const struct live_model *model)
{
	struct ktread *trace = live_model_trace(model);
	char name[TEXT];

	base_output_text(out, ",\"top\":[");
	for (unsigned i = 0; i < LIVE_TOP && model->top[i].rate > 0; i++) {
		const struct ktread_type *type = trace ? ktread_type(trace, model->top[i].id) : NULL;

		if (!type)
			continue;
		snprintf(name, sizeof(name), "%s%s%s", type->group, *type->group ? "." : "", type->name);
		base_json_begin(out, NULL, '{');
		base_json_put_text(out, "event", name);
		base_output_format(out, ",\"rate\":%.1f}", model->top[i].rate);
	}
	base_output_text(out, "]");
}

static void write_waits_json(struct base_output *out, const struct live_model *model)
{
	struct ktread *trace = live_model_trace(model);
	const uint64_t frequency = trace ? ktread_info(trace)->frequency : 0;

	base_output_text(out, ",\"waits\":[");
	for (uint32_t i = 0; i < model->wait_count; i++) {
		base_json_begin(out, NULL, '{');
		write_name(out, trace, model->wait[i].thread);
		base_output_format(out, ",\"object\":\"0x%" PRIx64 "\"", model->wait[i].object);
		write_object_name(out, model->wait[i].name);
		write_owner(out, model->wait[i].owner);
		if (frequency)
			base_output_format(out, ",\"seconds\":%.3f",
					   (double)model->wait[i].ticks / (double)frequency);
		base_output_text(out, "}");
	}
	base_output_text(out, "]");
}

static void write_json(const struct live_lines *lines, const struct live_model *model)
{
	struct base_output *out = lines->out;
	char order[ORDER_TEXT];

	base_output_format(out, "{\"seconds\":%.3f,\"state\":\"%s\",\"boot\":%" PRIu64, model->seconds,
			   model->running ? "running"
			   : model->ends  ? "ended"
					  : "waiting",
			   model->boots);
	base_output_format(out, ",\"events_per_second\":%.1f,\"slots_per_second\":%.1f", model->rate,
			   model->slots);
	base_output_format(out,
			   ",\"lost_slots\":%" PRIu64 ",\"unreadable_slots\":%" PRIu64
			   ",\"slots_not_looked_at\":%" PRIu64,
			   live_model_lost(model), live_model_unreadable(model), live_model_skipped(model));
	if (model->cost >= 0)
		base_output_format(out, ",\"cost\":%.6f", model->cost);
	base_output_text(out, ",\"cpus\":[");
	for (uint32_t n = 0; n < model->cpus; n++)
		write_cpu_json(out, model, n);
	base_output_text(out, "]");
	write_top_json(out, model);
	write_waits_json(out, model);
	if (live_model_trace(model) && order_say_json(live_model_trace(model), order) > 0)
		base_output_format(out, ",%s", order);
	base_output_text(out, "}\n");
}

void live_lines_write(struct live_lines *lines, const struct live_model *model)
{
	if (lines->tail && !lines->json)
		write_tail(lines, &model->tail);
	if (lines->json)
		write_json(lines, model);
	else
		write_text(lines, model);
	base_output_flush(lines->out);
}
