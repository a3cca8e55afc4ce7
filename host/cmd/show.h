/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Parts of `ktrace show` that have sources of their own. */
#ifndef CMD_SHOW_H
#define CMD_SHOW_H

#include "analyze/symbols.h"
#include "base/output.h"
#include "cmd/trace_args.h"

/* ktrace show --follow: the timeline of a running guest, as events occur. */

/*
 * Follows the guest. If `elf` is NULL, prints no symbol names. If `limit` is 0, there is no limit of
 * events.
 * Returns -1 after a message if the file cannot be followed; otherwise the exit status.
 */
int show_follow(struct trace_args *args, const char *elf, uint64_t limit, struct base_output *out);

/* The option --elf of commands that print symbol names for addresses. */

/*
 * Opens the kernel's file. If `elf` is NULL, stores NULL in *symbols. Prints warnings on stderr.
 * Returns 0, or EXIT_BAD_INPUT after a message.
 */
int show_symbols_open(struct symbols **symbols, const char *elf, const struct ktread *trace,
		      const char *name);

#endif
