/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The command line of `ktrace hwt`: which recording, what of it, and how it is to be shown. */
#ifndef CMD_HWT_ARGS_H
#define CMD_HWT_ARGS_H

#include <stdint.h>

#include "flow/columns.h"
#include "flow/folded.h"
#include "flow/last.h"

#define HWT_CPUS_MOST 4096u
#define HWT_ELFS_MOST 32u

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
	int json;
	const char *columns, *backend, *image, *function, *root, *output, *snapshot, *cpu_list;
	const char *from, *to;
	uint8_t cpus[HWT_CPUS_MOST / 8];
	int64_t thread, pid; /* -1: all */
	uint64_t bytes;	     /* -b; 0: not given */
	enum flow_weight weight;
	struct flow_last last;
	const char *elf[HWT_ELFS_MOST]; /* as given: FILE or FILE@BASE */
	unsigned elfs;
	char **command; /* to be run and recorded; NULL: none */
};

/* -1: go on; otherwise the exit status, --help included. */
int hwt_args_parse(struct hwt_args *args, int argc, char **argv);
/* "unusable value for OPTION"; returns EXIT_USAGE. */
int hwt_bad_value(const struct hwt_args *args, const char *option, const char *value);

#endif
