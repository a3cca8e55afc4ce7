/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Measures the cost of whole programs, as the kernel accounts it, and checks it against limits. */
#ifndef BENCH_COST_H
#define BENCH_COST_H

struct cost {
	double ns;	/* processor time per event */
	double wall_ms; /* wall time of the whole run */
	long rss_kb;
};

/* Runs a program, discards its output, and returns its cost. Ends the bench if the program fails. */
struct cost cost_run(char **argv, double events);
/* Updates *best with the lower times and the larger memory of both. */
void cost_keep_best(struct cost *best, struct cost cost);
/*
 * Prints a line for people on stderr and one of JSON on stdout. Returns true if value <= most. A short run
 * checks only limits of 0, which mean that two results must be equal.
 */
int cost_bar(const char *bench, const char *name, double value, double most);

#endif
