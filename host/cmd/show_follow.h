/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* ktrace show --follow: the timeline of a guest that runs, as it comes. */
#ifndef CMD_SHOW_FOLLOW_H
#define CMD_SHOW_FOLLOW_H

#include "cmd/trace_args.h"
#include "base/output.h"

/* `elf` NULL: no names; `limit` 0: no end. -1 after a message: the file is none to follow; else the exit status. */
int show_follow(struct trace_args *args, const char *elf, uint64_t limit, struct base_output *out);

#endif
