/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A line on standard error that shows how much of a trace was read: percent, events per second, and the
 * remaining time. The line appears if standard error is a terminal and reading takes more than a second.
 */
#ifndef CMD_PROGRESS_H
#define CMD_PROGRESS_H

#include "base/output.h"
#include "ktread/ktread.h"

/*
 * Starts to show how much of the trace was read. `name` begins the line. Stops when `out` is written to a
 * terminal; `out` may be NULL. Only one progress line exists at a time: a second call replaces the first
 * line. Requires: progress_stop() is called before `trace` is closed; trace_args_close() does this.
 */
void progress_start(const char *name, struct ktread *trace, struct base_output *out);
/* Removes the line, and does not show it again. Does nothing if there is none. */
void progress_stop(void);
/* Removes the line before another message is printed. The line appears again later. */
void progress_clear(void);

#endif
