/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "live/live.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/note.h"
#include "analyze/threads.h"
#include "base/ticks.h"
#include "live/details.h"

#define WARM_NS UINT64_C(300000000)
#define DAY_NS	(UINT64_C(86400) * 1000000000)

static uint64_t time_now(const struct live_model *model)
{
	return model->source->now(model->source->context);
}

int live_model_open(struct live_model *model, const struct live_source *source)
{
	memset(model, 0, sizeof(*model));
	model->source = source;
	model->tail.filter.pid = -1;
	model->cost = -1;
	model->opened = model->began = time_now(model);
	model->cpu = calloc(LIVE_CPUS_MAX, sizeof(*model->cpu));
	model->row = calloc(LIVE_CPUS_MAX, sizeof(*model->row));
	model->rates = live_rates_open();
	model->waits = live_waits_open();
	if (model->cpu && model->row && model->rates && model->waits)
		return 0;
	live_model_close(model);
	return KTREAD_E_MEMORY;
}

int live_model_detail(struct live_model *model)
{
	if (!model->details)
		model->details = calloc(1, sizeof(*model->details));
	return model->details ? 0 : KTREAD_E_MEMORY;
}

void live_model_close(struct live_model *model)
{
	if (model->details)
		live_details_restart(model->details);
	free(model->details);
	free(model->cpu);
	free(model->row);
	live_rates_close(model->rates);
	live_waits_close(model->waits);
}

struct ktread *live_model_trace(const struct live_model *model)
{
	return model->running ? model->source->trace(model->source->context) : NULL;
}

/*
 * Returns what is known about the event's type. If the trace is not the trace of the previous call, forgets
 * all types first: in the new trace, an id may belong to another type.
 */
static const struct wellknown *know(struct live_model *model, const struct ktread_event *event)
{
	const struct ktread *trace = live_model_trace(model);

	if (trace != model->known_trace)
		memset(&model->known, 0, sizeof(model->known));
	model->known_trace = trace;
	return wellknown_of(&model->known, event);
}

static bool is_named_idle(const struct ktread *trace, uint32_t thread)
{
	const char *name = ktread_thread_name(trace, thread);

	return name && threads_name_is_idle(name, strlen(name));
}

static bool is_idle(const struct live_model *model, const struct ktread_event *event,
		    const struct wellknown *known)
{
	uint32_t thread = event->thread;

	if (known->kind == WELLKNOWN_SWITCH)
		wellknown_thread(known, event, WELLKNOWN_NEXT, &thread);
	return thread == 0 || is_named_idle(live_model_trace(model), thread);
}

static int take_event(struct live_model *model, const struct ktread_event *event)
{
	const struct wellknown *known = know(model, event);
	int status = 0;

	if (event->cpu < LIVE_CPUS_MAX)
		live_cpu_event(&model->cpu[event->cpu], event, known, is_idle(model, event, known));
	if (!model->counts && event->cpu < LIVE_CPUS_MAX)
		live_cpu_discard_times(&model->cpu[event->cpu]);
	if (model->counts)
		live_rates_event(model->rates, event);
	live_tail_event(&model->tail, live_model_trace(model), event, known);
	if (model->details && model->counts)
		status = live_details_event(model->details, live_model_trace(model), event, known);
	return status ? status : live_waits_event(model->waits, event, known);
}

/* Forgets what was known about the previous guest or boot. */
static int forget(struct live_model *model)
{
	memset(model->cpu, 0, LIVE_CPUS_MAX * sizeof(*model->cpu));
	model->cpus = 0;
	model->known_trace = NULL;
	model->tail.base = 0;
	model->cost = -1;
	live_rates_restart(model->rates);
	if (model->details)
		live_details_restart(model->details);
	return live_waits_restart(model->waits);
}

static int begin_boot(struct live_model *model)
{
	char text[64];

	model->boots++;
	model->running = true;
	model->warm = time_now(model) + WARM_NS;
	model->counts = false;
	model->tail.begun = model->tail.lines;
	if (model->boots > 1) {
		snprintf(text, sizeof(text), "--- boot %llu ---", (unsigned long long)model->boots);
		live_tail_note(&model->tail, text);
	}
	return forget(model);
}

static int end_guest(struct live_model *model)
{
	/* this guest had no boot, because its file never contained a trace */
	if (!model->running)
		return 0;
	model->running = false;
	model->ends++;
	live_tail_note(&model->tail, "--- the guest has ended ---");
	return forget(model);
}

int live_model_take(struct live_model *model, const struct ktread_followed *now)
{
	switch (now->kind) {
	case KTREAD_FOLLOWED_EVENT:
		return take_event(model, now->event);
	case KTREAD_FOLLOWED_BOOT:
		return begin_boot(model);
	case KTREAD_FOLLOWED_END:
		return end_guest(model);
	default: /* ignore an item that reports a loss, because the counts of slots contain all losses */
		return 0;
	}
}

/* Begins counting the events and slots of this boot. */
static void begin_counting(struct live_model *model, uint64_t now)
{
	model->counts = true;
	model->warm = now;
	model->before = model->now;
	/* slots that the first guest recorded before it was found do not count as lost */
	if (!model->based)
		model->base = model->now;
	model->based = true;
}

/*
 * Returns the time in ns from the CPU's newest timestamp to `newest`, the newest timestamp of all CPUs.
 * Returns 0 if it is unknown, or longer than a day, which is not plausible.
 */
static uint64_t age_of(const struct ktrx_cpu *row, uint64_t newest, uint64_t frequency)
{
	uint64_t age;

	if (row->now == 0 || frequency == 0)
		return 0;
	age = base_ticks_nanoseconds_exact(newest - row->now, frequency);
	return age > DAY_NS ? 0 : age;
}

/* Takes samples of the CPUs, and reads the counts of slots. */
static int live_model_sample(struct live_model *model)
{
	const struct live_source *source = model->source;
	const uint64_t now = time_now(model);
	struct ktread *trace = live_model_trace(model);
	uint64_t newest = 0;
	bool any_heartbeat = false;
	int rows;

	source->account(source->context, &model->now);
	if (!trace)
		return 0;
	if (!model->counts && now >= model->warm)
		begin_counting(model, now);
	if (model->counts)
		live_rates_settle(model->rates, trace);
	rows = source->cpus(source->context, model->row, LIVE_CPUS_MAX);
	if (rows < 0)
		return rows;
	model->cpus = (uint32_t)rows;
	for (int i = 0; i < rows; i++) {
		any_heartbeat = any_heartbeat || model->row[i].heartbeats;
		newest = model->row[i].now > newest ? model->row[i].now : newest;
	}
	for (int i = 0; i < rows; i++) {
		model->cpu[i].named_idle = is_named_idle(trace, model->row[i].thread & KTRX_THREAD_MAX);
		live_cpu_sample(&model->cpu[i], &model->row[i], any_heartbeat,
				age_of(&model->row[i], newest, ktread_info(trace)->frequency), now);
	}
	if (model->details)
		live_details_sample(model->details, model->cpu, model->cpus);
	return 0;
}

/* Converts a product to an integer. Returns 0 if the product is no possible number of events or ticks. */
static uint64_t whole(double product)
{
	return product >= 0 && product < 9e18 ? (uint64_t)product : 0;
}

/* Converts seconds to ticks of the guest's clock. Returns 0 if the frequency is unknown or impossible. */
static uint64_t ticks_of(const struct live_model *model, double seconds)
{
	const struct ktread *trace = live_model_trace(model);

	return trace ? whole(seconds * (double)ktread_info(trace)->frequency) : 0;
}

/* Returns the fraction of the CPUs' time that was used for recording; negative if it is unknown. */
static double cost_now(const struct live_model *model, double seconds)
{
	const struct ktread *trace = live_model_trace(model);
	const uint64_t cost = trace ? cost_of(trace) : 0, ticks = ticks_of(model, seconds);

	if (cost == 0 || ticks == 0)
		return -1;
	return cost_share(cost, whole(model->rate * seconds), ticks, ktread_info(trace)->cpus);
}

static double since(uint64_t then, uint64_t now)
{
	return now > then ? (double)(now - then) / 1e9 : 0;
}

/*
 * Lists waits from the table of holders. If the kernel has no such table, or it cannot be read now, lists
 * waits from events.
 */
static void list_waits(struct live_model *model)
{
	struct live_holders holders = { .cpu = model->cpu, .cpus = model->cpus, .wait = model->wait };

	for (uint32_t i = 0; i < model->cpus; i++)
		holders.now = model->row[i].now > holders.now ? model->row[i].now : holders.now;
	if (!model->running || live_holders_read(&holders, model->source) < 0 || !holders.present)
		model->wait_count = live_waits_list(model->waits, model->wait);
	else
		model->wait_count = holders.wait_count;
}

/* Ends an interval: computes its rates and shares. */
static void live_model_end(struct live_model *model)
{
	const uint64_t now = time_now(model), from = model->began > model->warm ? model->began : model->warm;
	const double seconds = since(from, now);

	model->seconds = since(model->opened, now);
	model->rate = live_rates_end(model->rates, seconds, model->top);
	model->slots = seconds > 0 && model->now.produced >= model->before.produced
			       ? (double)(model->now.produced - model->before.produced) / seconds
			       : 0;
	model->before = model->now;
	model->cost = cost_now(model, seconds);
	list_waits(model);
	if (model->details && live_details_end(model->details, model, seconds) < 0)
		model->details->threads = 0;
	for (uint32_t i = 0; i < model->cpus; i++)
		live_cpu_close(&model->cpu[i], ticks_of(model, seconds));
	model->began = now;
}

uint64_t live_model_lost(const struct live_model *model)
{
	return model->based ? model->now.overwritten - model->base.overwritten : 0;
}

uint64_t live_model_unreadable(const struct live_model *model)
{
	return model->based ? model->now.unreadable - model->base.unreadable : 0;
}

uint64_t live_model_skipped(const struct live_model *model)
{
	return model->based ? model->now.skipped - model->base.skipped : 0;
}

#define SAMPLE_NS UINT64_C(25000000)
#define MS	  UINT64_C(1000000)
#define BATCH	  4096u /* number of items that are processed before the clock is read again */

static uint64_t host_now(const struct live_watch *watch)
{
	return watch->source->now(watch->source->context);
}

/*
 * Processes items of the source until the time `until`, or until watch->stop is set. Asks the source at least
 * once, because `until` may have passed already if the host has not run this process for some time. Returns 0
 * or an error.
 */
static int take(const struct live_watch *watch, struct live_model *model, uint64_t until)
{
	const struct live_source *source = watch->source;
	struct ktread_followed followed;
	uint64_t now = host_now(watch);
	uint32_t taken = 0;

	do {
		uint64_t left = now < until ? until - now : 0;
		int status = source->next(source->context, &followed, (int)((left + MS - 1) / MS));

		if (status > 0)
			status = live_model_take(model, &followed);
		else if (status == 0)
			taken = 0;
		if (status < 0)
			return status;
		if (taken++ % BATCH == 0)
			now = host_now(watch);
	} while (now < until && !*watch->stop);
	return 0;
}

int live_watch(const struct live_watch *watch, struct live_model *model, const struct live_view *view)
{
	uint64_t shown = 0, next_show = host_now(watch) + watch->interval, next_sample = host_now(watch);
	int status, result = 0;

	while (!*watch->stop && result != 1 && (watch->count == 0 || shown < watch->count)) {
		next_sample += SAMPLE_NS;
		if (next_sample > next_show)
			next_sample = next_show;
		status = take(watch, model, next_sample);
		if (status == 0)
			status = live_model_sample(model);
		if (status < 0)
			return status;
		if (host_now(watch) >= next_show) {
			live_model_end(model);
			shown++;
			result = view->show(view->context, model);
			next_show = host_now(watch) + watch->interval;
		}
		if (view->attend && result == 0)
			result = view->attend(view->context, model);
		if (result == 2)
			result = view->show(view->context, model);
		next_sample = host_now(watch);
	}
	return 0;
}
