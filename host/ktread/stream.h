/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Streams as sources: the memory inside one is the dump it was made from, so whoever reads dumps reads
 * streams. What a stream lacks, because it was cut short or damaged, reads as zeros, which are slots that
 * nobody wrote.
 */
#ifndef KTREAD_STREAM_H
#define KTREAD_STREAM_H

#include <stdbool.h>

#include "ktrx/stream.h"
#include "trace.h"

/* Bytes of recoded dump that a reader keeps, in which one block of each ring should find room. */
#define KTREAD_STREAM_KEPT (UINT32_C(2) << 20)

/* Whether a stream's head stands at the start of a file. */
bool ktread_stream_is(struct ktread_memory *memory);
/*
 * Puts the memory inside in the place of the trace's own, and takes from the stream's head what the options
 * leave open. `form` is set to KTRX_STREAM_*.
 */
int ktread_stream_enter(struct ktread *trace, uint32_t *form);

#endif
