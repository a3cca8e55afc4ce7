/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * measure [CALLS...]: measures the CPU time of printing a process trace with kdump, compared with
 * awk programs that parse strace's text for the same calls. Whole processes are measured; the fastest of
 * several alternating runs is used. The reference for kdump's lines is an awk program that splits each
 * call into its arguments, as kdump must. The reference for kdump's table of calls is an awk program that
 * extracts only what the table needs. Prints JSON lines on stdout, the limits on stderr. Exits with 1 if a
 * limit is exceeded or the tables differ.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../cost.h"
#include "../short.h"

#define KDUMP	"build/bin/kdump"
#define WORK	"build/bench/kdump"
#define TRACE	WORK "/trace"
#define TEXT	WORK "/text"
#define PARSER	"bench/kdump/parse.awk"
#define ROUNDS	5
#define MILLION 1e6

enum { LINES, ONELINE, COUNT, JSON, AWK, AWK_LESS, PROGRAMS };

static const char *const names[PROGRAMS] = { "lines", "oneline",	 "count",
					     "json",  "awk parses text", "awk, no arguments" };

static void measure(double records, struct cost *best)
{
	char *argv[PROGRAMS][8] = {
		[LINES] = { KDUMP, TRACE },
		[ONELINE] = { KDUMP, "--oneline", TRACE },
		[COUNT] = { KDUMP, "--count", TRACE },
		[JSON] = { KDUMP, "--json", TRACE },
		[AWK] = { "/usr/bin/env", "awk", "-v", "all=1", "-f", PARSER, TEXT },
		[AWK_LESS] = { "/usr/bin/env", "awk", "-f", PARSER, TEXT },
	};

	for (int round = 0; round < bench_times(ROUNDS); round++) {
		for (int n = 0; n < PROGRAMS; n++) {
			struct cost cost = cost_run(argv[n], records);

			if (round == 0)
				best[n] = cost;
			cost_keep_best(&best[n], cost);
		}
	}
	for (int n = 0; n < PROGRAMS; n++) {
		printf("{\"bench\":\"kdump\",\"what\":\"%s\",\"records\":%.0f,\"ns_per_record\":%.2f,\"wall_"
		       "ms\":%.1f,"
		       "\"rss_kb\":%ld}\n",
		       names[n], records, best[n].ns, best[n].wall_ms, best[n].rss_kb);
		fprintf(stderr, "  %9.0f records  %-18s %8.2f ns/record %10.1f ms %8ld KB\n", records,
			names[n], best[n].ns, best[n].wall_ms, best[n].rss_kb);
	}
}

/*
 * Compares two tables of system calls, kdump's and awk's: count, errors and seconds of each call. Returns
 * nonzero if the tables are equal.
 */
static int same_table(void)
{
	return system(KDUMP " --count " TRACE " | awk 'NF > 4 && $NF != \"total\" && $1 + 0 == $1 { printf "
			    "\"%s %d %d %.3f\\n\", $NF, $4, "
			    "(NF > 5 ? $5 : 0), $2 }' | sort >" WORK "/table && awk -f " PARSER " " TEXT
			    " | awk '{ printf \"%s %d %d %.3f\\n\", $1, $2, $3, $4 }' | sort | cmp -s - " WORK
			    "/table") == 0;
}

static double records_of(double calls)
{
	return calls / 7 * 16 + calls / 7 / 16;
}

static int bar(const char *name, double value, double most)
{
	return cost_bar("kdump", name, value, most);
}

int main(int argc, char **argv)
{
	static char *const usual[] = { "140000", "1400000", NULL };
	static char *const little[] = { "1400", NULL };
	char *const *size = argc > 1 ? argv + 1 : bench_short() ? little : usual;
	struct cost best[PROGRAMS], smaller[PROGRAMS] = { { 0 } };
	int held = 1;

	for (; *size; size++) {
		double calls = strtod(*size, NULL);

		cost_run((char *[]){ WORK "/gen", TRACE, *size, NULL }, 1);
		if (system(KDUMP " --oneline " TRACE " >" TEXT) != 0)
			return EXIT_FAILURE;
		measure(records_of(calls), best);
		held &= bar("tables that differ from awk's", !same_table(), 0);
		if (calls >= MILLION) {
			held &= bar("lines, ns/record", best[LINES].ns, 500);
			held &= bar("oneline, ns/record", best[ONELINE].ns, 500);
			held &= bar("lines, ratio to awk that splits arguments",
				    best[LINES].ns / best[AWK].ns, 0.1);
			held &= bar("count, ratio to awk that only counts",
				    best[COUNT].ns / best[AWK_LESS].ns, 0.1);
		}
		for (int n = LINES; n < AWK && smaller[n].rss_kb; n++)
			held &= bar("memory, ratio for ten times the records",
				    (double)best[n].rss_kb / (double)smaller[n].rss_kb, 1.1);
		for (int n = 0; n < PROGRAMS; n++)
			smaller[n] = best[n];
	}
	unlink(TRACE);
	unlink(TEXT);
	return held ? EXIT_SUCCESS : EXIT_FAILURE;
}
