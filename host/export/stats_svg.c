/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <stdio.h>

#include "export/stats.h"
#include "export/svg.h"

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
