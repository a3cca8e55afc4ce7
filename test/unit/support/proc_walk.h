/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Reads a process trace as spec/ktrx-proc.md says, or DragonFly's, from its bytes, sharing nothing with the code under test.
 * What cannot be in a file at all fails the test.
 */
#ifndef TEST_PROC_WALK_H
#define TEST_PROC_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct proc_seen {
	size_t offset, end;
	uint32_t size;
	uint16_t type, flags;
	uint64_t stamp;
	uint32_t pid, tid, lost;
	uint16_t cpu;
	const uint8_t *payload;
	char name[17];	   /* DragonFly's */
	int64_t sec, usec; /* DragonFly's */
};

struct proc_walk {
	const uint8_t *bytes;
	size_t size, at;
	uint32_t format;
	uint32_t heads;
	bool torn; /* it ends within something: from `at` on */
};

void proc_walk_bytes(struct proc_walk *walk, const uint8_t *bytes, size_t size, uint32_t format);

/* False at the end, or where it is torn. */
bool proc_next(struct proc_walk *walk, struct proc_seen *seen);

/* The next of this type; fails the test if there is none. */
void proc_find(struct proc_walk *walk, uint32_t type, struct proc_seen *seen);

/* Little-endian bytes. */
uint64_t proc_bits(const uint8_t *bytes, uint32_t size);

#endif
