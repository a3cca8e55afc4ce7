/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * measure [RECORDS]: shows a time window with some thousand events of a version 1 dump, of the stream made
 * from this dump, of a version 2 dump, and of a guest's RAM. The search for the trace's root reads all of
 * this RAM. Whole processes are measured; the fastest of several runs is used. Prints JSON lines on stdout,
 * the limits on stderr. Exits with 1 if a limit is exceeded, or if the windows of dump and stream differ.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../cost.h"
#include "../short.h"

#define KTRACE	"build/bin/ktrace"
#define WORK	"build/bench/seek/"
#define TRACE	WORK "v1.bin"
#define STREAM	WORK "v1.kts"
#define TRACE2	WORK "v2.ktrx"
#define RAM	WORK "v2.ram"
#define ROUNDS	7
#define USUAL	"67108864"
#define USUAL_2 "8388608" /* records; gen_v2 has them all in memory */

enum { DUMP, INDEXED, DUMP_2, GUEST_RAM, TRACES };

static const char *const names[TRACES] = { "dump of version 1", "stream", "dump of version 2",
					   "guest's RAM" };
static char *const files[TRACES] = { TRACE, STREAM, TRACE2, RAM };
static int differ(void)
{
	return system("test \"$(" KTRACE " show --since 1ms --until 2ms " TRACE
		      " 2>&1 | sed 's/v1.bin//' | cksum)\" = "
		      "\"$(" KTRACE " show --since 1ms --until 2ms " STREAM
		      " 2>&1 | sed 's/v1.kts//' | cksum)\"") != 0;
}

int main(int argc, char **argv)
{
	char *records = argc > 1 ? argv[1] : bench_short() ? "65536" : USUAL;
	int held = 1;

	cost_run((char *[]){ "build/bench/decode/gen_v1", TRACE, records, NULL }, 1);
	cost_run((char *[]){ "build/bench/merge/gen_v2", TRACE2, "8", bench_short() ? "65536" : USUAL_2,
			     NULL },
		 1);
	cost_run((char *[]){ "build/bench/merge/gen_v2", RAM, "8", records, "ram", NULL }, 1);
	cost_run((char *[]){ KTRACE, "export", "--format", "stream", TRACE, "-o", STREAM, NULL }, 1);
	for (int trace = 0; trace < TRACES; trace++) {
		struct cost best = { 0 };
		double ms;

		for (int round = 0; round < bench_times(ROUNDS); round++) {
			struct cost cost =
				cost_run((char *[]){ KTRACE, "show", "--frequency", "1000000000", "--since",
						     "1ms", "--until", "2ms", files[trace], NULL },
					 1);

			if (round == 0)
				best = cost;
			cost_keep_best(&best, cost);
		}
		ms = best.ns / 1e6;
		printf("{\"bench\":\"seek\",\"what\":\"%s\",\"records\":%s,\"ms\":%.1f,\"rss_kb\":%ld}\n",
		       names[trace], trace == DUMP_2 && !bench_short() ? USUAL_2 : records, ms, best.rss_kb);
		fprintf(stderr, "  window of a %-18s %6.1f ms %6ld KB\n", names[trace], ms, best.rss_kb);
		/* the limit for RAM is higher: the search for the root reads all of it */
		held &= cost_bar("seek", names[trace], ms, trace == GUEST_RAM ? 600 : 20);
		/* the limit for a stream is higher: it needs memory for its index and for decoded blocks */
		held &= cost_bar("seek", "MB", (double)best.rss_kb / 1024, trace == INDEXED ? 10 : 8);
	}
	held &= cost_bar("seek", "windows that differ from the dump's", differ(), 0);
	for (int trace = 0; trace < TRACES; trace++)
		unlink(files[trace]);
	return held ? EXIT_SUCCESS : EXIT_FAILURE;
}
