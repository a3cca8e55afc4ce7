/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Streams in memory, and the version 2 trace from which they are made. */
#ifndef TEST_KTREAD_STREAM_H
#define TEST_KTREAD_STREAM_H

#include "unit/support/ktread_sample.h"

/* A file in memory, with a path to open it. */
struct scratch {
	int descriptor;
	char path[32];
};

struct scratch scratch_open(void);
struct scratch scratch_of(const void *bytes, size_t size);
struct bytes scratch_bytes(const struct scratch *scratch);

/* Returns the stream made from a file. */
struct scratch stream_of(const char *path, const struct ktread_options *options);

/* Writes all kinds of slots in rings that have wrapped around, and CPU offsets. */
void stream_fill_v2(struct writer *writer);

#endif
