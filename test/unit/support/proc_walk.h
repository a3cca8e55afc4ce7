/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Reads the bytes of a process trace in ktrace's own format (spec/ktrx-proc.md) or in DragonFly's format.
 * Shares no code with the code under test. Bytes that cannot be in a file fail the test.
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
	char name[17];	   /* name of the process, only in DragonFly's format */
	int64_t sec, usec; /* time of the record, only in DragonFly's format */
};

struct proc_walk {
	const uint8_t *bytes;
	size_t size, at;
	uint32_t format;
	uint32_t heads;
	bool torn; /* true if the head or record at `at` is incomplete, because the file ends within it */
};

void proc_walk_bytes(struct proc_walk *walk, const uint8_t *bytes, size_t size, uint32_t format);

/* Reads the next record. Returns false if there is no complete one: the file ends before or within it. */
bool proc_next(struct proc_walk *walk, struct proc_seen *seen);

/* Finds the next record of this type. Fails the test if there is none. */
void proc_find(struct proc_walk *walk, uint32_t type, struct proc_seen *seen);

/* Returns the number that these little-endian bytes represent. */
uint64_t proc_bits(const uint8_t *bytes, uint32_t size);

#endif
