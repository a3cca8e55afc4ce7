/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* --with FILE: what processes asked of the kernel, or which code ran, beside the kernel's own trace. */
#ifndef CMD_TRACE_WITH_H
#define CMD_TRACE_WITH_H

#include "cmd/trace_args.h"
#include "flow/flow.h"

/* 0, or an exit status after a message. */
int trace_with(const struct trace_args *args, struct ktread *trace);

/* Adds "FILE" or "FILE@BASE" to the images. 0, or an exit status after a message signed `name`. */
int trace_add_elf(const char *name, struct flow *flow, const char *word);

#endif
