/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "likeness.h"

#include <stdlib.h>
#include <string.h>

#define SPACES_MOST 1024u /* address spaces that are told apart */
#define CHUNK	    4096u /* compared at once */

/* Programs lie at the same addresses, each in a space of its own: the file is what ran in one of them, if in any. */
struct tally {
	uint64_t space;
	struct hwt_likeness likeness;
};

struct tallies {
	const struct hwt_file *file;
	const struct hwt_binary *binary;
	uint64_t base;
	struct tally *tally;
	size_t count, room, last;
};

/* The file's bytes from an address on, as far as they and `size` go. NULL: there are none. */
static const unsigned char *bytes_at(const struct tallies *tallies, uint64_t address, size_t *size)
{
	const uint64_t own = address - tallies->base;

	for (uint32_t i = 0; i < tallies->binary->segments; i++) {
		const struct hwt_segment *segment = &tallies->binary->segment[i];

		if (own < segment->address || own - segment->address >= segment->size)
			continue;
		if (*size > segment->size - (own - segment->address))
			*size = (size_t)(segment->size - (own - segment->address));
		return tallies->binary->bytes + segment->offset + (own - segment->address);
	}
	return NULL;
}

/* NULL: no memory, or too many spaces. */
static struct tally *tally_of(struct tallies *tallies, uint64_t space)
{
	struct tally *grown;

	if (tallies->last < tallies->count && tallies->tally[tallies->last].space == space)
		return &tallies->tally[tallies->last];
	for (size_t i = 0; i < tallies->count; i++)
		if (tallies->tally[i].space == space) {
			tallies->last = i;
			return &tallies->tally[i];
		}
	if (tallies->count == SPACES_MOST)
		return NULL;
	grown = hwt_grow(tallies->tally, tallies->count, &tallies->room, sizeof(*grown));
	if (!grown)
		return NULL;
	tallies->tally = grown;
	tallies->last = tallies->count++;
	grown[tallies->last] = (struct tally){ .space = space };
	return &grown[tallies->last];
}

/* How many bytes are the same from the block's first on; `compared`: of how many. */
static size_t same_bytes(const struct tallies *tallies, const struct hwt_code *code, size_t *compared)
{
	unsigned char run[CHUNK];
	size_t size = code->size < sizeof(run) ? code->size : sizeof(run), same = 0;
	const unsigned char *bytes = bytes_at(tallies, code->address, &size);

	*compared = bytes ? hwt_store_read(&tallies->file->store, code->offset, run, size) : 0;
	while (same < *compared && run[same] == bytes[same])
		same++;
	return same;
}

static int take(struct tallies *tallies, const struct hwt_code *code)
{
	size_t compared, same = same_bytes(tallies, code, &compared);
	struct hwt_likeness *likeness;
	struct tally *tally;

	if (compared == 0)
		return 0;
	tally = tally_of(tallies, code->space);
	if (!tally)
		return tallies->count == SPACES_MOST ? 0 : KTREAD_E_MEMORY;
	likeness = &tally->likeness;
	likeness->blocks++;
	if (same == compared)
		return 0;
	if (!likeness->differing++ || code->address + same < likeness->first)
		likeness->first = code->address + same;
	return 0;
}

int hwt_likeness(const struct hwt_file *file, const struct hwt_binary *binary, uint64_t base,
		 struct hwt_likeness *likeness)
{
	struct tallies tallies = { .file = file, .binary = binary, .base = base };
	int status = 0;

	*likeness = (struct hwt_likeness){ 0 };
	for (size_t i = 0; i < file->codes && status == 0; i++)
		status = take(&tallies, &file->code[i]);
	for (size_t i = 0; i < tallies.count && status == 0; i++) {
		const struct hwt_likeness *other = &tallies.tally[i].likeness;

		if (i == 0 || other->blocks - other->differing > likeness->blocks - likeness->differing)
			*likeness = *other;
	}
	free(tallies.tally);
	return status;
}
