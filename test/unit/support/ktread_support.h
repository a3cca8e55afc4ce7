/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Growing byte buffers, temporary files and version 1 dumps for the tests of the reader. */
#ifndef KTREAD_SUPPORT_H
#define KTREAD_SUPPORT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "ktread/ktread.h"
#include "ktrx/v1.h"

struct bytes {
	unsigned char *data;
	size_t size;
};

void bytes_append(struct bytes *bytes, const void *data, size_t size);
/* Appends zeros until there are `size` bytes. */
void bytes_grow(struct bytes *bytes, size_t size);
void bytes_free(struct bytes *bytes);

/* Writes a temporary file. Returns its path, which is valid until the next call. */
const char *temporary(const void *data, size_t size);
const char *temporary_bytes(const struct bytes *bytes);
int temporary_teardown(void **state); /* removes the temporary file that was written last */

void v1_header(struct bytes *bytes, uint32_t cpus, uint32_t slots);
void v1_record(struct bytes *bytes, uint64_t stamp, uint32_t event, uint32_t cpu, uint32_t pid,
	       uint32_t data0);

/* Opens a trace; fails the test if that is not possible. */
struct ktread *open_ok(const char *path, const struct ktread_options *options);
/*
 * Reads to the end, checks that events are in the order of their timestamps, and closes the trace. Returns
 * the number of events.
 */
uint64_t drain(struct ktread *trace);

#endif
