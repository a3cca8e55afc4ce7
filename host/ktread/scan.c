/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Scans a memory for roots and for the heads of blocks. Roots and block heads are aligned to 64 bytes and
 * begin with the same four letters. So one comparison for every 64 bytes finds all of them. Holes are
 * skipped. The memory is read, and never mapped.
 */
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "layout.h"

#define CHUNK	   (UINT64_C(1) << 16) /* larger chunks leave the inner caches while they are copied */
#define ALIGNMENT  64u
#define MAX_BLOCKS 16384u

static int add_root(struct ktread_scan *scan, struct ktread_memory *memory, uint64_t physical,
		    uint64_t position)
{
	struct ktrx_root root;
	uint64_t *grown;

	if (scan->roots == KTREAD_SCAN_ROOTS || ktread_root_read(memory, physical, &root) < 0 ||
	    root.self == 0 || (root.flags & KTRX_FLAG_DUMP))
		return 0;
	grown = realloc(scan->root, (scan->roots + 1) * sizeof(*grown));
	if (!grown)
		return ktread_fail_memory();
	scan->root = grown;
	scan->root[scan->roots++] = position;
	return 0;
}

static int add_block(struct ktread_scan *scan, uint64_t position, const unsigned char *bytes)
{
	struct ktread_block_found found = { .position = position };
	struct ktread_block_found *grown;

	memcpy(&found.head, bytes, sizeof(found.head));
	if (scan->blocks == MAX_BLOCKS || found.head.length < sizeof(found.head) ||
	    found.head.length > UINT64_MAX - found.head.self)
		return 0;
	grown = realloc(scan->block, (scan->blocks + 1) * sizeof(*grown));
	if (!grown)
		return ktread_fail_memory();
	scan->block = grown;
	scan->block[scan->blocks++] = found;
	return 0;
}

/*
 * Examines each address that is a multiple of 64 in a chunk of `bytes` bytes. `physical` is the address of
 * the chunk's first byte.
 */
static int look(struct ktread_scan *scan, struct ktread_memory *memory, uint64_t physical, uint64_t position,
		const unsigned char *chunk, uint64_t bytes)
{
	int status = 0;

	for (uint64_t at = 0; at + ALIGNMENT <= bytes && status == 0; at += ALIGNMENT) {
		const unsigned char *place = chunk + at;

		if (memcmp(place, KTRX_MAGIC, 4) != 0)
			continue;
		if (memcmp(place, KTRX_BLOCK_MAGIC, 8) == 0)
			status = add_block(scan, position + at, place);
		else if (memcmp(place + offsetof(struct ktrx_root, tag), KTRX_TAG, 8) == 0)
			status = add_root(scan, memory, physical + at, position + at);
	}
	return status;
}

static int scan_span(struct ktread_scan *scan, struct ktread_memory *memory, const struct ktread_span *span,
		     unsigned char *chunk)
{
	uint64_t at = (span->physical + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
	uint64_t end = span->physical + span->length;

	while (at < end) {
		uint64_t data = ktread_memory_next_data(memory, at), bytes;
		int status;

		if (data >= end)
			return 0;
		at = data & ~(uint64_t)(ALIGNMENT - 1);
		bytes = end - at < CHUNK ? end - at : CHUNK;
		status = ktread_memory_read(memory, at, chunk, bytes);
		if (status == 0)
			status = look(scan, memory, at, span->position + (at - span->physical), chunk, bytes);
		if (status < 0)
			return status;
		at += bytes;
	}
	return 0;
}

int ktread_scan_run(struct ktread_scan *scan, struct ktread_memory *memory)
{
	unsigned char *chunk = malloc(memory->size < CHUNK ? memory->size + 1 : CHUNK);
	int status = chunk ? 0 : ktread_fail_memory();

	memset(scan, 0, sizeof(*scan));
	for (uint32_t i = 0; i < memory->spans && status == 0; i++)
		status = scan_span(scan, memory, &memory->span[i], chunk);
	free(chunk);
	if (status < 0)
		ktread_scan_free(scan);
	return status;
}

void ktread_scan_free(struct ktread_scan *scan)
{
	free(scan->root);
	free(scan->block);
	memset(scan, 0, sizeof(*scan));
}
