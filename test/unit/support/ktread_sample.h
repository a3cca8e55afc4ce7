/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A small trace of two event types for the tests of version 2. */
#ifndef KTREAD_SAMPLE_H
#define KTREAD_SAMPLE_H

#include "unit/support/ktread_writer.h"

#define SHIFT  9u
#define SLOTS  (1u << SHIFT)
#define SWITCH 1u
#define OPEN   2u

void begin(struct writer *writer, uint32_t rings);
void begin_small(struct writer *writer, uint32_t rings, uint32_t shift);
/* Records an event that takes one slot. */
uint64_t put_switch(struct writer *writer, uint32_t ring, uint64_t stamp, uint32_t prev);
/* Records an event with this path, which takes as many slots as the path needs. */
uint64_t put_open(struct writer *writer, uint32_t ring, uint64_t stamp, const char *path);
/*
 * Reads to the end. Checks that the counts of each ring are correct, and that exactly `invalid` slots are
 * invalid. Closes the trace. Returns how many events it had.
 */
uint64_t drain_exact(struct ktread *trace, uint64_t invalid);

#endif
