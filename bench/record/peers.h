/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Other designs of a record path. They are timed in the same run as the library, as references for ratios. */
#ifndef BENCH_PEERS_H
#define BENCH_PEERS_H

#include <stdint.h>

/* An empty loop, and a loop that only reads the counter. The other loops are compared with these two. */
void empty_tight(uint64_t n);
void empty_busy(uint64_t n);
void counter_tight(uint64_t n);
void counter_busy(uint64_t n);

/* A load, and a branch that is not taken, eight times per round. */
void branch_tight(uint64_t n);
void branch_busy(uint64_t n);

/*
 * Increments an index without atomic instructions, reads the counter, and stores one slot. No
 * tracer can be cheaper.
 */
void floor_tight(uint64_t n);
void floor_busy(uint64_t n);

/* Reserves a slot by an unlocked add and stores the slot, without reading the counter. */
void added_tight(uint64_t n);
void added_busy(uint64_t n);

/*
 * Does the same as added_tight() and added_busy(), and also computes a check value from the stored
 * values, as for a record.
 */
void add_check_tight(uint64_t n);
void add_check_busy(uint64_t n);

/* One ring for all threads: a slot is reserved with a locked add; the timestamp is read with rdtscp. */
void locked_tight(uint64_t n);
void locked_busy(uint64_t n);

#endif
