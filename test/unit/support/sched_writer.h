/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Writes traces of CPUs that wake and run each other's threads. */
#ifndef SCHED_WRITER_H
#define SCHED_WRITER_H

#include "unit/support/ktread_writer.h"

#define SCHED_HZ UINT64_C(1000000000) /* frequency of the clock: timestamps are in ns */

/* Numbers of the events. Events that a test adds get the numbers after these. */
enum { SCHED_SWITCH = 1, SCHED_WAKE };

/* Begins a trace with a ring of 2^14 slots for each CPU. */
void sched_writer_open(struct writer *writer, uint32_t cpus);
/* Declares an event with one field of type u32. `strings`: as for writer_event(). */
void sched_writer_event(struct writer *writer, const char *strings, size_t size);

void sched_writer_switch(struct writer *writer, uint32_t cpu, uint64_t stamp, uint32_t prev, uint32_t next,
			 uint8_t state);
/* Records an event with one field. */
void sched_writer_put(struct writer *writer, uint32_t cpu, uint64_t stamp, uint32_t event, uint32_t value);

/* Ends the trace, and opens it with the reader. Close it with ktread_close(). */
struct ktread *sched_writer_close(struct writer *writer);

#endif
