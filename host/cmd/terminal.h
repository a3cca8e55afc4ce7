/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Output on a terminal: all commands use colours, and a pager for long output. */
#ifndef CMD_TERMINAL_H
#define CMD_TERMINAL_H

#include <stdbool.h>

#include "base/output.h"
#include "cmd/options.h"

/*
 * Options that several commands share. Their values are stored in this module, not in a command's structure.
 */
extern const struct option_row terminal_color_options[]; /* only the option --color */
extern const struct option_row terminal_options[];	 /* the options --color and --no-pager */

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

/*
 * Starts a pager that reads standard output and, if standard error is a terminal, also standard error. Does
 * nothing if there is no pager. At the end of the program, waits until the user ends the pager.
 */
void pager_start(void);
/*
 * Returns whether a pager was started. If so, a write that fails because the pager has ended is not an error.
 */
bool pager_is_started(void);

#endif
