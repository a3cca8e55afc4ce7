/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * measure [EVENTS]: measures the cost of merging. Traces with the same number of events in 8 rings and in
 * 64 rings are printed as a timeline and as statistics of matched pairs of events. Whole processes are
 * measured; the fastest of several alternating runs is used. Prints JSON lines on stdout, the limits on
 * stderr. Exits with 1 if a limit is exceeded.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../cost.h"
#include "../short.h"

#define KTRACE "build/bin/ktrace"
#define WORK   "build/bench/merge/"
#define ROUNDS 7
#define USUAL  "4194304"

enum { TIMELINE, STATS, PROGRAMS };
enum { FEW, MANY, TRACES };

static const char *const names[PROGRAMS] = { "timeline", "stats" };
static char *const rings[TRACES] = { "8", "64" };
static char *const traces[TRACES] = { WORK "8.ktrx", WORK "64.ktrx" };

static void measure(double events, struct cost best[TRACES][PROGRAMS])
{
	for (int round = 0; round < bench_times(ROUNDS); round++)
		for (int trace = 0; trace < TRACES; trace++)
			for (int n = 0; n < PROGRAMS; n++) {
				char *argv[PROGRAMS][4] = { { KTRACE, "show", traces[trace] },
							    { KTRACE, "stats", traces[trace] } };
				struct cost cost = cost_run(argv[n], events);

				if (round == 0)
					best[trace][n] = cost;
				cost_keep_best(&best[trace][n], cost);
			}
}

int main(int argc, char **argv)
{
	char *count = argc > 1 ? argv[1] : bench_short() ? "8192" : USUAL;
	double events = strtod(count, NULL);
	struct cost best[TRACES][PROGRAMS];
	int held = 1;

	for (int trace = 0; trace < TRACES; trace++)
		cost_run((char *[]){ WORK "gen_v2", traces[trace], rings[trace], count, NULL }, 1);
	measure(events, best);
	for (int trace = 0; trace < TRACES; trace++)
		for (int n = 0; n < PROGRAMS; n++) {
			printf("{\"bench\":\"merge\",\"what\":\"%s\",\"rings\":%s,\"events\":%.0f,\"ns_per_"
			       "event\":%.2f,"
			       "\"rss_kb\":%ld}\n",
			       names[n], rings[trace], events, best[trace][n].ns, best[trace][n].rss_kb);
			fprintf(stderr, "  %-10s %3s rings %8.2f ns/event %8ld KB\n", names[n], rings[trace],
				best[trace][n].ns, best[trace][n].rss_kb);
		}
	held &= cost_bar("merge", "timeline, 64 to 8 rings, ratio per event",
			 best[MANY][TIMELINE].ns / best[FEW][TIMELINE].ns, 1.5);
	held &= cost_bar("merge", "stats, 64 to 8 rings, ratio per event",
			 best[MANY][STATS].ns / best[FEW][STATS].ns, 1.5);
	held &= cost_bar("merge", "stats, MB", (double)best[MANY][STATS].rss_kb / 1024, 8);
	for (int trace = 0; trace < TRACES; trace++)
		unlink(traces[trace]);
	return held ? EXIT_SUCCESS : EXIT_FAILURE;
}
