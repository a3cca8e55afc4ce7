/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "cost.h"
#include "short.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

struct cost cost_run(char **argv, double events)
{
	double start = now_ms();
	struct rusage usage;
	struct cost cost;
	int status;
	pid_t child = fork();

	if (child == 0) {
		int nothing = open("/dev/null", O_WRONLY);

		dup2(nothing, STDOUT_FILENO);
		dup2(nothing, STDERR_FILENO);
		execv(argv[0], argv);
		_exit(127);
	}
	if (child < 0 || wait4(child, &status, 0, &usage) < 0 || status != 0) {
		fprintf(stderr, "bench: %s failed\n", argv[0]);
		exit(EXIT_FAILURE);
	}
	cost.wall_ms = now_ms() - start;
	cost.rss_kb = usage.ru_maxrss;
	cost.ns = ((double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e9 +
		   (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e3) /
		  events;
	return cost;
}

void cost_keep_best(struct cost *best, struct cost cost)
{
	best->ns = cost.ns < best->ns ? cost.ns : best->ns;
	best->wall_ms = cost.wall_ms < best->wall_ms ? cost.wall_ms : best->wall_ms;
	best->rss_kb = cost.rss_kb > best->rss_kb ? cost.rss_kb : best->rss_kb;
}

int cost_bar(const char *bench, const char *name, double value, double most)
{
	int held = value <= most || (bench_short() && most > 0);

	fprintf(stderr, "  %-44s %10.2f  at most %8.2f%s\n", name, value, most, held ? "" : "  MISSED");
	printf("{\"bench\":\"%s\",\"bar\":\"%s\",\"value\":%.3f,\"most\":%.3f,\"held\":%s}\n", bench, name,
	       value, most, held ? "true" : "false");
	return held;
}
