/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "export/views.h"

#include <stdio.h>
#include <string.h>

#include "analyze/order.h"
#include "base/escape.h"
#include "base/json.h"
#include "base/ticks.h"
#include "ktrx/v2.h"

#define BAR 50u

char *stats_time(struct ktread *trace, uint64_t stamp, char *text)
{
	uint64_t frequency = ktread_info(trace)->frequency, base = ktread_first_stamp(trace);
	uint64_t ticks = stamp > base ? stamp - base : 0;
	struct base_ticks_time time;

	if (frequency == 0) {
		snprintf(text, STATS_TIME, "%llu", (unsigned long long)ticks);
		return text;
	}
	time = base_ticks_time(ticks, frequency);
	snprintf(text, STATS_TIME, "%llu.%06u", (unsigned long long)time.seconds, time.microseconds);
	return text;
}

const char *stats_kind_name(enum latencies_kind kind)
{
	static const char *const names[] = {
		[LATENCIES_SYSCALL] = "syscall",     [LATENCIES_IRQ] = "irq",
		[LATENCIES_FAULT] = "fault",	     [LATENCIES_LOCK_WAIT] = "lock wait",
		[LATENCIES_LOCK_HELD] = "lock held", [LATENCIES_RUN_QUEUE] = "run queue",
	};

	return names[kind];
}

char *stats_row_name(const struct stats_table *table, const struct latencies_row *row, char *name)
{
	const char *call = NULL;

	*name = '\0';
	if (!row->has_number)
		return name;
	if (row->kind == LATENCIES_SYSCALL && row->number <= UINT32_MAX)
		call = ktread_syscall_name(table->trace, (uint32_t)row->number);
	if (call)
		snprintf(name, STATS_NAME, "%s", call);
	else
		snprintf(name, STATS_NAME, "%llu%s%s", (unsigned long long)row->number, *row->name ? " " : "",
			 row->name);
	return name;
}

/* Writes "at 0.001234 CPU1 thread 12(worker)". */
static void write_worst(struct base_output *out, struct ktread *trace, const struct pairs_worst *worst)
{
	const char *name = ktread_thread_name(trace, worst->thread);
	char text[STATS_TIME], *at;

	base_output_format(out, "at %s", stats_time(trace, worst->begin, text));
	if (worst->cpu != KTRX_NO_CPU)
		base_output_format(out, " CPU%u", worst->cpu);
	base_output_format(out, " thread %u", worst->thread);
	if (!name)
		return;
	at = base_output_line(out);
	*at++ = '(';
	at = base_escape_text(at, name, strnlen(name, 64), 256);
	*at++ = ')';
	base_output_done(out, at);
}

static void write_figure(struct base_output *out, const char *name, const struct distribution *distribution,
			 distribution_number value)
{
	char text[DISTRIBUTION_TEXT];

	base_output_format(out, "\n  %-6s %16s", name, distribution_text(distribution, value, text));
}

static void write_histogram(struct base_output *out, const struct distribution *distribution)
{
	struct distribution_bins bins;
	char from[DISTRIBUTION_TEXT], to[DISTRIBUTION_TEXT];

	distribution_bins(distribution, &bins);
	base_output_text(out, "\n");
	for (uint32_t n = 0; n < bins.count; n++) {
		const struct distribution_bin *bin = &bins.bin[n];
		uint64_t length = (uint64_t)((unsigned __int128)bin->count * BAR / bins.most);

		base_output_format(
			out, "%14s to %14s %10llu |", distribution_text(distribution, bin->from, from),
			distribution_text(distribution, bin->to, to), (unsigned long long)bin->count);
		for (uint64_t k = 0; k < length || (k == 0 && bin->count); k++)
			base_output_bytes(out, "#", 1);
		base_output_text(out, "\n");
	}
}

static void write_figures(struct base_output *out, const struct stats *stats)
{
	const struct distribution *distribution = &stats->distribution;
	double mean = distribution_mean(distribution);

	write_figure(out, "min", distribution, distribution_least(distribution));
	write_figure(out, "p50", distribution, distribution_rank(distribution, 50, 100));
	write_figure(out, "p90", distribution, distribution_rank(distribution, 90, 100));
	write_figure(out, "p99", distribution, distribution_rank(distribution, 99, 100));
	write_figure(out, "max", distribution, distribution_greatest(distribution));
	if (stats->pairs) {
		base_output_text(out, "  ");
		write_worst(out, stats->trace, &stats->pairs->worst);
	}
	if (stats->distribution.frequency)
		write_figure(out, "mean", distribution, (distribution_number)(mean + 0.5));
	else
		base_output_format(out, "\n  %-6s %16.3f", "mean", mean);
	if (!distribution_is_exact(distribution))
		base_output_format(out,
				   "\n"
				   "  (p50, p90 and p99 are up to 1/%u too great, "
				   "because values are counted in buckets)",
				   HISTOGRAM_STEPS);
	base_output_text(out, "\n");
	write_histogram(out, distribution);
}

static void write_unmatched(struct base_output *out, const struct pairs_result *pairs)
{
	base_output_format(out, "\n  unmatched: %llu begun, %llu ended", (unsigned long long)pairs->begins,
			   (unsigned long long)pairs->ends);
	if (pairs->dropped)
		base_output_format(out, "\n  dropped: %llu, slots are missing in between",
				   (unsigned long long)pairs->dropped);
	if (pairs->switched)
		base_output_format(out, "\n  switched: %llu, an event was off or folded in between",
				   (unsigned long long)pairs->switched);
	if (pairs->keyless)
		base_output_format(out, "\n  without a key: %llu events", (unsigned long long)pairs->keyless);
	if (pairs->left_out)
		base_output_format(out, "\n  left out: %llu, too many were open at the same time",
				   (unsigned long long)pairs->left_out);
}

void stats_write_text(struct base_output *out, const struct stats *stats)
{
	base_output_format(out, "%s\n  %-6s %16llu", stats->title, "count",
			   (unsigned long long)distribution_count(&stats->distribution));
	if (stats->pairs)
		write_unmatched(out, stats->pairs);
	else if (stats->missing)
		base_output_format(out, "\n  without the value: %llu events",
				   (unsigned long long)stats->missing);
	if (distribution_count(&stats->distribution) > 0)
		write_figures(out, stats);
	else
		base_output_text(out, "\n");
}

static void write_cell(struct base_output *out, const struct distribution *distribution,
		       distribution_number value)
{
	char text[DISTRIBUTION_TEXT];

	base_output_format(out, " %12s", distribution_text(distribution, value, text));
}

static void write_row(struct base_output *out, const struct stats_table *table, struct latencies_row *row)
{
	struct distribution distribution =
		distribution_of_ticks(&row->ticks, ktread_info(table->trace)->frequency);
	char name[STATS_NAME], *at;
	size_t length;

	stats_row_name(table, row, name);
	at = base_output_line(out);
	length = (size_t)snprintf(at, 32, "%s%s", stats_kind_name(row->kind), *name ? " " : "");
	length = (size_t)(base_escape_text(at + length, name, strlen(name), 26 - length) - at);
	memset(at + length, ' ', 26 - length);
	base_output_done(out, at + 26);
	base_output_format(out, "%10llu %8llu", (unsigned long long)row->ticks.count,
			   (unsigned long long)row->dropped);
	if (row->ticks.count) {
		write_cell(out, &distribution, distribution_least(&distribution));
		write_cell(out, &distribution, distribution_rank(&distribution, 50, 100));
		write_cell(out, &distribution, distribution_rank(&distribution, 90, 100));
		write_cell(out, &distribution, distribution_rank(&distribution, 99, 100));
		write_cell(out, &distribution, distribution_greatest(&distribution));
		base_output_text(out, "  ");
		write_worst(out, table->trace, &row->worst);
	}
	base_output_text(out, "\n");
}

static uint32_t n_of_kind(const struct latencies *latencies, enum latencies_kind kind)
{
	uint32_t count = 0;

	for (uint32_t n = 0; n < latencies->rows; n++)
		count += latencies->row[n].kind == kind;
	return count;
}

void stats_table_write_text(struct base_output *out, const struct stats_table *table)
{
	const struct latencies *latencies = table->latencies;
	uint64_t switched = 0;
	bool exact = true;

	if (latencies->rows == 0 && !latencies->threadless)
		base_output_text(
			out,
			"no event here begins or ends a duration: doc/events.md has the events that do\n");
	else if (latencies->rows)
		base_output_format(out, "%-26s%10s %8s %12s %12s %12s %12s %12s  %s\n", "", "count", "no end",
				   "min", "p50", "p90", "p99", "max", "the longest");
	for (uint32_t n = 0; n < latencies->rows; n++) {
		write_row(out, table, &table->latencies->row[n]);
		exact = exact && !latencies->row[n].ticks.counted;
		switched += latencies->row[n].switched;
	}
	if (!exact)
		base_output_format(out, "p50, p90 and p99 of more than %u are up to 1/%u too great\n",
				   HISTOGRAM_EXACT, HISTOGRAM_STEPS);
	if (switched)
		base_output_format(
			out,
			"not measured: %llu, because an event that they need was, or may have been, "
			"off or folded in between\n",
			(unsigned long long)switched);
	if (latencies->threadless)
		base_output_format(
			out,
			"not measured: %llu events without a thread: several threads record them as "
			"thread 0, so beginnings and ends cannot be paired\n",
			(unsigned long long)latencies->threadless);
	if (latencies->unpaired)
		base_output_format(out, "%llu ends without a beginning, or beginnings without an end\n",
				   (unsigned long long)latencies->unpaired);
	if (latencies->states_unknown && n_of_kind(latencies, LATENCIES_RUN_QUEUE))
		base_output_format(
			out,
			"%s: sched.switch gives state 0 every time, so whether a woken thread slept is %s\n",
			stats_kind_name(LATENCIES_RUN_QUEUE),
			latencies->announced ? "taken from sched.block only" : "unknown");
	if (latencies->left_out)
		base_output_format(out, "%llu more durations: there are too many different numbers\n",
				   (unsigned long long)latencies->left_out);
}

/* ---- Histograms as SVG ---- */

#define WIDTH  760u
#define LEFT   130.0
#define RIGHT  90.0
#define TOP    62.0
#define ROW    18.0
#define BOTTOM 16.0

static void write_caption(struct base_output *out, const struct stats *stats)
{
	const struct distribution *distribution = &stats->distribution;
	char text[6 * DISTRIBUTION_TEXT], p50[DISTRIBUTION_TEXT], p99[DISTRIBUTION_TEXT],
		most[DISTRIBUTION_TEXT];

	svg_text(out, "head", 12, 22, "start", WIDTH - 24.0, stats->title);
	if (distribution_count(distribution) == 0) {
		svg_text(out, "dim", 12, 42, "start", WIDTH - 24.0, "nothing to count");
		return;
	}
	snprintf(text, sizeof(text), "%llu, p50 %s, p99 %s, max %s",
		 (unsigned long long)distribution_count(distribution),
		 distribution_text(distribution, distribution_rank(distribution, 50, 100), p50),
		 distribution_text(distribution, distribution_rank(distribution, 99, 100), p99),
		 distribution_text(distribution, distribution_greatest(distribution), most));
	svg_text(out, "dim", 12, 42, "start", WIDTH - 24.0, text);
}

static void write_bin(struct base_output *out, const struct distribution *distribution,
		      const struct distribution_bins *bins, uint32_t n)
{
	const struct distribution_bin *bin = &bins->bin[n];
	double y = TOP + n * ROW, width = (double)bin->count / (double)bins->most * (WIDTH - LEFT - RIGHT);
	char from[DISTRIBUTION_TEXT], to[DISTRIBUTION_TEXT], text[3 * DISTRIBUTION_TEXT];

	distribution_text(distribution, bin->from, from);
	svg_text(out, "dim", LEFT - 8, y + 12, "end", LEFT - 12, from);
	if (bin->count == 0)
		return;
	snprintf(text, sizeof(text), "%s to %s: %llu", from, distribution_text(distribution, bin->to, to),
		 (unsigned long long)bin->count);
	svg_box(out, "c0", LEFT, y + 1, width, ROW - 2, text);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)bin->count);
	svg_text(out, "count", LEFT + width + 6, y + 12, "start", RIGHT, text);
}

void stats_write_svg(struct base_output *out, const struct stats *stats)
{
	struct distribution_bins bins = { .count = 0 };

	if (distribution_count(&stats->distribution) > 0)
		distribution_bins(&stats->distribution, &bins);
	svg_begin(out, WIDTH, (unsigned)(TOP + bins.count * ROW + BOTTOM), stats->title);
	write_caption(out, stats);
	svg_line(out, "grid", LEFT, TOP, LEFT, TOP + bins.count * ROW);
	for (uint32_t n = 0; n < bins.count; n++)
		write_bin(out, &stats->distribution, &bins, n);
	svg_end(out);
}

/* ---- Output as JSON ---- */

static void write_order(struct base_output *out, const struct ktread *trace)
{
	char order[ORDER_TEXT];

	if (order_say_json(trace, order) > 0)
		base_output_format(out, ",\n%s", order);
}

static void write_number_json(struct base_output *out, const char *name, distribution_number value)
{
	base_json_key(out, name);
	distribution_write_number(out, value);
}

static void write_worst_json(struct base_output *out, struct ktread *trace, const struct pairs_worst *worst)
{
	char begin[STATS_TIME], end[STATS_TIME];

	base_json_begin(out, "longest", '{');
	base_json_put_format(out, "begin", "%s", stats_time(trace, worst->begin, begin));
	base_json_put_format(out, "end", "%s", stats_time(trace, worst->end, end));
	base_json_put_known(out, "cpu", worst->cpu != KTRX_NO_CPU, worst->cpu);
	base_json_put_number(out, "thread", worst->thread);
	base_output_text(out, "}");
}

static void write_figures_json(struct base_output *out, const struct distribution *distribution)
{
	base_json_put_text(out, "unit", distribution->unit);
	write_number_json(out, "count", distribution_count(distribution));
	if (distribution_count(distribution) == 0)
		return;
	write_number_json(out, "min", distribution_least(distribution));
	write_number_json(out, "p50", distribution_rank(distribution, 50, 100));
	write_number_json(out, "p90", distribution_rank(distribution, 90, 100));
	write_number_json(out, "p99", distribution_rank(distribution, 99, 100));
	write_number_json(out, "max", distribution_greatest(distribution));
	base_json_put_format(out, "mean", "%.3f", distribution_mean(distribution));
	base_json_put_bool(out, "exact", distribution_is_exact(distribution));
}

static void write_histogram_json(struct base_output *out, const struct distribution *distribution)
{
	struct distribution_bins bins;

	distribution_bins(distribution, &bins);
	base_json_begin(out, "histogram", '[');
	for (uint32_t n = 0; n < bins.count; n++) {
		base_json_begin(out, NULL, '{');
		write_number_json(out, "from", bins.bin[n].from);
		write_number_json(out, "to", bins.bin[n].to);
		write_number_json(out, "count", bins.bin[n].count);
		base_output_text(out, "}");
	}
	base_output_text(out, "]");
}

void stats_write_json(struct base_output *out, const struct stats *stats)
{
	const struct pairs_result *pairs = stats->pairs;

	base_output_text(out, "{");
	base_json_put_text(out, "of", stats->title);
	write_figures_json(out, &stats->distribution);
	if (pairs) {
		write_number_json(out, "unmatched_begins", pairs->begins);
		write_number_json(out, "unmatched_ends", pairs->ends);
		write_number_json(out, "dropped", pairs->dropped);
		write_number_json(out, "switched", pairs->switched);
		write_number_json(out, "without_key", pairs->keyless);
		write_number_json(out, "left_out", pairs->left_out);
	} else {
		write_number_json(out, "without_value", stats->missing);
	}
	if (distribution_count(&stats->distribution) > 0) {
		if (pairs)
			write_worst_json(out, stats->trace, &pairs->worst);
		write_histogram_json(out, &stats->distribution);
	}
	write_order(out, stats->trace);
	base_output_text(out, "}\n");
}

static void write_row_json(struct base_output *out, const struct stats_table *table,
			   struct latencies_row *row)
{
	struct distribution distribution =
		distribution_of_ticks(&row->ticks, ktread_info(table->trace)->frequency);
	char name[STATS_NAME];

	base_output_text(out, "{");
	base_json_put_text(out, "kind", stats_kind_name(row->kind));
	if (row->has_number) {
		write_number_json(out, "number", row->number);
		base_json_put_text(out, "name", stats_row_name(table, row, name));
	}
	write_figures_json(out, &distribution);
	write_number_json(out, "no_end", row->dropped);
	write_number_json(out, "switched", row->switched);
	if (row->ticks.count)
		write_worst_json(out, table->trace, &row->worst);
	base_output_text(out, "}");
}

void stats_table_write_json(struct base_output *out, const struct stats_table *table)
{
	base_output_text(out, "{\"rows\":[");
	for (uint32_t n = 0; n < table->latencies->rows; n++) {
		base_output_text(out, n ? ",\n" : "\n");
		write_row_json(out, table, &table->latencies->row[n]);
	}
	base_output_text(out, "]");
	write_number_json(out, "unpaired", table->latencies->unpaired);
	write_number_json(out, "left_out", table->latencies->left_out);
	if (table->latencies->threadless)
		write_number_json(out, "threadless", table->latencies->threadless);
	if (table->latencies->states_unknown)
		base_json_put_text(out, "states", table->latencies->announced ? "announced" : "unknown");
	write_order(out, table->trace);
	base_output_text(out, "}\n");
}
