/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The command line of `ktrace hwt`: which recording, what of it, and how it is to be shown. */
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
	const char *name; /* signs messages */
	const char *path;
	enum hwt_view view;
	unsigned views; /* how many were asked for */
	bool json;
	const char *columns, *backend, *image, *function, *root, *output, *snapshot, *symbols, *cpu_list;
	const char *from, *to;
	uint8_t cpus[TRACE_CPUS_MAX / 8];
	int64_t thread, pid; /* -1: all */
	uint64_t bytes;	     /* -b; 0: not given */
	enum flow_weight weight;
	struct flow_last last;
	struct options_list elf; /* as given: FILE or FILE@BASE */
	char **command;		 /* to be run and recorded; NULL: none */
};

/* The recording that `ktrace hwt` looks at: opened, narrowed down, and what is missing of it told. */

/* 0, or an exit status after a message. */
int hwt_flow_open(struct hwt_args *args, struct flow **flow);
/* Says what is missing or damaged. EXIT_BAD_INPUT if something is damaged, else 0. */
int hwt_flow_say_loss(const struct hwt_args *args, const struct flow *flow);
/* Says that code has no names, and that nothing was as asked for. EXIT_BAD_INPUT if so, else 0. */
int hwt_flow_say_nothing(const struct hwt_args *args, const struct flow *flow);

/* ktrace hwt: one recording, one view of it. */

/* Shows the recording as the command line has it. Messages are printed. Returns the exit status. */
int hwt_view(struct hwt_args *args);

#endif
