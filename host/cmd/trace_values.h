/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Words of the command line as values. Each returns 0, or -1 if the word means nothing. */
#ifndef CMD_TRACE_VALUES_H
#define CMD_TRACE_VALUES_H

#include <stdint.h>

#include "ktread/ktread.h"

/* A whole number up to `limit`, decimal or 0x…. */
int trace_parse_number(const char *text, uint64_t limit, uint64_t *number);
/* "1.5", "250ms": nanoseconds. */
int trace_parse_time(const char *text, uint64_t *nanoseconds);
/* The same and `slack` nanoseconds more, in ticks; of an unknown frequency (0) it is a number of ticks, no more. */
int trace_parse_ticks(const char *text, uint64_t frequency, int64_t slack, uint64_t *ticks);
/* "0,2-5" into a bit map of `limit` CPUs. */
int trace_parse_cpus(const char *list, uint8_t *map, uint32_t limit);
int trace_parse_form(const char *name, enum ktread_form *form);
int trace_parse_layout(const char *name, enum ktread_v1_layout *layout);
/* The machine's usual name, whichever of its names is given. */
int trace_parse_machine(const char *name, const char **machine);

#endif
