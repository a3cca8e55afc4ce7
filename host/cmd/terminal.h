/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Output on a terminal: all commands use colours, and a pager for long output. */
#ifndef CMD_TERMINAL_H
#define CMD_TERMINAL_H

#include <stdbool.h>

#include "base/output.h"
#include "cmd/options.h"

/* Options that commands share. Their values are stored in the module, not in the command's structure. */
extern const struct option_row terminal_color_options[]; /* --color */
extern const struct option_row terminal_options[];	 /* --color, --no-pager */

/*
 * Prepares an output that is open on standard output and contains text for people; not JSON or CSV. Adds
 * colours if --color and the terminal want them. If `paged` is set and standard output is a terminal, starts
 * a pager when the first bytes are written. Without a terminal, the output is not changed.
 *
 *	if (base_output_open(&out, STDOUT_FILENO) < 0) …
 *	if (!json)
 *		terminal_prepare(&out, true);
 */
void terminal_prepare(struct base_output *out, bool paged);

/*
 * Starts a pager as the reader of standard output and, if that is a terminal, of standard error. Does
 * nothing if there is no pager. At the end of the program, waits until the person ends the pager.
 */
void pager_start(void);
/* Returns whether a pager was started. A write to a pager that has ended is not an error. */
bool pager_is_started(void);

#endif
