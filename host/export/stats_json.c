/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <string.h>

#include "analyze/order.h"
#include "base/json.h"
#include "export/stats.h"
#include "ktrx/v2.h"

static void write_order(struct base_output *out, const struct ktread *trace)
{
	char order[ORDER_TEXT];

	if (order_say_json(trace, order) > 0)
		base_output_format(out, ",\n%s", order);
}

static void number(struct base_output *out, const char *name, distribution_number value)
{
	base_json_key(out, name);
	distribution_write_number(out, value);
}

static void write_worst(struct base_output *out, struct ktread *trace, const struct pairs_worst *worst)
{
	char begin[STATS_TIME], end[STATS_TIME];

	base_json_begin(out, "longest", '{');
	base_json_put_format(out, "begin", "%s", stats_time(trace, worst->begin, begin));
	base_json_put_format(out, "end", "%s", stats_time(trace, worst->end, end));
	base_json_put_known(out, "cpu", worst->cpu != KTRX_NO_CPU, worst->cpu);
	base_json_put_number(out, "thread", worst->thread);
	base_output_text(out, "}");
}

static void write_figures(struct base_output *out, const struct distribution *distribution)
{
	base_json_put_text(out, "unit", distribution->unit);
	number(out, "count", distribution_count(distribution));
	if (distribution_count(distribution) == 0)
		return;
	number(out, "min", distribution_least(distribution));
	number(out, "p50", distribution_rank(distribution, 50, 100));
	number(out, "p90", distribution_rank(distribution, 90, 100));
	number(out, "p99", distribution_rank(distribution, 99, 100));
	number(out, "max", distribution_greatest(distribution));
	base_json_put_format(out, "mean", "%.3f", distribution_mean(distribution));
	base_json_put_bool(out, "exact", distribution_is_exact(distribution));
}

static void write_histogram(struct base_output *out, const struct distribution *distribution)
{
	struct distribution_bins bins;

	distribution_bins(distribution, &bins);
	base_json_begin(out, "histogram", '[');
	for (uint32_t n = 0; n < bins.count; n++) {
		base_json_begin(out, NULL, '{');
		number(out, "from", bins.bin[n].from);
		number(out, "to", bins.bin[n].to);
		number(out, "count", bins.bin[n].count);
		base_output_text(out, "}");
	}
	base_output_text(out, "]");
}

void stats_write_json(struct base_output *out, const struct stats *stats)
{
	const struct pairs_result *pairs = stats->pairs;

	base_output_text(out, "{");
	base_json_put_text(out, "of", stats->title);
	write_figures(out, &stats->distribution);
	if (pairs) {
		number(out, "unmatched_begins", pairs->begins);
		number(out, "unmatched_ends", pairs->ends);
		number(out, "dropped", pairs->dropped);
		number(out, "switched", pairs->switched);
		number(out, "without_key", pairs->keyless);
		number(out, "left_out", pairs->left_out);
	} else {
		number(out, "without_value", stats->missing);
	}
	if (distribution_count(&stats->distribution) > 0) {
		if (pairs)
			write_worst(out, stats->trace, &pairs->worst);
		write_histogram(out, &stats->distribution);
	}
	write_order(out, stats->trace);
	base_output_text(out, "}\n");
}

static void write_row(struct base_output *out, const struct stats_table *table, struct latencies_row *row)
{
	struct distribution distribution =
		distribution_of_ticks(&row->ticks, ktread_info(table->trace)->frequency);
	char name[STATS_NAME];

	base_output_text(out, "{");
	base_json_put_text(out, "kind", stats_kind_name(row->kind));
	if (row->has_number) {
		number(out, "number", row->number);
		base_json_put_text(out, "name", stats_row_name(table, row, name));
	}
	write_figures(out, &distribution);
	number(out, "no_end", row->dropped);
	if (row->ticks.count)
		write_worst(out, table->trace, &row->worst);
	base_output_text(out, "}");
}

void stats_table_write_json(struct base_output *out, const struct stats_table *table)
{
	base_output_text(out, "{\"rows\":[");
	for (uint32_t n = 0; n < table->latencies->rows; n++) {
		base_output_text(out, n ? ",\n" : "\n");
		write_row(out, table, &table->latencies->row[n]);
	}
	base_output_text(out, "]");
	number(out, "unpaired", table->latencies->unpaired);
	number(out, "left_out", table->latencies->left_out);
	if (table->latencies->states_unknown)
		base_json_put_text(out, "states", table->latencies->announced ? "announced" : "unknown");
	write_order(out, table->trace);
	base_output_text(out, "}\n");
}
