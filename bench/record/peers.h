/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Other designs of a record path, timed in the same run, so that figures can be given as ratios. */
#ifndef BENCH_PEERS_H
#define BENCH_PEERS_H

#include <stdint.h>

/* An empty loop, and a read of the counter: the references for all others. */
void empty_tight(uint64_t n);
void empty_busy(uint64_t n);
void counter_tight(uint64_t n);
void counter_busy(uint64_t n);

/* Eight times: a load, and a branch that is not taken. */
void branch_tight(uint64_t n);
void branch_busy(uint64_t n);

/* A plain index and six stores: no tracer can be cheaper. */
void floor_tight(uint64_t n);
void floor_busy(uint64_t n);

/* An unlocked add and six stores, without the counter. */
void added_tight(uint64_t n);
void added_busy(uint64_t n);

/* An unlocked add and six stores, with the check of a record over the stored values. */
void add_check_tight(uint64_t n);
void add_check_busy(uint64_t n);

/* One ring, reserved with a locked add and stamped with rdtscp. */
void locked_tight(uint64_t n);
void locked_busy(uint64_t n);

#endif
