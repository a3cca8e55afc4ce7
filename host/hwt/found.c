/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Finds the program or library whose code is at an address, by comparing its file with the recorded code. */
#include "images.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/index.h"

#define WINDOW 64u /* maximum number of bytes that are compared, beginning at the address */
/* minimum number of equal bytes that identify a file; if fewer bytes are known, all of them must be equal */
#define LEAST 8u

/* Finds the address range of the file's code. Returns false if the file contains no code. */
static bool find_bounds(const struct hwt_binary *binary, uint64_t *first, uint64_t *end)
{
	*first = UINT64_MAX;
	*end = 0;
	for (uint32_t i = 0; i < binary->segments; i++) {
		const struct hwt_segment *segment = &binary->segment[i];

		if (!(segment->access & HWT_EXECUTE))
			continue;
		if (segment->address < *first)
			*first = segment->address;
		if (segment->address + segment->size > *end)
			*end = segment->address + segment->size;
	}
	return *first < *end;
}

int hwt_found_add(struct hwt_images *images, struct hwt_binary *binary, uint64_t base)
{
	struct hwt_found made = { .binary = binary, .base = base }, *grown;
	size_t at = images->founds;

	if (!find_bounds(binary, &made.first, &made.end))
		return 0;
	made.first += base;
	made.end += base;
	grown = base_grow(images->found, &images->found_room, images->founds + 1, sizeof(*grown));
	if (!grown)
		return KTREAD_E_MEMORY;
	images->found = grown;
	for (; at > 0 && grown[at - 1].first > made.first; at--)
		grown[at] = grown[at - 1];
	grown[at] = made;
	images->founds++;
	for (; at < images->founds; at++) {
		const uint64_t before = at ? grown[at - 1].reach : 0;

		grown[at].reach = before > grown[at].end ? before : grown[at].end;
	}
	return 0;
}

/*
 * Compares the recorded code with the file's code, from `address` on. Returns the number of equal bytes up to
 * the first difference; 0 if they are too few to identify the file.
 */
static size_t count_same(const struct hwt_found *found, uint64_t address, const unsigned char *code,
			 size_t size)
{
	const uint64_t own = address - found->base;
	size_t same = 0;

	for (uint32_t i = 0; i < found->binary->segments; i++) {
		const struct hwt_segment *segment = &found->binary->segment[i];
		const unsigned char *bytes;

		if (!(segment->access & HWT_EXECUTE) || own < segment->address ||
		    own - segment->address >= segment->size)
			continue;
		if (size > segment->size - (own - segment->address))
			size = (size_t)(segment->size - (own - segment->address));
		bytes = found->binary->bytes + segment->offset + (own - segment->address);
		while (same < size && code[same] == bytes[same])
			same++;
		return same == size || same >= LEAST ? same : 0;
	}
	return 0;
}

/* Narrows [*from, *until) to the timestamps at which the code from `address` to `last` does not change. */
static void narrow(const struct hwt_codes *codes, uint64_t stamp, uint64_t address, uint64_t last,
		   uint64_t *from, uint64_t *until)
{
	uint64_t begins, ends;

	for (uint64_t at = address; at <= last; at += HWT_CODE_LINE - at % HWT_CODE_LINE) {
		hwt_codes_period(codes, stamp, at, &begins, &ends);
		*from = begins > *from ? begins : *from;
		*until = ends < *until ? ends : *until;
	}
}

const struct hwt_found *hwt_found_at(const struct hwt_images *images, uint64_t stamp, uint64_t address,
				     uint64_t *from, uint64_t *until)
{
	const struct hwt_found *best = NULL;
	unsigned char code[WINDOW];
	size_t low = base_count_up_to(images->found, images->founds, sizeof(*images->found),
				      offsetof(struct hwt_found, first), address),
	       known = 0, most = 0;

	if (low && images->found[low - 1].reach > address)
		known = hwt_codes_read(images->codes, 0, stamp, address, code, sizeof(code), true);
	for (; known && low && images->found[low - 1].reach > address; low--) {
		const size_t same = count_same(&images->found[low - 1], address, code, known);

		if (same > most) {
			most = same;
			best = &images->found[low - 1];
		}
	}
	if (known)
		narrow(images->codes, stamp, address, address + (known - 1), from, until);
	return best;
}
