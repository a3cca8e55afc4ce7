/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "export/views.h"

#include <stdio.h>
#include <stdlib.h>

#include "analyze/order.h"
#include "base/json.h"

/* number of elements of a table indexed by CPU; the last element is for unknown CPUs */
#define CPUS 4097u

struct cpu {
	uint64_t now; /* number of events in the current interval */
	uint64_t most;
	uint64_t events;
	uint64_t most_at; /* timestamp at which the interval with the largest number of events began */
};

struct rates {
	struct base_output *out;
	struct ktread *trace;
	const struct rates_options *options;
	uint64_t base, frequency;
	uint64_t interval;    /* number of the current interval */
	uint64_t first, last; /* timestamps of the first and last event that passed the filter */
	uint32_t cpus;	      /* highest number of a CPU that has events, plus 1 */
	bool begun;
	/* true if an interval was written to the JSON output, so that the next interval needs a comma */
	bool listed;
	struct cpu all, cpu[CPUS];
};

static const char *name_cpu(const struct rates *rates, uint32_t cpu, char name[16])
{
	const bool json = rates->options->json;

	if (cpu == CPUS - 1)
		return json ? "unknown" : "CPU?";
	snprintf(name, 16, json ? "%u" : "CPU%u", cpu);
	return name;
}

static double per_second(const struct rates *rates, uint64_t events, uint64_t ticks)
{
	return (double)events * (double)rates->frequency / (double)ticks;
}

static void write_text(struct rates *rates, const char *time)
{
	char name[16];

	base_output_format(rates->out, "[%13s] %10llu", time, (unsigned long long)rates->all.now);
	if (rates->frequency)
		base_output_format(rates->out, " %12.0f/s",
				   per_second(rates, rates->all.now, rates->options->interval));
	base_output_text(rates->out, " ");
	for (uint32_t n = 0; n < rates->cpus; n++) {
		if (rates->cpu[n].now == 0)
			continue;
		base_output_format(rates->out, " %s %llu", name_cpu(rates, n, name),
				   (unsigned long long)rates->cpu[n].now);
	}
	base_output_text(rates->out, "\n");
}

static void write_json(struct rates *rates, const char *time)
{
	char name[16];

	base_output_text(rates->out, rates->listed ? ",\n{" : "\n{");
	base_json_put_format(rates->out, "time", "%s", time);
	base_json_put_number(rates->out, "events", rates->all.now);
	base_json_begin(rates->out, "cpus", '{');
	for (uint32_t n = 0; n < rates->cpus; n++)
		if (rates->cpu[n].now)
			base_json_put_number(rates->out, name_cpu(rates, n, name), rates->cpu[n].now);
	base_output_text(rates->out, "}}");
	rates->listed = true;
}

static void close_count(struct cpu *cpu, uint64_t at)
{
	cpu->events += cpu->now;
	if (cpu->now > cpu->most) {
		cpu->most = cpu->now;
		cpu->most_at = at;
	}
	cpu->now = 0;
}

static void end_interval(struct rates *rates)
{
	uint64_t begin = rates->base + rates->interval * rates->options->interval;
	char time[STATS_TIME];

	stats_time(rates->trace, begin, time);
	if (rates->options->json)
		write_json(rates, time);
	else
		write_text(rates, time);
	close_count(&rates->all, begin);
	for (uint32_t n = 0; n < rates->cpus; n++)
		close_count(&rates->cpu[n], begin);
}

static void take(struct rates *rates, const struct ktread_event *event)
{
	uint64_t ticks = event->stamp > rates->base ? event->stamp - rates->base : 0;
	uint64_t interval = ticks / rates->options->interval;
	uint32_t cpu = event->cpu < CPUS - 1 ? event->cpu : CPUS - 1;

	if (rates->begun && interval != rates->interval) {
		end_interval(rates);
		if (interval - rates->interval > 1 && !rates->options->json)
			base_output_format(rates->out, "%15s %10u  in each of the next %llu\n", "", 0u,
					   (unsigned long long)(interval - rates->interval - 1));
	}
	if (!rates->begun)
		rates->first = event->stamp;
	rates->begun = true;
	rates->interval = interval;
	rates->last = event->stamp;
	rates->cpus = cpu >= rates->cpus ? cpu + 1 : rates->cpus;
	rates->cpu[cpu].now++;
	rates->all.now++;
}

/*
 * Writes totals. The rate is an average over the time from the first event to the last event, as in `ktrace
 * summary`. Writes no rate if that time is 0 or the frequency is unknown.
 */
static void write_sum(struct rates *rates, const struct cpu *cpu)
{
	uint64_t span = rates->last - rates->first;
	bool has_rate = rates->frequency && span;
	char time[STATS_TIME];

	stats_time(rates->trace, cpu->most_at, time);
	if (rates->options->json) {
		base_output_text(rates->out, ":{");
		base_json_put_number(rates->out, "events", cpu->events);
		if (has_rate)
			base_json_put_format(rates->out, "per_second", "%.3f",
					     per_second(rates, cpu->events, span));
		if (cpu->events) {
			base_json_put_number(rates->out, "most", cpu->most);
			base_json_put_format(rates->out, "most_at", "%s", time);
		}
		base_output_text(rates->out, "}");
		return;
	}
	base_output_format(rates->out, "%12llu event%s", (unsigned long long)cpu->events,
			   cpu->events == 1 ? " " : "s");
	if (has_rate)
		base_output_format(rates->out, " %12.0f/s", per_second(rates, cpu->events, span));
	if (cpu->events)
		base_output_format(rates->out, ", most in an interval: %llu at %s",
				   (unsigned long long)cpu->most, time);
	base_output_text(rates->out, "\n");
}

static void write_sums(struct rates *rates)
{
	const bool json = rates->options->json;
	char name[16], order[ORDER_TEXT];

	base_output_text(rates->out, json ? "],\n\"sum\":{\"all\"" : "\nall     ");
	write_sum(rates, &rates->all);
	for (uint32_t n = 0; n < rates->cpus; n++) {
		if (rates->cpu[n].events == 0)
			continue;
		base_output_format(rates->out, json ? ",\"%s\"" : "%-8s", name_cpu(rates, n, name));
		write_sum(rates, &rates->cpu[n]);
	}
	if (!json)
		return;
	base_output_text(rates->out, "}");
	if (order_say_json(rates->trace, order) > 0)
		base_output_format(rates->out, ",\n%s", order);
	base_output_text(rates->out, "}\n");
}

int rates_write(struct base_output *out, struct ktread *trace, const struct rates_options *options)
{
	struct rates *rates = calloc(1, sizeof(*rates));
	const struct ktread_event *event;
	int status;

	if (!rates)
		return KTREAD_E_MEMORY;
	rates->out = out;
	rates->trace = trace;
	rates->options = options;
	rates->base = ktread_first_stamp(trace);
	rates->frequency = ktread_info(trace)->frequency;
	if (options->json)
		base_output_format(out, "{\"interval_ticks\":%llu,\"intervals\":[",
				   (unsigned long long)options->interval);
	while ((status = ktread_next(trace, &event)) > 0 && !out->error)
		take(rates, event);
	if (rates->begun)
		end_interval(rates);
	write_sums(rates);
	free(rates);
	return status;
}
