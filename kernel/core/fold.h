/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Rows in which repetitions of an event are counted instead of recorded. A row belongs to a CPU and to
 * whoever holds it: a nested context, or a thread that was moved meanwhile, finds it held, does not wait and
 * records as ever. So what was produced is what was recorded plus what was counted, always.
 *
 * Records are compared byte by byte, not by a hash: equal means equal, and a row tells by itself what is
 * being repeated, long after the record has been overwritten.
 */
#ifndef KTRACE_CORE_FOLD_H
#define KTRACE_CORE_FOLD_H

#include "write.h"

/* `all` rows, of which each CPU has `rows`; from ktrace_init(). */
KTRACE_HIDDEN void ktrace_fold_open(struct ktrx_fold *fold, uint32_t all, uint32_t rows);

/*
 * Holds the CPU's row for an event: its own, else an empty one, else the one that was used least recently.
 * NULL: there are no rows, or somebody holds it.
 */
KTRACE_HIDDEN struct ktrx_fold *ktrace_fold_hold(uint32_t cpu, uint16_t event);
KTRACE_HIDDEN void ktrace_fold_release(struct ktrx_fold *fold);

/* The end of the draft's payload is cleared: ktrace_draft_end(). */
KTRACE_HIDDEN int ktrace_fold_is(const struct ktrx_fold *fold, const struct ktrace_draft *draft);
KTRACE_HIDDEN void ktrace_fold_count(struct ktrx_fold *fold, uint64_t stamp);

/* From now on the row is for this record, made about then, and has counted nothing. */
KTRACE_HIDDEN void ktrace_fold_set(struct ktrx_fold *fold, const struct ktrace_draft *draft, uint64_t stamp);

/* Empties all rows; those that are held, when they are released. */
KTRACE_HIDDEN void ktrace_fold_clear(void);

#endif
