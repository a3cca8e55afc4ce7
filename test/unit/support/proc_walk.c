/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "unit/support/proc_walk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include <ktrace/proc.h>

uint64_t proc_bits(const uint8_t *bytes, uint32_t size)
{
	uint64_t value = 0;

	while (size > 0)
		value = value << 8 | bytes[--size];
	return value;
}

void proc_walk_bytes(struct proc_walk *walk, const uint8_t *bytes, size_t size, uint32_t format)
{
	memset(walk, 0, sizeof(*walk));
	walk->bytes = bytes;
	walk->size = size;
	walk->format = format;
}

static bool at_head(const struct proc_walk *walk)
{
	return walk->size - walk->at >= 4 && memcmp(walk->bytes + walk->at, "KTRP", 4) == 0;
}

/* Checks a session's head, and skips it. Returns false if the file ends within the head. */
static bool skip_head(struct proc_walk *walk)
{
	const uint8_t *head = walk->bytes + walk->at;
	uint32_t check = 2166136261u;

	if (walk->size - walk->at < 64)
		return false;
	for (uint32_t i = 0; i < 60; i++)
		check = (check ^ head[i]) * 16777619u;
	assert_int_equal(proc_bits(head + 60, 4), check);
	assert_int_equal(proc_bits(head + 4, 4), 1);
	assert_int_equal(proc_bits(head + 42, 2), 64);
	assert_int_equal(proc_bits(head + 44, 2), 32);
	walk->heads++;
	walk->at += 64;
	return true;
}

static bool next_ktrx(struct proc_walk *walk, struct proc_seen *seen)
{
	const uint8_t *record;

	while (at_head(walk))
		if (!skip_head(walk))
			return false;
	record = walk->bytes + walk->at;
	if (walk->size - walk->at < 32)
		return false;
	seen->size = (uint32_t)proc_bits(record, 4);
	assert_true(seen->size < 1u << 20);
	assert_int_equal(walk->at % 8, 0);
	assert_int_equal(proc_bits(record + 26, 2), 0x9e4b);
	seen->end = walk->at + 32 + (seen->size + 7) / 8 * 8;
	if (seen->end > walk->size)
		return false;
	for (size_t at = walk->at + 32 + seen->size; at < seen->end; at++)
		assert_int_equal(walk->bytes[at], 0);
	seen->type = (uint16_t)proc_bits(record + 4, 2);
	seen->flags = (uint16_t)proc_bits(record + 6, 2);
	seen->stamp = proc_bits(record + 8, 8);
	seen->pid = (uint32_t)proc_bits(record + 16, 4);
	seen->tid = (uint32_t)proc_bits(record + 20, 4);
	seen->cpu = (uint16_t)proc_bits(record + 24, 2);
	seen->lost = (uint32_t)proc_bits(record + 28, 4);
	seen->payload = record + 32;
	return true;
}

static bool next_dragonfly(struct proc_walk *walk, struct proc_seen *seen)
{
	const uint8_t *record = walk->bytes + walk->at;

	if (walk->size - walk->at < 64)
		return false;
	seen->size = (uint32_t)proc_bits(record, 4);
	assert_true(seen->size < 1u << 20);
	seen->end = walk->at + 64 + seen->size;
	if (seen->end > walk->size)
		return false;
	seen->type = (uint16_t)proc_bits(record + 4, 2);
	seen->flags = (uint16_t)proc_bits(record + 6, 2);
	assert_in_range(seen->type, 1, 9);
	seen->cpu = seen->flags >> 8;
	seen->pid = (uint32_t)proc_bits(record + 8, 4);
	seen->tid = (uint32_t)proc_bits(record + 12, 4);
	memcpy(seen->name, record + 16, 17);
	assert_int_equal(seen->name[16], 0);
	seen->sec = (int64_t)proc_bits(record + 40, 8);
	seen->usec = (int64_t)proc_bits(record + 48, 8);
	assert_in_range(seen->usec, 0, 999999);
	seen->payload = record + 64;
	return true;
}

bool proc_next(struct proc_walk *walk, struct proc_seen *seen)
{
	bool found;

	memset(seen, 0, sizeof(*seen));
	found = walk->format == KTRACE_PROC_FORMAT_KTRX ? next_ktrx(walk, seen) : next_dragonfly(walk, seen);
	seen->offset = walk->at;
	if (found)
		walk->at = seen->end;
	else
		walk->torn = walk->at != walk->size;
	return found;
}

void proc_find(struct proc_walk *walk, uint32_t type, struct proc_seen *seen)
{
	do {
		if (!proc_next(walk, seen))
			fail_msg("no record of type %u", type);
	} while (seen->type != type);
}
