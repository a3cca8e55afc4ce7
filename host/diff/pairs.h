/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Declarations that the source files of a comparison share. In arrays of two elements, [0] belongs to the
 * first trace, [1] to the second.
 */
#ifndef DIFF_PAIRS_H
#define DIFF_PAIRS_H

#include "diff/trace.h"

#define PAIRS_FILES 64u /* only the roles of file descriptors below this number are stored */

/*
 * Statistics of the logarithms of durations: their number, their mean, and the sum of their squared
 * deviations from the mean.
 */
struct pairs_sample {
	uint64_t count;
	double mean, squares;
};

struct pairs {
	struct diff_trace *trace[2];
	struct diff_result *result;
	/* indexed by step of the first trace: the equal step of the second trace, or DIFF_NONE */
	uint32_t *match;
	struct pairs_sample *sample[2]; /* indexed by kind of the first trace */
	/* true if both traces measure durations in the same way, so that durations can be compared */
	bool same_form;
	bool has_text; /* true if one of the traces is output of strace */
};

/* Excludes from the comparison the kinds of step that only one of the traces records. */
void pairs_kinds(struct diff_trace *const trace[2]);
/*
 * Returns the number of steps in `trace` that are of the same kind as `kind`, which is a kind of the other
 * trace.
 */
uint64_t pairs_kind_count(const struct diff_trace *trace, const struct diff_kind *kind);
/* Compares the steps of a pair of threads. Returns 0 or KTREAD_E_MEMORY. */
int pairs_steps(struct pairs *pairs, uint32_t first, uint32_t second);
/* Returns whether a step is noise, and is not compared. If so, counts it. */
bool pairs_is_noise(struct pairs *pairs, const struct diff_trace *trace, const struct diff_step *step);
/* Compares the results and arguments of two steps. */
struct pairs_files {
	/*
	 * indexed by descriptor of the first trace: 1 + the descriptor in the second trace that has the same
	 * role; 0: unknown
	 */
	uint32_t is[PAIRS_FILES];
	bool served; /* true if the threads work for other threads, so that only errors are compared */
};
void pairs_values(struct pairs *pairs, struct pairs_files *files, uint32_t first, uint32_t second);

/* Adds a difference. `at` is a timestamp of the first trace. Returns NULL if out of memory. */
struct diff_item *pairs_item(struct diff_result *result, enum diff_what what, uint64_t at);
/* Sets the event, step and thread of trace `which` in a difference to those of step `n`. */
void pairs_item_step(struct diff_item *item, const struct pairs *pairs, int which, uint32_t n);
/* Adds a difference for each thread that sleeps until the end of one trace but not of the other trace. */
void pairs_sleepers(struct pairs *pairs);
/* Finds the earliest difference that no other difference causes, and the events before it. */
void pairs_first(struct pairs *pairs);

/* ---- Alignment of two sequences of keys (sequence.c) ---- */

#define SEQUENCE_NONE UINT32_MAX

/*
 * Finds a long common subsequence of `a` and `b`, by the algorithm of E. Myers, "An O(ND) Difference
 * Algorithm and Its Variations" (1986), in linear space. Sets pair[n] to the index in `b` of the element that
 * is paired with a[n], or to SEQUENCE_NONE. The time is linear for sequences that are nearly equal. If they
 * differ in more than SEQUENCE_COST places in a row, the result may have fewer pairs than possible. So the
 * time is at most proportional to SEQUENCE_COST times the length. Returns 0, or -1 if out of memory.
 */
#define SEQUENCE_COST 256
int sequence_align(const uint64_t *a, uint32_t as, const uint64_t *b, uint32_t bs, uint32_t *pair);

#endif
