/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * measure [RECORDS...]: measures the CPU time and memory of whole decoder processes. Runs of ktrace
 * alternate with runs of a minimal decoder, "the floor"; the fastest of several runs is used. Prints JSON
 * lines on stdout, the limits on stderr. Exits with 1 if a limit is exceeded or the timeline differs from
 * the floor's timeline.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../cost.h"
#include "../short.h"

#define BIN "build/bin" /* the directory of the program ktrace */
/* Directory of the bench's programs, and of the traces while they are in use. */
#define WORK	   "build/bench/decode"
#define PATH_BYTES 128
#define MILLION	   1048576.0

enum { TIMELINE, SUMMARY, JSON, FLOOR_TIMELINE, FLOOR_SUMMARY, PROGRAMS };

static const char *const names[PROGRAMS] = { "timeline", "summary", "json", "floor timeline",
					     "floor summary" };

static void measure(char *trace, double records, struct cost *best)
{
	char *argv[PROGRAMS][8] = {
		[TIMELINE] = { BIN "/ktrace-decode", "--calls", "linux", trace },
		[SUMMARY] = { BIN "/ktrace", "summary", trace },
		[JSON] = { BIN "/ktrace", "export", "--format", "json", trace, "-o", "/dev/null" },
		[FLOOR_TIMELINE] = { WORK "/floor_v1", "timeline", trace },
		[FLOOR_SUMMARY] = { WORK "/floor_v1", "summary", trace },
	};
	int rounds = bench_times(records > 16 * MILLION ? 3 : 7);

	for (int round = 0; round < rounds; round++) {
		for (int n = 0; n < PROGRAMS; n++) {
			struct cost cost = cost_run(argv[n], records);

			if (round == 0)
				best[n] = cost;
			cost_keep_best(&best[n], cost);
		}
	}
	for (int n = 0; n < PROGRAMS; n++) {
		int lower = n == TIMELINE || n == JSON ? FLOOR_TIMELINE : n == SUMMARY ? FLOOR_SUMMARY : n;

		printf("{\"bench\":\"decode\",\"what\":\"%s\",\"records\":%.0f,\"ns_per_event\":%.2f,\"floor_"
		       "ratio\":%.3f,"
		       "\"wall_ms\":%.1f,\"rss_kb\":%ld}\n",
		       names[n], records, best[n].ns, best[n].ns / best[lower].ns, best[n].wall_ms,
		       best[n].rss_kb);
		fprintf(stderr, "  %9.0f records  %-16s %8.2f ns/event %10.1f ms %8ld KB\n", records,
			names[n], best[n].ns, best[n].wall_ms, best[n].rss_kb);
	}
}

static int same_timeline(const char *trace)
{
	char command[4 * PATH_BYTES];

	snprintf(command, sizeof(command),
		 "test \"$(" BIN "/ktrace-decode --calls linux %s | cksum)\" = \"$(" WORK
		 "/floor_v1 timeline %s | cksum)\"",
		 trace, trace);
	return system(command) == 0;
}

static int bar(const char *name, double value, double most)
{
	return cost_bar("decode", name, value, most);
}

/* Checks the limits for a trace of that many records. */
static int check(double records, const struct cost *best)
{
	static const char *const memory[] = { "timeline, MB", "summary, MB", "json, MB" };
	int held = 1;

	if (records <= 65536)
		held &= bar("64 K records, timeline, ms", best[TIMELINE].wall_ms, 10);
	if (records >= 8 * MILLION && records < 9 * MILLION) {
		held &= bar("8 M, timeline, ns/event", best[TIMELINE].ns, 38);
		held &= bar("8 M, timeline, ratio to the floor", best[TIMELINE].ns / best[FLOOR_TIMELINE].ns,
			    1.25);
		held &= bar("8 M, json, ns/event", best[JSON].ns, 42);
		held &= bar("8 M, summary, ns/event", best[SUMMARY].ns, 10);
	}
	for (int n = TIMELINE; n <= JSON; n++)
		held &= bar(memory[n], (double)best[n].rss_kb / 1024, 8);
	return held;
}

int main(int argc, char **argv)
{
	static char *const usual[] = { "65536", "1048576", "8388608", "33554432", NULL };
	static char *const little[] = { "4096", NULL };
	char *const *size = argc > 1 ? argv + 1 : bench_short() ? little : usual;
	struct cost best[PROGRAMS], one_million = { 0 };
	int held = 1;

	for (; *size; size++) {
		double records = strtod(*size, NULL);
		char trace[PATH_BYTES];

		snprintf(trace, sizeof(trace), WORK "/v1-%s.bin", *size);
		cost_run((char *[]){ WORK "/gen_v1", trace, *size, NULL }, 1);
		measure(trace, records, best);
		held &= check(records, best);
		if (bench_short() || (records >= MILLION && records < 2 * MILLION)) {
			one_million = best[TIMELINE];
			held &= bar("timelines that differ from the floor's", !same_timeline(trace), 0);
		}
		if (records >= 32 * MILLION && one_million.ns > 0)
			held &= bar("32 M to 1 M, timeline, ratio per event",
				    best[TIMELINE].ns / one_million.ns, 1.05);
		unlink(trace);
	}
	return held ? EXIT_SUCCESS : EXIT_FAILURE;
}
