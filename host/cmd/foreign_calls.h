/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#ifndef CMD_FOREIGN_CALLS_H
#define CMD_FOREIGN_CALLS_H

#include "ktread/ktread.h"

/*
 * A process trace that does not bring a table of its kernel's calls gets the one that was built in for that
 * kernel, as kdump does it. 0, or a negative KTREAD_E_*.
 */
int foreign_calls_set(struct ktread *trace);

/*
 * Names the trace's system calls by `table` and by nothing else (share/tables, spec/ktrx-proc.md). A table of
 * calls without numbers, as Linux's, is of the trace's machine, else of `machine`, and of x86_64 if that is
 * 0. Returns that machine, 0 for a table that brings its numbers, or a negative KTREAD_E_*.
 */
int foreign_calls_set_table(struct ktread *trace, const char *table, uint16_t machine);

/* A table of calls named on a command line. */

/*
 * `name` is that of a table that was built in, or of a file. 0, or EXIT_BAD_INPUT after a message. `*text`
 * lives as long as
 * `*owned`, which is to be freed and may be NULL.
 */
int kdump_table_read(const char *by, const char *name, char **owned, const char **text);

#endif
