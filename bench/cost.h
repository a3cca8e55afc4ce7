/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What whole programs cost, by the kernel's account, and the bars they are held to. */
#ifndef BENCH_COST_H
#define BENCH_COST_H

struct cost {
	double ns;	/* of processor time, an event */
	double wall_ms; /* of the whole run */
	long rss_kb;
};

/* Runs a program with its output thrown away; one that fails ends the bench. */
struct cost cost_run(char **argv, double events);
/* Least times, most memory. */
void cost_keep_best(struct cost *best, struct cost cost);
/*
 * Prints a line for people on stderr, one of JSON on stdout. Returns whether value <= most. In a short run only a most of 0 is
 * judged: what must be equal.
 */
int cost_bar(const char *bench, const char *name, double value, double most);

#endif
