/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Files that the zstd tool compressed. */
#ifndef KTREAD_UNPACK_H
#define KTREAD_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "trace.h"

/* What a frame of zstd begins with (RFC 8878, section 3.1.1). */
#define KTREAD_ZSTD_MAGIC "\x28\xb5\x2f\xfd"

bool ktread_unpack_is_packed(struct ktread_memory *memory);
/*
 * Puts a temporary file with what is in the trace's file in its place. What is zero takes no room there; all
 * of it takes as much as the disk has.
 */
int ktread_unpack(struct ktread *trace);

/* Unpacks what the zstd tool packed, in order and in constant memory, for traces that are read in one go. */

struct ktread_proc_unpacker;

/* Reads once: how many bytes, 0 at the end, or an error. */
typedef ssize_t ktread_proc_read(void *context, uint8_t *to, size_t room);

/*
 * Of what begins with KTREAD_ZSTD_MAGIC, which has been read already, and is cut short where it ends before
 * its time unless more may come. `name` is for messages, and stays the caller's.
 */
int ktread_proc_unpacker_open(struct ktread_proc_unpacker **unpacker, const char *name, bool more_may_come);
void ktread_proc_unpacker_close(struct ktread_proc_unpacker *unpacker);
/*
 * The same as what it reads by; KTREAD_E_FORMAT where the packed bytes are damaged or have no end, after what
 * is before.
 */
ssize_t ktread_proc_unpack(struct ktread_proc_unpacker *unpacker, ktread_proc_read *read, void *context,
			   uint8_t *to, size_t room);

#endif
