/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Compares two traces by what happened in them. Pairs the threads of both traces by name, parent and order of
 * creation, and the steps of each pair of threads by their meaning. Differences in times, addresses, process
 * ids, and in the order of threads that do not depend on each other, are ignored. analyze/compare.h compares
 * two traces of the same run exactly.
 */
#ifndef DIFF_DIFF_H
#define DIFF_DIFF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/output.h"
#include "ktread/ktread.h"

/* Noise: differences without significance, which are counted but not reported. */
enum diff_noise {
	DIFF_NOISE_INTERRUPT,
	DIFF_NOISE_SCHEDULING, /* context switches, waits and wakeups */
	DIFF_NOISE_LOCK,       /* events of locks, and calls by which threads wait for each other */
	DIFF_NOISE_FAULT,
	DIFF_NOISE_COUNTER,
	DIFF_NOISE_SIGNAL, /* arrival of a signal */
	DIFF_NOISE_DATA,   /* contents of buffers and structures of system calls */
	DIFF_NOISE_TRACER,
	DIFF_NOISE_LOOP,  /* a step that is repeated within the same call */
	DIFF_NOISE_ORDER, /* steps of different threads in a different order */
	DIFF_NOISE_VALUE, /* different process ids or file descriptors that are used in the same way */
	DIFF_NOISE_ALONE, /* steps of a kind that only one of the traces records */
	DIFF_NOISES
};

enum diff_what {
	DIFF_WAKEUP, /* a wakeup is missing, so the thread that it would have woken does not continue */
	DIFF_MISSING,
	DIFF_EXTRA,
	DIFF_REORDERED,
	DIFF_CHANGED, /* the result or the arguments differ */
	DIFF_WHATS
};

struct diff_trace;

/* An event of one trace. */
struct diff_event {
	bool known;
	uint32_t ring;
	uint64_t slot; /* slot's index in the ring; for output of strace, the number of the line */
};

struct diff_item {
	uint64_t at; /* timestamp in the first trace at which the difference begins */
	struct diff_event event[2];
	uint32_t thread[2]; /* index of the thread in each trace, or UINT32_MAX */
	uint32_t step[2];   /* index of the step in each trace, or UINT32_MAX */
	uint32_t kind;	    /* index of the kind, in the first of the two traces that has the event */
	uint32_t steps;	    /* number of consecutive steps that differ in this way */
	uint8_t what;	    /* enum diff_what */
	bool arguments;	    /* for DIFF_CHANGED: the arguments differ, but not the result */
	/* true if, in both traces, a kernel thread that works for other threads records steps of this kind */
	bool served;
	/* for DIFF_WAKEUP: the trace (0 or 1) in which the thread sleeps until the end of the trace */
	uint8_t asleep;
};

#define DIFF_CONTEXT 5u /* number of events that are shown before the first difference */
#define DIFF_SLOWER  8u
#define DIFF_SAMPLES 30u /* minimum number of samples of a kind of call in each trace */

/*
 * A kind of call that takes longer in the second trace than in the first. Means are geometric means, in
 * nanoseconds.
 */
struct diff_slower {
	uint32_t kind; /* index of the kind in the first trace */
	uint64_t samples[2];
	double mean[2], ratio, low, high; /* `low` and `high`: confidence interval of `ratio` */
};

struct diff_result {
	struct diff_item *item; /* array of differences, sorted by `at` */
	uint32_t items, room;
	uint64_t count[DIFF_WHATS];
	/*
	 * `first`: the earliest difference that no other difference causes; need not be in `item`. `last`: if
	 * a trace lacks the event, the last event of the same thread before the event's place. `sleep`: the
	 * event at which a thread begins to sleep because of `first`.
	 */
	struct diff_item first;
	struct diff_event last[2], sleep;
	uint32_t sleeper; /* index of the thread that begins to sleep at `sleep` */
	/* number of steps of the first trace that have an equal step in the second trace */
	uint64_t compared;
	uint64_t undecided;
	uint64_t noise[DIFF_NOISES];
	uint32_t threads; /* number of pairs of threads */
	struct diff_slower slower[DIFF_SLOWER];
	uint32_t slowers;
	uint32_t sampled;    /* number of kinds of call with enough samples */
	uint32_t too_few;    /* number of kinds of call with too few samples */
	bool slower_differs; /* true if slower calls count as a difference */
	bool untimed;	     /* true if durations cannot be compared */
	bool out_of_memory;
};

/* Reads a trace. Returns 0 or a negative enum ktread_error; *trace is freed by diff_trace_free(). */
int diff_read(struct diff_trace **trace, struct ktread *from, const char *path);

/* Returns whether a regular file begins like the output of `strace -ttt`. */
bool diff_is_strace(const char *path);
/* Reads the output of `strace -f -ttt`. Returns 0 or a negative enum ktread_error, with errno. */
int diff_read_strace(struct diff_trace **trace, const char *path);
void diff_trace_free(struct diff_trace *trace);

/*
 * Compares two traces, and modifies them. `slower`: a kind of call is reported if the whole confidence
 * interval shows that it takes at least this many percent longer. `slower_differs`: such a kind of call
 * counts as a difference. Returns 0 or KTREAD_E_MEMORY. The caller frees result->item.
 */
int diff_compare(struct diff_trace *const trace[2], uint64_t slower, bool slower_differs,
		 struct diff_result *result);

enum diff_verdict { DIFF_VERDICT_SAME, DIFF_VERDICT_DIFFERS, DIFF_VERDICT_UNDECIDED };
enum diff_verdict diff_verdict(const struct diff_result *result);

/* The arguments of the functions that write a report. */
struct diff_report {
	struct diff_trace *trace[2];
	const struct diff_result *result;
	uint64_t limit; /* maximum number of differences of each kind that are listed; 0: all */
};

/*
 * These functions write the report. They read the traces again, to get the texts of the events. They return 0
 * or a negative error.
 */
int diff_write_text(struct base_output *out, const struct diff_report *report);
int diff_write_json(struct base_output *out, const struct diff_report *report);

#endif
