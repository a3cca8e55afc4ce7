/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Finds roots and blocks in a memory, and finds dumps in a file. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ktrx/v1.h"
#include "ktrx/v2.h"
#include "layout.h"
#include "message.h"
#include "versions.h"

/* ---- Roots and blocks ---- */

/*
 * Scans a memory for roots and for the heads of blocks. Roots and block heads are aligned to 64 bytes and
 * begin with the same four letters. So one comparison for every 64 bytes finds all of them. Holes are
 * skipped. The memory is read, and never mapped.
 */

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

/* ---- Dumps ---- */

/*
 * Finds the dumps in a file. The reader follows the chain of headers, so it does not mistake a magic inside a
 * record for a header. If this chain breaks, because a dump is damaged or was truncated when the machine
 * died, the reader searches for the next plausible header. The number of times that a byte is examined is
 * limited.
 */

#define SEARCH_CHUNK 65536u
#define MAX_SLOTS    (UINT32_C(1) << 30)

static bool v1_plausible(const struct ktrx1_header *header)
{
	return header->record_size == KTRX1_RECORD_SIZE && header->cpus >= 1 &&
	       header->cpus < KTRX_MAX_RINGS && header->slots >= 1 && header->slots <= MAX_SLOTS;
}

bool ktread_dump_at(struct ktread_memory *memory, uint64_t offset, struct ktread_dump *dump)
{
	struct ktrx1_header header;
	struct ktrx_root root;
	uint64_t left = ktread_memory_run(memory, offset);

	if (left < sizeof(header) || ktread_memory_read(memory, offset, &header, sizeof(header)) < 0 ||
	    memcmp(header.magic, KTRX_MAGIC, sizeof(header.magic)) != 0)
		return false;
	dump->offset = offset;
	dump->version = header.version;
	if (header.version == KTRX1_VERSION) {
		if (!v1_plausible(&header))
			return false;
		dump->length = sizeof(header) + (uint64_t)header.cpus * header.slots * KTRX1_RECORD_SIZE;
	} else {
		if (ktread_root_read(memory, offset, &root) < 0 || !(root.flags & KTRX_FLAG_DUMP))
			return false;
		dump->length = root.length < root.root_size ? root.root_size : root.length;
	}
	dump->truncated = dump->length > left;
	return true;
}

/* Returns the offset of the first magic in [from, to). Returns `to` if there is no magic. */
static uint64_t search(struct ktread_memory *memory, uint64_t from, uint64_t to)
{
	static const char magic[] = KTRX_MAGIC;
	unsigned char buffer[SEARCH_CHUNK];
	const size_t overlap = sizeof(magic) - 2;

	while (from < to) {
		uint64_t data = ktread_memory_next_data(memory, from);
		const unsigned char *found;
		size_t bytes;

		if (data >= to)
			break;
		from = data > from + overlap ? data - overlap : from;
		bytes = to - from < sizeof(buffer) ? (size_t)(to - from) : sizeof(buffer);
		if (ktread_memory_read(memory, from, buffer, bytes) < 0)
			break;
		found = memmem(buffer, bytes, magic, sizeof(magic) - 1);
		if (found)
			return from + (uint64_t)(found - buffer);
		from += bytes > overlap && from + bytes < to ? bytes - overlap : bytes;
	}
	return to;
}

/*
 * Returns true if all fields of the header have usual values. Used only for headers that were found by a
 * search.
 */
static bool has_no_oddities(struct ktread_memory *memory, const struct ktread_dump *dump)
{
	static const uint8_t zero[sizeof(((struct ktrx1_header *)0)->reserved)];
	struct ktrx1_header header;

	if (dump->version != KTRX1_VERSION)
		return true;
	return ktread_memory_read(memory, dump->offset, &header, sizeof(header)) == 0 && header.flags == 0 &&
	       memcmp(header.reserved, zero, sizeof(zero)) == 0 && (header.slots & (header.slots - 1)) == 0;
}

/* Returns the offset of the first plausible header in [from, to). Returns `to` if there is none. */
static uint64_t next_header(struct ktread_memory *memory, uint64_t from, uint64_t to)
{
	struct ktread_dump dump;

	for (; (from = search(memory, from, to)) < to; from++)
		if (ktread_dump_at(memory, from, &dump) && has_no_oddities(memory, &dump))
			return from;
	return to;
}

/* Returns true if the range contains only zeros, such as padding or shared memory that was not used. */
static bool is_blank(struct ktread_memory *memory, uint64_t from, uint64_t to)
{
	unsigned char buffer[SEARCH_CHUNK];

	while (from < to) {
		uint64_t data = ktread_memory_next_data(memory, from);
		size_t bytes;

		if (data >= to)
			break;
		from = data;
		bytes = to - from < sizeof(buffer) ? (size_t)(to - from) : sizeof(buffer);
		if (ktread_memory_read(memory, from, buffer, bytes) < 0 || buffer[0] != 0 ||
		    memcmp(buffer, buffer + 1, bytes - 1) != 0)
			return false;
		from += bytes;
	}
	return true;
}

/* Returns true if the end of the file, another header, or only zeros follow the dump. */
static bool chain_holds(struct ktread_memory *memory, const struct ktread_dump *dump, uint64_t size)
{
	struct ktread_dump next;
	uint64_t end = dump->offset + dump->length;

	return end == size || ktread_dump_at(memory, end, &next) || is_blank(memory, end, size);
}

static void count(struct ktread_dumps *dumps, const struct ktread_dump *dump)
{
	if (!dump->truncated) {
		dumps->complete++;
		dumps->last = *dump;
	} else if (!dumps->complete) {
		dumps->last = *dump;
	}
}

/* Sets a message with the reason why the file has no usable header. Returns the error. */
static int explain(struct ktread_memory *memory, uint64_t size)
{
	struct ktrx1_header header;
	uint64_t at = search(memory, 0, size);

	if (size == 0)
		return ktread_fail(KTREAD_E_FORMAT, "%s: the file is empty", memory->name);
	if (at == size)
		return ktread_fail(KTREAD_E_FORMAT,
				   "%s: no KTRX header in its %" PRIu64 " bytes: not a trace", memory->name,
				   size);
	if (size - at < sizeof(header))
		return ktread_fail(KTREAD_E_FORMAT,
				   "%s: offset %" PRIu64 ": the header is cut off after %" PRIu64 " bytes",
				   memory->name, at, size - at);
	if (ktread_memory_read(memory, at, &header, sizeof(header)) < 0)
		return KTREAD_E_FORMAT;
	if (header.version == KTRX2_VERSION) {
		struct ktrx_root root;

		if (ktread_root_read(memory, at, &root) < 0)
			return KTREAD_E_FORMAT;
		return ktread_fail(KTREAD_E_FORMAT,
				   "%s: offset %" PRIu64
				   ": a ktrace root of guest memory, not of a dump: open the file as RAM",
				   memory->name, at);
	}
	if (header.version != KTRX1_VERSION)
		return ktread_fail(KTREAD_E_FORMAT,
				   "%s: offset %" PRIu64 ": unknown version %u of the trace format",
				   memory->name, at, header.version);
	return ktread_fail(KTREAD_E_FORMAT,
			   "%s: offset %" PRIu64
			   ": the header is damaged: %u CPUs, %u slots, records of %u bytes",
			   memory->name, at, header.cpus, header.slots, header.record_size);
}

int ktread_dumps_find(struct ktread_memory *memory, struct ktread_dumps *dumps)
{
	uint64_t size = ktread_memory_run(memory, 0);
	uint64_t at = 0;
	bool any = false;

	memset(dumps, 0, sizeof(*dumps));
	while (at < size) {
		struct ktread_dump dump;
		uint64_t end, inner;

		if (!ktread_dump_at(memory, at, &dump)) {
			uint64_t next = next_header(memory, at, size);

			if (!is_blank(memory, at, next))
				dumps->skipped += next - at;
			at = next;
			continue;
		}
		any = true;
		end = dump.truncated ? size : at + dump.length;
		if (!dump.truncated && chain_holds(memory, &dump, size)) {
			count(dumps, &dump);
			at = end;
			continue;
		}
		/*
		 * If another dump's header begins within the stated length of this dump, this dump was
		 * truncated at that header.
		 */
		inner = next_header(memory, at + sizeof(struct ktrx1_header), end);
		if (inner < end)
			dump.truncated = true;
		count(dumps, &dump);
		at = inner;
	}
	return any ? 0 : explain(memory, size);
}
