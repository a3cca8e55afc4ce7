/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Measures the cost of whole programs, as the kernel accounts it, and checks it against limits. */
#ifndef BENCH_COST_H
#define BENCH_COST_H

struct cost {
	double ns;	/* CPU time per event, in nanoseconds */
	double wall_ms; /* wall-clock time of the whole run, in milliseconds */
	long rss_kb;
};

/* Runs a program, discards its output, and returns its cost. Ends the bench if the program fails. */
struct cost cost_run(char **argv, double events);
/* Updates *best: copies each time of `cost` that is lower, and the memory size of `cost` if it is larger. */
void cost_keep_best(struct cost *best, struct cost cost);
/*
 * Compares a value with its limit `most`. Prints the comparison as text on stderr and as a line of JSON on
 * stdout. Returns true if value <= most. A short run (short.h) checks only limits of 0, which mean that
 * two results must be equal.
 */
int cost_bar(const char *bench, const char *name, double value, double most);

#endif
