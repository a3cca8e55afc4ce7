/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Files that the zstd tool compressed. */
#ifndef KTREAD_UNPACK_H
#define KTREAD_UNPACK_H

#include <stdbool.h>

#include "trace.h"

/* What a frame of zstd begins with (RFC 8878, section 3.1.1). */
#define KTREAD_ZSTD_MAGIC "\x28\xb5\x2f\xfd"

bool ktread_unpack_is_packed(struct ktread_memory *memory);
/*
 * Puts a temporary file with what is in the trace's file in its place. What is zero takes no room there; all of it takes
 * as much as the disk has.
 */
int ktread_unpack(struct ktread *trace);

#endif
