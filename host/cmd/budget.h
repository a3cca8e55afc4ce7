/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * --budget and --cursor: an answer in pages of a limited size. The command itself runs in a child process
 * without a limit. This process divides the command's output into pieces and prints the pieces of one page:
 *
 * - Text and JSON Lines are divided into lines.
 * - A JSON document is divided into its members, and a member that is an array into its elements. A page is a
 *   document with some of them. Pages joined member by member, and array by array, are the whole document.
 *
 * A cursor contains the number of pieces before the next page, and a hash of these pieces. If the hash
 * differs later, the answer has changed.
 */
#ifndef CMD_BUDGET_H
#define CMD_BUDGET_H

#include "cmd/options.h"

/* Options of a command whose exit status depends on the whole answer. */
extern const struct option_row budget_options[];
/* Options of a command that prints a list. The command is ended when the page is full. */
extern const struct option_row budget_list_options[];

/*
 * Prints a page if --budget or --cursor was given. Call it after the options were read, before anything is
 * printed. Returns -1 if the caller must continue and print the answer; otherwise the exit status, after a
 * page was printed.
 */
int budget_begin(const char *name);

#endif
