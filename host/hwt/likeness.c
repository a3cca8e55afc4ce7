/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Compares the code of a file with the executed code. */
#include "base/grow.h"
#include "images.h"

#include <stdlib.h>
#include <string.h>

/* maximum number of address spaces for which there are separate counts */
#define SPACES_MOST 1024u
#define CHUNK	    4096u /* number of bytes that are compared in one step */
/*
 * minimum number of compared bytes that can show that code has moved; in a smaller block, a patch may change
 * most bytes
 */
#define LEAST 8u

/*
 * Counts separately for each address space, because other programs may have been at the same addresses in
 * other spaces. The result is the counts of the space that matches the file best.
 */
struct tallies {
	const struct hwt_file *file;
	const struct hwt_binary *binary;
	uint64_t base;
	struct hwt_likeness *tally;
	size_t count, last;
	uint32_t room;
};

/*
 * Returns a pointer to the file's bytes from an address on, and sets *size to the number of bytes, at most
 * its previous value. Returns NULL if there are none.
 */
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

/* Returns the counts of a space; NULL if out of memory, or if there are too many spaces. */
static struct hwt_likeness *tally_of(struct tallies *tallies, uint64_t space)
{
	struct hwt_likeness *grown;

	if (tallies->last < tallies->count && tallies->tally[tallies->last].space == space)
		return &tallies->tally[tallies->last];
	for (size_t i = 0; i < tallies->count; i++)
		if (tallies->tally[i].space == space) {
			tallies->last = i;
			return &tallies->tally[i];
		}
	if (tallies->count == SPACES_MOST)
		return NULL;
	grown = base_grow(tallies->tally, &tallies->room, tallies->count + 1, sizeof(*grown));
	if (!grown)
		return NULL;
	tallies->tally = grown;
	tallies->last = tallies->count++;
	grown[tallies->last] = (struct hwt_likeness){ .space = space };
	return &grown[tallies->last];
}

/*
 * Returns how many bytes of a block differ from the file. Sets the index of the first different byte, and the
 * number of compared bytes.
 */
static size_t count_others(const struct tallies *tallies, const struct hwt_code *code, size_t *first,
			   size_t *compared)
{
	unsigned char run[CHUNK];
	size_t size = code->size < sizeof(run) ? code->size : sizeof(run), others = 0;
	const unsigned char *bytes = bytes_at(tallies, code->address, &size);

	*compared = bytes ? hwt_store_read(&tallies->file->store, code->offset, run, size) : 0;
	for (size_t i = *compared; i-- > 0;)
		if (run[i] != bytes[i]) {
			*first = i;
			others++;
		}
	return others;
}

static int take(struct tallies *tallies, const struct hwt_code *code)
{
	size_t first = 0, compared, others = count_others(tallies, code, &first, &compared);
	struct hwt_likeness *likeness;

	if (compared == 0)
		return 0;
	likeness = tally_of(tallies, code->space);
	if (!likeness)
		return tallies->count == SPACES_MOST ? 0 : KTREAD_E_MEMORY;
	likeness->blocks++;
	if (others == 0)
		return 0;
	if (!likeness->differing++ || code->address + first < likeness->first)
		likeness->first = code->address + first;
	likeness->moved += compared >= LEAST && others > compared / 2;
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
		const struct hwt_likeness *other = &tallies.tally[i];

		if (i == 0 || other->blocks - other->differing > likeness->blocks - likeness->differing)
			*likeness = *other;
	}
	free(tallies.tally);
	return status;
}
