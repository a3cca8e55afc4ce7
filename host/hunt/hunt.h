/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Runs a command line with many seeds, several runs at a time, and judges each run. Runs that fail in the
 * same way are one kind of failure. One trace of each kind is kept.
 */
#ifndef HUNT_HUNT_H
#define HUNT_HUNT_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "capture/qemu_line.h"
#include "capture/run.h"

#define HUNT_TEXT	256u
#define HUNT_SEEDS_MOST UINT64_C(10000000) /* maximum number of seeds of a hunt */

/* How a run of the guest ended. */
struct hunt_run {
	uint64_t seed;
	int status;  /* an enum capture_verdict; HUNT_NOT_RUN: the run could not be made */
	bool traced; /* true if a trace was written */
	bool wrong;  /* true if `ktrace why` found a problem */
	/* true if the CPUs' time slices should have ended at hooks, but the guest executed no hook */
	bool no_hooks;
	double seconds; /* real time that the run took */
	uint64_t ended; /* virtual time in ns at which the run ended; 0: unknown */
	/* hash of the contents of the files on QEMU's command line, and of QEMU's version; "" if unknown */
	char files[CAPTURE_RECIPE_HASH];
	char text[HUNT_TEXT]; /* how the run ended, or why it could not be made */
	/* verdict of the first finding of `ktrace why` that is a problem; "" if there is none */
	char verdict[64];
	char what[HUNT_TEXT * 2];      /* text of this first finding */
	char rule[64];		       /* name of the first violated rule; "" if no rule was violated */
	char violation[HUNT_TEXT * 2]; /* how the run violates the rule */
};

#define HUNT_NOT_RUN (-1)
#define HUNT_ERROR   (PATH_MAX + HUNT_TEXT + 64)

/* Why a run counts as failed. */
enum hunt_cause {
	HUNT_FINE,
	HUNT_BY_WHY,  /* `ktrace why` found a problem */
	HUNT_BY_END,  /* the run ended with a panic, reset or stall, or not as the run with seed 0 ended */
	HUNT_BY_RULE, /* the run violates a rule, and shows no other problem */
};

/* Runs that failed in the same way. */
struct hunt_kind {
	enum hunt_cause cause;
	char key[HUNT_TEXT * 2]; /* text that is equal for all these runs */
	struct hunt_run first;	 /* the run whose trace is kept; the run with the shortest virtual time */
	uint64_t runs;
};

#define HUNT_KINDS 64u

struct hunt;

struct hunt_options {
	const struct capture_run_options *run; /* the command, and options that are the same for all runs */
	const char *self;		       /* absolute path of the ktrace program */
	const char *folder;   /* directory for traces, consoles and results; created if it does not exist */
	uint64_t first, last; /* the first and the last seed */
	/*
	 * true: the seeds take effect at the time run->schedule.change; before that time, each run uses the
	 * noise in run->schedule
	 */
	bool later;
	/* the run for comparison with all other runs; NULL: the hunt makes a run of seed 0 */
	const struct hunt_run *base;
	/* file of rules that each run must obey; "": the default rules; NULL: none */
	const char *rules;
	unsigned jobs;
	bool stop_at_first; /* end the hunt after the first failure */
	/* Returns whether the hunt must end after this failure. May be NULL. */
	bool (*is_wanted)(const void *context, const struct hunt_kind *found);
	bool resume;  /* skip the seeds whose results are already in the directory */
	bool replace; /* replace the results of an earlier hunt that are in the directory */
	/* Called with each message for the user: one sentence, without a newline. May be NULL. */
	void (*say)(void *context, const char *sentence);
	/* Called after runs have ended, and also a few times per second. May be NULL. */
	void (*progress)(void *context, const struct hunt *hunt);
	void *context;
};

struct hunt {
	const struct hunt_options *options;
	struct hunt_run base; /* the run without a seed, for comparison with all other runs */
	bool base_failed;     /* true if the run without a seed has failed */
	uint64_t deadline;    /* deadline of a run: virtual time in ns at which the run is ended */
	uint64_t runs, failures, not_run;
	char why_not[HUNT_TEXT]; /* why the first run of `not_run` could not be judged */
	uint64_t resumed;	 /* number of runs whose results were read from the directory */
	double begun, ended;
	int signal;  /* signal that ended the hunt; 0: none */
	bool wanted; /* true if options->is_wanted() has returned true, which ended the hunt */
	struct hunt_kind kind[HUNT_KINDS];
	unsigned kinds;
	uint64_t more_kinds; /* number of failures that were not stored, because `kind` was full */
	bool cut;	     /* the hunt ended early, because of an error on the host; `error` explains it */
	char error[HUNT_ERROR]; /* reason why the hunt could not be made, or ended early */
};

#define HUNT_E_RESULTS (-2) /* the directory already contains results of an earlier hunt */

/*
 * Makes the run of seed 0, and then the others. Returns 0 with the result in *hunt, even if an error on the
 * host ended the hunt early. Returns a negative error with hunt->error if nothing could be judged: for
 * example, if the run of seed 0 could not be made. Returns HUNT_E_RESULTS if the directory has results, and
 * neither options->resume nor options->replace is set.
 */
int hunt_run(struct hunt *hunt, const struct hunt_options *options);

/* ---- Single steps of a hunt ---------------------------------------------------------------------- */

/*
 * Decides whether a run failed, by comparison with the run of seed 0. A run failed if it panicked, reset or
 * did not end, if `why` found a problem, if the run ended in another way than the run of seed 0, or if it
 * violates a rule. Writes to `key` a text in which numbers are replaced, so that it is equal for failures of
 * the same kind.
 */
enum hunt_cause hunt_judge(const struct hunt_run *base, const struct hunt_run *run, char *key, size_t size);
/* Writes what is wrong with the run: "deadlock: …", "rule NAME: …", or how the run ended. */
void hunt_describe(const struct hunt_run *run, enum hunt_cause cause, char *text, size_t size);
#define HUNT_SENTENCE (HUNT_TEXT * 3)

/*
 * Starts the run of one seed in a new process. Returns the process id, or a negative number with errno set.
 */
int hunt_start(const struct hunt *hunt, uint64_t seed);
/*
 * Reads the result that the process of hunt_start() has written. `wait_status`: status of the process, from
 * wait().
 */
void hunt_collect(const struct hunt *hunt, uint64_t seed, int wait_status, struct hunt_run *run);
/* Removes the files that a run has written. */
void hunt_discard(const struct hunt *hunt, uint64_t seed);

/* Writes the path of a file of the run: "FOLDER/seed-N.SUFFIX". */
void hunt_name(const struct hunt_options *options, uint64_t seed, const char *suffix, char path[PATH_MAX]);

/* ---- Smaller runs ---- */

/*
 * Searches for a smaller run that fails in the same way: with fewer CPUs, with no forced switches after an
 * earlier time, or with an earlier end. Each smaller run that is reported was made and has failed. A still
 * smaller run may exist, because the number of runs is limited.
 */
#define HUNT_MINIMISE_SEEDS 8u	/* number of seeds that are tried with each smaller number of CPUs */
#define HUNT_MINIMISE_RUNS  66u /* maximum number of runs for each kind of failure */

/* Result of the search for a kind of failure. */
struct hunt_smaller {
	uint64_t runs;	      /* number of runs that were made to find the smaller run */
	bool found;	      /* true if a smaller run was found; the members below describe it */
	struct hunt_run run;  /* how the smaller run ended */
	char trace[PATH_MAX]; /* path of the trace of the smaller run; "" if there is none */
	unsigned cpus, were;  /* number of CPUs of the smaller run, and of the first run; 0: unknown */
	uint64_t deadline;    /* virtual time in ns at which the smaller run is ended */
	bool calmed;	      /* the schedule forces no switches between CPUs from the time `until` on */
	uint64_t until;	      /* virtual time in ns; valid if `calmed` is true */
	/* the command line of the smaller run, if it has fewer CPUs than the first run; otherwise empty */
	struct capture_words words;
};

/*
 * Searches for each kind of failure that the hunt has found, and stores the result in smaller[n] for
 * hunt->kind[n]. The smaller run's trace is "FOLDER/seed-N-small.ktrx", with N the seed of the kind's first
 * run. A signal ends the search, and is stored in hunt->signal; results from before the signal remain valid.
 * Requires: hunt_run() has returned 0 for this hunt.
 */
void hunt_minimise(struct hunt *hunt, struct hunt_smaller smaller[HUNT_KINDS]);
void hunt_smaller_free(struct hunt_smaller *smaller);

/* ---- Bisection ---- */

/*
 * Finds the time at which a failure became certain. A run is repeated up to a virtual time and continued with
 * other seeds. If all continuations fail in the same way, the failure no longer depends on the schedule after
 * that time.
 */
struct bisect {
	const struct hunt_options *options; /* only the members `run`, `self`, `folder` and `jobs` are used */
	uint64_t runs;			    /* number of continuations that are made from each time */
	/* Called for each time that was tried. `failed` of the `runs` continuations failed. */
	void (*step)(void *context, uint64_t time, uint64_t failed, uint64_t runs);
	void *context;
	/* The members from here on are the result. */
	struct hunt_kind failure; /* how the repeated run fails */
	uint64_t from;		  /* virtual time in ns; all continuations from this time on fail */
	/*
	 * virtual time in ns: the latest tried time for which at least one continuation does not fail; 0 if
	 * all continuations from 0 fail
	 */
	uint64_t before;
	uint64_t before_failed; /* number of continuations from `before` that fail */
	unsigned tried;		/* number of times T that were tried; 0: there is no result */
	int signal;		/* signal that ended the search; 0: none */
	char error[HUNT_ERROR];
};

/*
 * Repeats the run of options->run.schedule, and then searches. Returns 0 on success or if a signal ended the
 * search; 1 if the run does not fail; or a negative error with bisect->error. If bisect->tried is not 0, the
 * result from before the signal or the error is valid.
 */
int bisect_run(struct bisect *bisect);

/* ---- The file results.jsonl of a hunt, which is needed to resume the hunt ---- */

/* Called with the result of each run in the file of the earlier hunt. */
typedef void hunt_take_result(struct hunt *hunt, const struct hunt_run *run);

/*
 * Creates the directory and the file; with options->resume, reads an existing file instead and continues
 * it. The caller closes *file. Returns 0, or a negative number with hunt->error: HUNT_E_RESULTS if the file
 * has results and the options ask neither to resume nor to replace them.
 */
int hunt_results_open(struct hunt *hunt, FILE **file, hunt_take_result *take);
/*
 * Copies a text of a run from the JSON object; "" if it is not a string. Truncates and escapes the text,
 * because it may quote the guest, or come from a file of another user.
 */
void hunt_copy_text(char *to, size_t size, const json_t *json, const char *name);
/* Does the same for a JSON string; "" if `text` is NULL or not a string. */
void hunt_copy_string(char *to, size_t size, const json_t *text);
/* Appends the result of a run. Returns 0, or -1 if it cannot be written. */
int hunt_results_add(FILE *file, const struct hunt_run *run);
/* Returns the result of a run as a JSON object, which the caller releases; NULL if memory runs out. */
json_t *hunt_run_json(const struct hunt_run *run);

#endif
