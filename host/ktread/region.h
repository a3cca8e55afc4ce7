/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Parts of a guest's memory that hold a trace: the root, and what it points to. */
#ifndef KTREAD_REGION_H
#define KTREAD_REGION_H

#include "ktrx/v2.h"
#include "source.h"

/* The root of a v2 trace: reading it and telling whether it is one. */

#define KTREAD_ROOT_MAX	   65536u /* bytes a root may have */
#define KTREAD_SECTION_MAX 256u	  /* sections looked at; any more count as unknown */

/*
 * What a boot left in memory that outlived its end, not linearised yet: its rings' heads are those of the
 * last heartbeat.
 */
static inline bool ktread_root_is_kept_memory(const struct ktrx_root *root)
{
	return (root->flags & (KTRX_FLAG_KEPT | KTRX_FLAG_DUMP)) == KTRX_FLAG_KEPT;
}

/* Reads and checks the root at `physical`: 0, or KTREAD_E_FORMAT with the reason. */
int ktread_root_read(struct ktread_memory *memory, uint64_t physical, struct ktrx_root *root);
/* Reads its section table into `section` (KTREAD_SECTION_MAX). Returns how many were read, or an error. */
int ktread_root_sections(struct ktread_memory *memory, uint64_t physical, const struct ktrx_root *root,
			 struct ktrx_section *section);

/*
 * The bytes that a section or a ring claims: pieces of a memory that add up. Pieces whose place could not be
 * found out, or that reach past the memory, keep their length and read as zeros, so that offsets stay right.
 */

#define KTREAD_MAX_EXTENTS 65536u

struct ktread_piece {
	uint64_t offset; /* in the region */
	uint64_t length;
	uint64_t physical;
	uint64_t readable; /* bytes of `length` that can be read; 0 if its place is unknown */
};

struct ktread_region {
	struct ktread_memory *memory;
	struct ktread_piece *piece;
	uint32_t pieces;
	uint64_t length;
};

/* Where addresses of a root lead. */
struct ktread_resolver {
	/*
	 * Physical address of `length` bytes at `address`, the likeliest with attempt 0; KTREAD_E_FORMAT if
	 * there are no more guesses.
	 */
	int (*resolve)(void *context, uint16_t where, uint64_t address, uint64_t length, uint32_t attempt,
		       uint64_t *physical);
	void *context;
};

/* An extent list that cannot be read makes a region without bytes; only lack of memory is an error. */
int ktread_region_open(struct ktread_region *region, struct ktread_memory *memory,
		       const struct ktread_resolver *resolver, uint16_t where, uint32_t extents,
		       uint64_t address, uint64_t length);
void ktread_region_close(struct ktread_region *region);
/* Reads exactly `bytes`; what is not there is zero. */
int ktread_region_read(const struct ktread_region *region, uint64_t offset, void *buffer, uint64_t bytes);
/* Next offset >= `offset` where there may be other bytes than zero; region->length if none. */
uint64_t ktread_region_next(const struct ktread_region *region, uint64_t offset);
/* How many of the region's bytes can be read at all. */
uint64_t ktread_region_readable(const struct ktread_region *region);
/* A copy (malloc'd) of up to `limit` of its bytes, NUL added; `size` is set to how many that are. */
int ktread_region_copy(const struct ktread_region *region, uint64_t limit, char **copy, uint64_t *size);

#endif
