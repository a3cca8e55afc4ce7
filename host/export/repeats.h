/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Repetitions in words: those that a record tells, and those that nothing has ended. */
#ifndef EXPORT_REPEATS_H
#define EXPORT_REPEATS_H

#include "base/output.h"
#include "ktread/ktread.h"

/* "lock.acquire: 199 more in 0.000175 s"; NULL: the event does not tell repetitions. */
char *repeats_put(char *at, const struct ktread *trace, const struct ktread_event *event);

/* A line for each event that was still repeating. 0, or an error of the reader. */
int repeats_write(struct base_output *out, struct ktread *trace);

#endif
