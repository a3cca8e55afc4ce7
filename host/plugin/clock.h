/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Time in packets: the host's clock, and on from what the guest has said of its own. */
#ifndef PLUGIN_CLOCK_H
#define PLUGIN_CLOCK_H

#include <stdint.h>

struct trace;

/* Nanoseconds since the plugin was loaded. */
uint64_t clock_nanoseconds(void);

/* Now, in the clock of the trace; never less than it has told. */
uint64_t clock_of(const struct trace *trace);

/*
 * The clock of the trace says `stamp` now and makes `frequency` ticks a second; 0: nanoseconds since loading.
 */
void clock_set(struct trace *trace, uint64_t stamp, uint64_t frequency);

/* The clock of the trace says `stamp` now, or more if it does so already. */
void clock_catch_up(struct trace *trace, uint64_t stamp);

#endif
