/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Output on a terminal: colours, a pager for long output, and a line that shows progress. */
#ifndef CMD_TERMINAL_H
#define CMD_TERMINAL_H

#include <stdbool.h>

#include "base/output.h"
#include "cmd/options.h"
#include "ktread/ktread.h"

/* ---- Options, and colours ---- */

/*
 * Options that several commands share. Their values are stored in this module, not in a command's structure.
 */
extern const struct option_row terminal_options[]; /* the options --color and --no-pager */

/*
 * Prepares an output for text that people read (not JSON or CSV) on standard output. Enables colours as
 * --color requests; with "auto", only if standard output is a terminal that supports them. If `paged` is set
 * and standard output is a terminal, starts a pager when the first bytes are written. If standard output is
 * not a terminal, there is no pager.
 *
 *	if (base_output_open(&out, STDOUT_FILENO) < 0) …
 *	if (!json)
 *		terminal_prepare(&out, true);
 */
void terminal_prepare(struct base_output *out, bool paged);

/* ---- The pager ---- */

/*
 * Returns whether a pager was started. If so, a write that fails because the pager has ended is not an error.
 */
bool pager_is_started(void);

/* ---- Progress ---- */

/*
 * A line on standard error that shows how much of a trace was read: percent, events per second, and the
 * remaining time. The line appears if standard error is a terminal and reading takes more than a second.
 */

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
