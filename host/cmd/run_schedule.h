/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Parts of `ktrace run`: the options for runs that can be repeated, and the comparison of a repeated run with
 * the first run.
 */
#ifndef CMD_RUN_SCHEDULE_H
#define CMD_RUN_SCHEDULE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/recipe.h"
#include "capture/run.h"
#include "cmd/options.h"

struct run_schedule {
	bool deterministic;
	struct schedule_noise noise; /* noise of --seed and --noise */
	const char *later;	     /* value of --then: "TIME,SEED" */
	uint64_t deadline;	     /* time in ns; 0: none */
	const char *input;	     /* name of the file of --input */
	char *script;		     /* contents of this file; owned */
	const char *replay;
	/* recipe of the run that --replay names */
	struct capture_recipe recipe;
	bool adds_branches; /* the repeated run may have --branches even if the first run did not have it */
	char out[PATH_MAX], elf[PATH_MAX], ram_dir[PATH_MAX], branches[PATH_MAX];
};

#define RUN_SCHEDULE_NOISE_MOST UINT64_C(1000000000) /* maximum time of --noise, in ns */

/* Stores the kind and the mean of "KIND", "TIME" or "KIND,TIME" in a struct schedule_noise. */
option_set run_schedule_set_noise;

/* Writes the value of --noise; "" if the option was not given. */
void run_schedule_describe_noise(const struct schedule_noise *noise, char *text, size_t size);

/*
 * Fills in the options of the run. With --replay, reads the recipe, makes the paths in options absolute, and
 * changes to the directory of the first run. `argc` and `argv`: the words after the options. Returns 0, or an
 * exit status after a message.
 */
int run_schedule_prepare(struct run_schedule *schedule, const struct options *line,
			 struct capture_run_options *options, int argc, char **argv);

/*
 * Finds the kernel's hooks in the file of --elf, if this is given and slices end at hooks. Returns 0, or
 * EXIT_USAGE after a message.
 */
int run_schedule_find_hooks(const char *name, struct capture_run_options *options);

/*
 * Reads and checks the file of --input. Returns its contents, for the caller to free; NULL after a message.
 */
char *run_schedule_script(const char *name, const char *path);

/*
 * Repeats a run for a command that prints something other than the guest's console. `apart`: the console goes
 * to standard error. *output: a descriptor of the command's own standard output, valid while the guest runs.
 * Returns 0, or an exit status after a message.
 */
int run_schedule_repeat(const char *name, struct capture_run_options *options, bool apart, int *output,
			struct capture_result *result);

/* Prints how the run can be repeated. Requires: a trace was written. */
void run_schedule_report(const char *name, const struct capture_run_options *options,
			 const struct capture_result *result);

#define RUN_STATUS_DIFFERS 17

/*
 * Compares the events of the trace with the events of the run that --replay names, and prints the result.
 * Returns the status of the run if they are the same, RUN_STATUS_DIFFERS if they differ or if there are none,
 * EXIT_BAD_INPUT if a trace is unreadable.
 */
int run_schedule_compare(const char *name, const struct run_schedule *schedule, const char *out,
			 const struct capture_result *result);

/*
 * Writes the path of the kernel's file: from the repeated run, or from the note. Returns false if it is
 * unknown. Requires: run_schedule_prepare() has returned 0, if a run is repeated.
 */
bool run_schedule_kernel(const struct run_schedule *schedule, const char *note, char *path, size_t size);

void run_schedule_free(struct run_schedule *schedule);

#endif
