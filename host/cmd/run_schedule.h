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

#include "capture/schedule.h"
#include "capture/run.h"
#include "cmd/options.h"

struct run_schedule {
	bool deterministic;
	struct schedule_noise noise; /* the noise that --seed and --noise define */
	const char *later;	     /* value of --then: "TIME,SEED" */
	uint64_t deadline;	     /* time limit of the run in virtual ns; 0: none */
	const char *input;	     /* name of the script given with --input */
	char *script;		     /* contents of the script; owned */
	const char *replay;
	/* recipe of the first run, from the trace given with --replay */
	struct capture_recipe recipe;
	bool adds_branches; /* the repeated run may record branches even if the first run did not */
	char out[PATH_MAX], elf[PATH_MAX], ram_dir[PATH_MAX], branches[PATH_MAX];
};

/* maximum time that --noise accepts, in ns */
#define RUN_SCHEDULE_NOISE_MOST UINT64_C(1000000000)

/* Parses "KIND", "TIME" or "KIND,TIME", and stores the kind and the mean time in a struct schedule_noise. */
option_set run_schedule_set_noise;

/* Writes the value of --noise as text. Writes "" if the option was not given. */
void run_schedule_describe_noise(const struct schedule_noise *noise, char *text, size_t size);

/*
 * Fills in the options of the run. With --replay, reads the recipe, makes the paths in options absolute, and
 * changes to the directory of the first run. `argc` and `argv`: the arguments after the options. Returns 0,
 * or an exit status after a message.
 */
int run_schedule_prepare(struct run_schedule *schedule, const struct options *line,
			 struct capture_run_options *options, int argc, char **argv);

/*
 * Finds the kernel's hooks in the file of --elf, if that option is given and CPUs' time slices end at hooks.
 * Returns 0, or EXIT_USAGE after a message.
 */
int run_schedule_find_hooks(const char *name, struct capture_run_options *options);

/*
 * Reads and checks the script given with --input. Returns its contents, which the caller frees; NULL after a
 * message.
 */
char *run_schedule_script(const char *name, const char *path);

/*
 * Repeats a run for a command that has output of its own. `apart`: the guest's console is printed on standard
 * error. *output: a descriptor of the command's own standard output, valid while the guest runs. Returns 0,
 * or an exit status after a message.
 */
int run_schedule_repeat(const char *name, struct capture_run_options *options, bool apart, int *output,
			struct capture_result *result);

/* Prints a command that repeats the run. Requires: a trace was written. */
void run_schedule_report(const char *name, const struct capture_run_options *options,
			 const struct capture_result *result);

#define RUN_STATUS_DIFFERS 17

/*
 * Compares the events of the new trace with those of the first run, whose trace was given with --replay, and
 * prints the result. Returns the status of the run if they are the same, RUN_STATUS_DIFFERS if they differ or
 * if no event is in both traces, EXIT_BAD_INPUT if a trace is unreadable.
 */
int run_schedule_compare(const char *name, const struct run_schedule *schedule, const char *out,
			 const struct capture_result *result);

/*
 * Writes the path of the kernel's file, from the recipe of the repeated run or from the note. Returns false
 * if the path is unknown. Requires: if a run is repeated, run_schedule_prepare() has returned 0.
 */
bool run_schedule_kernel(const struct run_schedule *schedule, const char *note, char *path, size_t size);

void run_schedule_free(struct run_schedule *schedule);

#endif
