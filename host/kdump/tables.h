/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Which table goes with a trace. */
#ifndef KDUMP_TABLES_H
#define KDUMP_TABLES_H

#include "kdump/table.h"
#include "ktread/proc.h"

/*
 * The text of it: `given` if that is not NULL, else the trace's own, else what was built in for its kernel: share/tables. A
 * trace in our format without a table is one of Linux.
 */
const char *kdump_tables_choose(const struct ktread_proc *trace, const char *given);

/* The text of a table that was built in, by its name: "linux"; NULL if there is none. */
const char *kdump_tables_text(const char *name);

#endif
