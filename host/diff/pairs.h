/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The parts of a comparison of two traces. In each pair, [0] is the first trace, and [1] the second. */
#ifndef DIFF_PAIRS_H
#define DIFF_PAIRS_H

#include "diff/trace.h"

#define PAIRS_FILES 64u /* file descriptors below this are followed */

/* Logarithms of durations: their number, their mean, and the sum of the squares of their deviations. */
struct pairs_sample {
	uint64_t count;
	double mean, squares;
};

struct pairs {
	struct diff_trace *trace[2];
	struct diff_result *result;
	uint32_t *match;		/* for each step of the first trace: the equal one, or DIFF_NONE */
	struct pairs_sample *sample[2]; /* by kind of the first trace */
	bool same_form;			/* both traces are of the same kind, so durations can be compared */
	bool has_text;			/* one trace is the output of strace */
};

/* Pairs the threads of two traces: sets their `peer`. Returns 0 or KTREAD_E_MEMORY. */
int pairs_threads(struct diff_trace *const trace[2]);
/* Excludes the kinds of step that only one of the traces records. */
void pairs_kinds(struct diff_trace *const trace[2]);
/* Returns how many steps of a kind of the other trace this trace has. */
uint64_t pairs_kind_count(const struct diff_trace *trace, const struct diff_kind *kind);
/* Compares the steps of a pair of threads. Returns 0 or KTREAD_E_MEMORY. */
int pairs_steps(struct pairs *pairs, uint32_t first, uint32_t second);
/* Returns whether a step is not compared. Counts it as noise then. */
bool pairs_is_noise(struct pairs *pairs, const struct diff_trace *trace, const struct diff_step *step);
/* Compares the results and arguments of two steps. */
struct pairs_files {
	/* By descriptor of the first trace: 1 + the one of the second; 0: unknown. */
	uint32_t is[PAIRS_FILES];
	bool served; /* the threads serve others, so only errors are compared */
};
void pairs_values(struct pairs *pairs, struct pairs_files *files, uint32_t first, uint32_t second);

/* Adds a difference. `at` is a stamp of the first trace. Returns NULL if memory is short. */
struct diff_item *pairs_item(struct diff_result *result, enum diff_what what, uint64_t at);
/* Sets the event of one trace to that of a step. */
void pairs_item_step(struct diff_item *item, const struct pairs *pairs, int which, uint32_t n);
/* Adds a difference for each thread that sleeps to the end of only one trace. */
void pairs_sleepers(struct pairs *pairs);
/* Finds the earliest difference that no other one causes, and the events before it. */
void pairs_first(struct pairs *pairs);
/* Finds the kinds of call that take longer. `percent`: at least by this much. */
void pairs_slower(struct pairs *pairs, uint64_t percent);
void pairs_sample_add(struct pairs_sample *sample, double value);

#endif
