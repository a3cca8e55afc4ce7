/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Streams in memory, and a version 2 trace from which streams are made. */
#ifndef TEST_KTREAD_STREAM_H
#define TEST_KTREAD_STREAM_H

#include "unit/support/ktread_sample.h"

/* The contents of a file, and the path of the file. */
struct scratch {
	int descriptor;
	char path[32];
};

struct scratch scratch_open(void);
struct scratch scratch_of(const void *bytes, size_t size);
struct bytes scratch_bytes(const struct scratch *scratch);

/* Returns the stream made from a file. */
struct scratch stream_of(const char *path, const struct ktread_options *options);

/*
 * Writes a trace with all types of slots, in rings that have wrapped around, and with clock offsets of CPUs.
 */
void stream_fill_v2(struct writer *writer);

#endif
