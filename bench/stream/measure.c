/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * measure [RECORDS]: converts a version 1 dump to a portable stream, and measures the CPU time and
 * the stream's size. The reference is zstd -3 on the bytes of the dump. Whole processes are measured; the
 * fastest of several alternating runs is used. Prints JSON lines on stdout, the limits on stderr. Exits
 * with 1 if a limit is exceeded or the timelines of stream and dump differ.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../cost.h"
#include "../short.h"

#define KTRACE	"build/bin/ktrace"
#define WORK	"build/bench/stream/"
#define TRACE	WORK "v1.bin"
#define STREAM	WORK "v1.kts"
#define PACKED	WORK "v1.zst"
#define USUAL	"8388608"
#define ROUNDS	5
#define SLOT	32.0
#define MB_A_GB 1e3

enum { WRITE, ZSTD, TIMELINE, SUMMARY, DUMP_TIMELINE, DUMP_SUMMARY, PROGRAMS };

static const char *const names[PROGRAMS] = { "write",	"zstd -3 of the dump", "timeline",
					     "summary", "dump timeline",       "dump summary" };

static double bytes_of(const char *path)
{
	struct stat state;

	if (stat(path, &state) < 0) {
		perror(path);
		exit(EXIT_FAILURE);
	}
	return (double)state.st_size;
}

static void measure(double records, struct cost *best)
{
	char *argv[PROGRAMS][9] = {
		[WRITE] = { KTRACE, "export", "--format", "stream", TRACE, "-o", STREAM },
		[ZSTD] = { WORK "zstd_raw", TRACE, PACKED },
		[TIMELINE] = { KTRACE, "decode", STREAM },
		[SUMMARY] = { KTRACE, "summary", STREAM },
		[DUMP_TIMELINE] = { KTRACE, "decode", TRACE },
		[DUMP_SUMMARY] = { KTRACE, "summary", TRACE },
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
		double rate = SLOT / best[n].ns * MB_A_GB;

		printf("{\"bench\":\"stream\",\"what\":\"%s\",\"records\":%.0f,\"ns_per_event\":%.2f,"
		       "\"mb_per_second\":%.0f,\"rss_kb\":%ld}\n",
		       names[n], records, best[n].ns, rate, best[n].rss_kb);
		fprintf(stderr, "  %9.0f records  %-20s %8.2f ns/event %6.0f MB/s %8ld KB\n", records,
			names[n], best[n].ns, rate, best[n].rss_kb);
	}
}

static int bar(const char *name, double value, double most)
{
	return cost_bar("stream", name, value, most);
}

static int check(double records, const struct cost *best)
{
	double size = bytes_of(STREAM) / records;
	int held = bar("bytes per event", size, 11.3);

	held &= bar("size, ratio to zstd -3", size / (bytes_of(PACKED) / records), 0.8);
	held &= bar("writing, ns/event (228 MB/s)", best[WRITE].ns, 140);
	held &= bar("writing, ratio to zstd -3", best[WRITE].ns / best[ZSTD].ns, 1);
	held &= bar("writing, MB", (double)best[WRITE].rss_kb / 1024, 8);
	held &= bar("timeline, MB", (double)best[TIMELINE].rss_kb / 1024, 8);
	held &= bar("summary, MB", (double)best[SUMMARY].rss_kb / 1024, 8);
	held &= bar("timelines that differ from the dump's",
		    system("test \"$(" KTRACE " decode " STREAM " | cksum)\" = \"$(" KTRACE " decode " TRACE
			   " | cksum)\"") != 0,
		    0);
	return held;
}

int main(int argc, char **argv)
{
	char *records = argc > 1 ? argv[1] : bench_short() ? "65536" : USUAL;
	struct cost best[PROGRAMS];
	double count = strtod(records, NULL);
	int held;

	cost_run((char *[]){ "build/bench/decode/gen_v1", TRACE, records, NULL }, 1);
	measure(count, best);
	held = check(count, best);
	unlink(TRACE);
	unlink(STREAM);
	unlink(PACKED);
	return held ? EXIT_SUCCESS : EXIT_FAILURE;
}
