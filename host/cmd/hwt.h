/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The command line of `ktrace hwt`: the recording, the part of the recording to show, and the view. */
#ifndef CMD_HWT_H
#define CMD_HWT_H

#include <stdint.h>

#include "cmd/trace_args.h"
#include "flow/views.h"

enum hwt_view {
	HWT_VIEW_COLUMNS,
	HWT_VIEW_CALLS,
	HWT_VIEW_FOLDED,
	HWT_VIEW_DURATIONS,
	HWT_VIEW_COVERAGE,
	HWT_VIEW_FUNCTIONS,
	HWT_VIEW_PACKETS,
	HWT_VIEW_RAW,
};

struct hwt_args {
	const char *name; /* text that begins each message */
	const char *path;
	enum hwt_view view;
	unsigned views; /* number of options on the command line that select a view */
	bool json;
	const char *columns, *backend, *image, *function, *root, *output, *snapshot, *symbols, *cpu_list;
	const char *from, *to;
	uint8_t cpus[TRACE_CPUS_MAX / 8];
	int64_t thread, pid; /* ids of the thread and of the process to show; -1: all */
	uint64_t bytes;	     /* value of -b (size of a ring) in bytes; 0 if it was not given */
	enum flow_weight weight;
	struct flow_last last;
	struct options_list elf; /* values of --elf, unchanged: FILE or FILE@BASE */
	char **command;		 /* command to run and record; NULL: show a recording */
};

/* Opens the recording for `ktrace hwt`, applies the filters, and reports missing data. */

/* Opens the recording. Returns 0, or an exit status after printing a message. */
int hwt_flow_open(struct hwt_args *args, struct flow **flow);
/*
 * Prints messages about missing and damaged data. Returns EXIT_BAD_INPUT if something is damaged, otherwise
 * 0.
 */
int hwt_flow_print_loss(const struct hwt_args *args, const struct flow *flow);
/*
 * Prints messages about functions without names, and if nothing in the recording matches the selection.
 * Returns EXIT_BAD_INPUT if nothing matches, otherwise 0.
 */
int hwt_flow_print_nothing(const struct hwt_args *args, const struct flow *flow);

/* Shows the recording in the requested view. Prints messages for errors. Returns the exit status. */
int hwt_view(struct hwt_args *args);

#endif
