/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* ktrace show --svg: a window of the trace as a picture. */
#ifndef CMD_SHOW_WINDOW_H
#define CMD_SHOW_WINDOW_H

#include "cmd/trace_args.h"

/* From args->since to args->until, into the file `to`. Returns the exit status. */
int show_window(struct trace_args *args, const char *to);

#endif
