/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Reads a ring as spec/ktrx.md defines it, from its bytes. It shares no code with the library under test. */
#ifndef TEST_FAKE_CHECKER_H
#define TEST_FAKE_CHECKER_H

#include <stdbool.h>
#include <stdint.h>

struct checked_record {
	uint64_t index; /* index of the record's first slot */
	/* timestamp, extended to 64 bits with the previous anchor or with the ring's anchor_stamp */
	uint64_t stamp;
	uint32_t slots;
	uint32_t event;
	uint32_t thread;
	uint32_t context;
	bool extended;
	uint8_t payload[230];
	uint32_t size; /* number of bytes in payload[] */
};

struct checked_ring {
	uint64_t produced;    /* number of slots with this state */
	uint64_t overwritten; /* number of slots with this state */
	uint64_t decoded;     /* number of slots with this state */
	/*
	 * number of slots that are incomplete, belong to a different lap, or were written by several
	 * writers
	 */
	uint64_t invalid;
	uint64_t anchors;
	uint32_t records; /* number of entries in record[]; anchors are not counted */
	struct checked_record record[4096];
};

/*
 * Reads and checks the ring with this number (0 is the boot ring). The result is valid until the next call.
 */
const struct checked_ring *check_ring(uint32_t number);

/* Returns the little-endian number of `size` bytes at offset `at` of the payload. */
uint64_t payload_bits(const struct checked_record *record, uint32_t at, uint32_t size);

#endif
