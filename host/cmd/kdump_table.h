/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A table of calls named on a command line. */
#ifndef CMD_KDUMP_TABLE_H
#define CMD_KDUMP_TABLE_H

/*
 * `name` is that of a table that was built in, or of a file. 0, or EXIT_BAD_INPUT after a message. `*text` lives as long as
 * `*owned`, which is to be freed and may be NULL.
 */
int kdump_table_read(const char *by, const char *name, char **owned, const char **text);

#endif
