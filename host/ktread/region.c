/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Reads and checks the root of a version 2 trace. Nothing in a root can be trusted: the sizes in it may be
 * used only after these checks.
 */
#include "layout.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ktrx/slot.h"
#include "message.h"

static int bad(const struct ktread_memory *memory, uint64_t physical, const char *what)
{
	return ktread_fail(KTREAD_E_FORMAT, "%s: ktrace root at 0x%" PRIx64 ": %s", memory->name, physical,
			   what);
}

int ktread_root_read(struct ktread_memory *memory, uint64_t physical, struct ktrx_root *root)
{
	const size_t fixed = offsetof(struct ktrx_root, section);
	uint64_t there = ktread_memory_run(memory, physical);
	int status;

	memset(root, 0, sizeof(*root));
	if (there < fixed)
		return bad(memory, physical, "it is cut off");
	status = ktread_memory_read(memory, physical, root, there < sizeof(*root) ? fixed : sizeof(*root));
	if (status < 0)
		return status;
	if (memcmp(root->magic, KTRX_MAGIC, sizeof(root->magic)) != 0 ||
	    memcmp(root->tag, KTRX_TAG, sizeof(root->tag)) != 0)
		return bad(memory, physical, "no magic");
	if (root->version != KTRX2_VERSION)
		return bad(memory, physical, "unknown version: a newer ktrace is needed");
	if (root->checksum != ktrx_root_checksum(root))
		return bad(memory, physical, "wrong checksum");
	if (root->slot_size != KTRX_SLOT_SIZE)
		return bad(memory, physical, "unknown slot size");
	if (root->flags & KTRX_FLAGS_NEEDED & ~KTRX_FLAG_PLACES)
		return bad(memory, physical, "it uses features of a later version: a newer ktrace is needed");
	if (root->slot_format > KTRX_SLOTS_CHECKED)
		return bad(memory, physical, "unknown slot format: a newer ktrace is needed");
	if (root->root_size < fixed || root->root_size > KTREAD_ROOT_MAX || root->table < fixed ||
	    root->table > root->root_size ||
	    root->sections > (root->root_size - root->table) / sizeof(struct ktrx_section))
		return bad(memory, physical, "its section table does not fit into it");
	root->kernel[sizeof(root->kernel) - 1] = '\0';
	return 0;
}

int ktread_root_sections(struct ktread_memory *memory, uint64_t physical, const struct ktrx_root *root,
			 struct ktrx_section *section)
{
	uint64_t at = physical + root->table;
	uint64_t there = ktread_memory_run(memory, at) / sizeof(*section);
	uint32_t count = root->sections < KTREAD_SECTION_MAX ? root->sections : KTREAD_SECTION_MAX;
	int status;

	if (count > there)
		count = (uint32_t)there;
	status = ktread_memory_read(memory, at, section, count * sizeof(*section));
	return status < 0 ? status : (int)count;
}

/* Regions: the bytes of a section or a ring. */

static void add_piece(struct ktread_region *region, const struct ktread_resolver *resolver, uint16_t where,
		      uint64_t address, uint64_t length)
{
	struct ktread_piece *piece = &region->piece[region->pieces++];
	uint64_t run;

	*piece = (struct ktread_piece){ .offset = region->length, .length = length };
	region->length += length;
	if (resolver->resolve(resolver->context, where, address, length, 0, &piece->physical) < 0)
		return;
	run = ktread_memory_run(region->memory, piece->physical);
	piece->readable = run < length ? run : length;
}

static int add_extents(struct ktread_region *region, const struct ktread_resolver *resolver, uint16_t where,
		       uint32_t extents, uint64_t address, uint64_t length)
{
	uint64_t bytes = extents * (uint64_t)sizeof(struct ktrx_extent), physical;
	struct ktrx_extent *extent;

	if (extents > KTREAD_MAX_EXTENTS ||
	    resolver->resolve(resolver->context, where, address, bytes, 0, &physical) < 0 ||
	    ktread_memory_run(region->memory, physical) < bytes)
		return 0;
	extent = malloc(bytes);
	region->piece = malloc(extents * sizeof(*region->piece));
	if (!extent || !region->piece) {
		free(extent);
		return ktread_fail_memory();
	}
	if (ktread_memory_read(region->memory, physical, extent, bytes) == 0)
		for (uint32_t i = 0; i < extents && region->length < length; i++) {
			uint64_t left = length - region->length;

			add_piece(region, resolver, where, extent[i].address,
				  extent[i].length < left ? extent[i].length : left);
		}
	free(extent);
	return 0;
}

int ktread_region_open(struct ktread_region *region, struct ktread_memory *memory,
		       const struct ktread_resolver *resolver, uint16_t where, uint32_t extents,
		       uint64_t address, uint64_t length)
{
	memset(region, 0, sizeof(*region));
	region->memory = memory;
	if (where == KTRX_WHERE_NONE || extents == 0 || length == 0)
		return 0;
	if (extents > 1)
		return add_extents(region, resolver, where, extents, address, length);
	region->piece = malloc(sizeof(*region->piece));
	if (!region->piece)
		return ktread_fail_memory();
	add_piece(region, resolver, where, address, length);
	return 0;
}

void ktread_region_close(struct ktread_region *region)
{
	free(region->piece);
	region->piece = NULL;
	region->pieces = 0;
	region->length = 0;
}

/*
 * Returns the index of the piece that contains `offset`. If `offset` is past the end, returns the index of
 * the last piece.
 */
static uint32_t piece_at(const struct ktread_region *region, uint64_t offset)
{
	uint32_t low = 0, high = region->pieces;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (region->piece[middle].offset <= offset)
			low = middle;
		else
			high = middle;
	}
	return low;
}

int ktread_region_read(const struct ktread_region *region, uint64_t offset, void *buffer, uint64_t bytes)
{
	unsigned char *to = buffer;
	uint32_t i = piece_at(region, offset);

	for (; bytes && i < region->pieces; i++) {
		const struct ktread_piece *piece = &region->piece[i];
		uint64_t skip = offset - piece->offset;
		uint64_t left = skip < piece->length ? piece->length - skip : 0;
		uint64_t part = left < bytes ? left : bytes;
		uint64_t there = skip < piece->readable ? piece->readable - skip : 0;
		int status;

		there = there < part ? there : part;
		status = ktread_memory_read(region->memory, piece->physical + skip, to, there);
		if (status < 0)
			return status;
		memset(to + there, 0, part - there);
		to += part;
		offset += part;
		bytes -= part;
	}
	memset(to, 0, bytes);
	return 0;
}

uint64_t ktread_region_next(const struct ktread_region *region, uint64_t offset)
{
	if (offset >= region->length)
		return region->length;
	for (uint32_t i = piece_at(region, offset); i < region->pieces; i++) {
		const struct ktread_piece *piece = &region->piece[i];
		uint64_t skip = offset > piece->offset ? offset - piece->offset : 0;
		uint64_t data;

		if (skip >= piece->readable)
			continue;
		data = ktread_memory_next_data(region->memory, piece->physical + skip);
		if (data - piece->physical < piece->readable)
			return piece->offset + (data - piece->physical);
	}
	return region->length;
}

uint64_t ktread_region_readable(const struct ktread_region *region)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < region->pieces; i++)
		sum += region->piece[i].readable;
	return sum;
}

bool ktread_region_take(const struct ktread_region *region, uint64_t *budget)
{
	const uint64_t list = region->pieces > 1 ? region->pieces * sizeof(struct ktrx_extent) : 0;
	const uint64_t bytes = ktread_region_readable(region) + list;

	if (bytes > *budget)
		return false;
	*budget -= bytes;
	return true;
}

int ktread_region_copy(const struct ktread_region *region, uint64_t limit, char **copy, uint64_t *size)
{
	uint64_t readable = ktread_region_readable(region);
	uint64_t bytes = region->length < limit ? region->length : limit;
	int status;

	/* allocate memory only for the bytes that can be read, because the stated length may be wrong */
	if (bytes > readable)
		bytes = readable;
	*size = bytes;
	*copy = malloc(bytes + 1);
	if (!*copy)
		return ktread_fail_memory();
	status = ktread_region_read(region, 0, *copy, bytes);
	if (status < 0) {
		free(*copy);
		*copy = NULL;
		return status;
	}
	(*copy)[bytes] = '\0';
	return 0;
}
