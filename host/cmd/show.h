/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Parts of `ktrace show` with sources of their own. */
#ifndef CMD_SHOW_H
#define CMD_SHOW_H

#include "analyze/symbols.h"
#include "base/output.h"
#include "cmd/trace_args.h"

/* ktrace show --follow: the timeline of a guest that runs, as it comes. */

/*
 * `elf` NULL: no names; `limit` 0: no end. -1 after a message: the file is none to follow; else the exit
 * status.
 */
int show_follow(struct trace_args *args, const char *elf, uint64_t limit, struct base_output *out);

/* The option --elf of commands that show addresses by name. */

/*
 * Opens the kernel's file; `elf` NULL: there is none, and *symbols becomes NULL. What is doubtful about it is
 * said on stderr. 0, or EXIT_BAD_INPUT after a message.
 */
int show_symbols_open(struct symbols **symbols, const char *elf, const struct ktread *trace,
		      const char *name);

#endif
