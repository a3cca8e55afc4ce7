/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Decodes blocks of pages as spec/page.md describes them. It shares no code with the writer. It checks that
 * all numbers refer to strings and lanes that were described before.
 */
#ifndef TEST_PAGE_DECODE_H
#define TEST_PAGE_DECODE_H

#include <stddef.h>
#include <stdint.h>

#define DECODED_MOST 32768u

struct decoded_slice {
	uint64_t begin, duration, slot;
	uint32_t lane, row, class, ring, other, flags;
};

struct decoded_event {
	uint64_t time, slot;
	uint32_t ring, type;
};

struct decoded {
	uint32_t blocks, strings, lanes, slices, events, arrows, gaps;
	uint64_t lost;	    /* number of slots that are missing in all gaps */
	uint32_t kind[256]; /* kind of each lane */
	struct decoded_slice slice[DECODED_MOST];
	struct decoded_event event[DECODED_MOST];
};

/* Decodes a block, and adds its contents to the `struct decoded` at `context`. Has the type page_take. */
int decoded_take(void *context, const unsigned char *bytes, size_t size);

#endif
