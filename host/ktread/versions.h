/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The readers of both versions of traces. */
#ifndef KTREAD_VERSIONS_H
#define KTREAD_VERSIONS_H

#include "dumps.h"
#include "layout.h"
#include "trace.h"

/* Version 1 dumps and bare records. */

int ktread_v1_open(struct ktread *trace, const struct ktread_dump *dump);
/* Records of version 1 without a header, from all CPUs in one sequence. */
int ktread_bare_open(struct ktread *trace);

/* Version 2 as rings of a trace: from a dump or, through the same layout, from memory. */

/* The dump whose root lies at `offset` of the trace's memory. */
int ktread_v2_open_dump(struct ktread *trace, uint64_t offset);
/* Takes over the layout. */
int ktread_v2_open(struct ktread *trace, struct ktread_layout *layout);
/*
 * Steps over the extension block that an event's payload begins with, at least its head, and takes what it
 * says.
 */
void ktread_v2_take_extension(struct ktread_event *event);
/* Warns of rows of repetitions that cannot be used. */
int ktread_folds_check(struct ktread *trace);
/* Takes the names of threads as they are now. */
int ktread_v2_load_threads(struct ktread *trace);

#endif
