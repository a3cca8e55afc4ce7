/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The trace of a boot that a reset ends. What lies in the kernel's image is loaded anew then; so what a
 * reader needs of it is copied into the lent memory: a root, the table of rings, the boot ring, the event
 * table and texts. Rings and the other tables are there anyway. What changes is brought up to date by
 * heartbeats; the rest of the way to where each ring really ended a reader finds by the slots' generations,
 * so that nothing of this touches the record path.
 */
#ifndef KTRACE_CORE_KEEP_H
#define KTRACE_CORE_KEEP_H

#include "state.h"

/* Bytes that the copies take, for so many rings. */
KTRACE_HIDDEN uint64_t ktrace_keep_size(const struct ktrace_config *config, uint32_t rings);

/* Before memory that earlier boots used is written: what the last of them left there is no trace any more. */
KTRACE_HIDDEN void ktrace_keep_forget(void *memory);

/* Makes the copies, when all else is in place. The root becomes one last. */
KTRACE_HIDDEN void ktrace_keep_open(void *memory, uint32_t rings, uint64_t boot);

/*
 * From a CPU that comes online, and from each of its heartbeats: brings up to date what the copies say of it
 * and of what all CPUs share.
 */
KTRACE_HIDDEN void ktrace_keep_beat(uint32_t cpu);

/* The same of all CPUs. */
KTRACE_HIDDEN void ktrace_keep_all(void);

#endif
