/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* From a trace to what `ktrace why` says of it: for that command, and for `ktrace run --why`. */
#ifndef CMD_EXPLAIN_H
#define CMD_EXPLAIN_H

#include <stdbool.h>

#include "base/output.h"
#include "cmd/options.h"
#include "ktread/ktread.h"

#define EXPLAIN_EARLIER 16u

struct explain_options {
	const char *name;	     /* signs messages */
	const char *elf;	     /* NULL: the kernel that the trace's command line names */
	struct options_list earlier; /* traces, for the order of locks */
	bool json;
	bool all;
	bool brief; /* the verdict alone */
};

#define EXPLAIN_PROBLEM 10 /* exit statuses; 0: nothing to repair */
#define EXPLAIN_UNKNOWN 11

/*
 * Writes what is wrong. *exit_status is of the verdict, or EXIT_BAD_INPUT after a message. 0, or what reading
 * the trace came to.
 */
int explain(const struct explain_options *options, struct ktread *trace, struct base_output *out,
	    int *exit_status);
/* The verdict on a trace file alone, on stderr. `elf` may be NULL. */
void explain_file(const char *name, const char *path, const char *elf);

#endif
