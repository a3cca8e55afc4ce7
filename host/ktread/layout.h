/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A v2 trace in memory or in a file: its root, regions, slots and layout. */
#ifndef KTREAD_LAYOUT_H
#define KTREAD_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "ktrx/slot.h"
#include "ktrx/v2.h"
#include "source.h"

/* The root of a v2 trace. */

#define KTREAD_ROOT_MAX	   65536u /* largest root, in bytes */
#define KTREAD_SECTION_MAX 256u	  /* sections that are read; further ones count as unknown */

/*
 * Returns true for a root that a boot left in persistent memory, but not for the root of a dump. The ring
 * table of such a root has the heads that the rings had at the last heartbeat.
 */
static inline bool ktread_root_is_persistent(const struct ktrx_root *root)
{
	return (root->flags & (KTRX_FLAG_KEPT | KTRX_FLAG_DUMP)) == KTRX_FLAG_KEPT;
}

/*
 * Reads and checks the root at `physical`. Returns 0, or KTREAD_E_FORMAT with a message that gives the
 * reason.
 */
int ktread_root_read(struct ktread_memory *memory, uint64_t physical, struct ktrx_root *root);
/*
 * Reads the root's section table into `section`, which has room for KTREAD_SECTION_MAX. Returns how many were
 * read, or an error.
 */
int ktread_root_sections(struct ktread_memory *memory, uint64_t physical, const struct ktrx_root *root,
			 struct ktrx_section *section);

/*
 * The bytes of a section or a ring: one or more pieces of a memory. The place of a piece may be unknown, or
 * the piece may be longer than the memory at its place. In both cases the piece keeps its length, and the
 * missing bytes read as zeros, so that the offsets of later pieces stay right.
 */

#define KTREAD_MAX_EXTENTS 65536u

struct ktread_piece {
	uint64_t offset; /* in the region */
	uint64_t length;
	uint64_t physical;
	uint64_t readable; /* bytes of `length` that can be read; 0 if the piece's place is unknown */
};

struct ktread_region {
	struct ktread_memory *memory;
	struct ktread_piece *piece;
	uint32_t pieces;
	uint64_t length;
};

/* Resolves addresses in a root. */
struct ktread_resolver {
	/*
	 * Sets *physical for `length` bytes at `address`. Attempt 0 is the likeliest guess. Returns 0, or
	 * KTREAD_E_FORMAT if there are no more guesses.
	 */
	int (*resolve)(void *context, uint16_t where, uint64_t address, uint64_t length, uint32_t attempt,
		       uint64_t *physical);
	void *context;
};

/*
 * Opens a region. If its list of extents cannot be read, the region has no bytes. Returns 0 or
 * KTREAD_E_MEMORY.
 */
int ktread_region_open(struct ktread_region *region, struct ktread_memory *memory,
		       const struct ktread_resolver *resolver, uint16_t where, uint32_t extents,
		       uint64_t address, uint64_t length);
void ktread_region_close(struct ktread_region *region);
/* Reads exactly `bytes` bytes; bytes that are not there read as zeros. Returns 0 or an error. */
int ktread_region_read(const struct ktread_region *region, uint64_t offset, void *buffer, uint64_t bytes);
/*
 * Returns the next offset >= `offset` that may hold a byte other than zero; region->length if there is none.
 */
uint64_t ktread_region_next(const struct ktread_region *region, uint64_t offset);
/* Returns how many of the region's bytes can be read. */
uint64_t ktread_region_readable(const struct ktread_region *region);
/*
 * Copies at most `limit` bytes of the region, and adds a NUL. Sets *copy, to be freed by the caller with
 * free(), and *size. Returns 0 or an error.
 */
int ktread_region_copy(const struct ktread_region *region, uint64_t limit, char **copy, uint64_t *size);

/*
 * Checks whether a slot is the one that the reader expects at an index. Only layout.c and columns*.c handle
 * slots of the older format without a check, KTRX_SLOTS_COPIED.
 */

/* Format of a ring's slots. */
struct ktread_slot_form {
	uint32_t format; /* KTRX_SLOTS_* */
	uint32_t ring;	 /* number */
	uint32_t shift;	 /* log2 of its slots */
};

/*
 * Returns true for a first slot, SINGLE or FIRST, of the generation of `index`. The check of a SINGLE slot is
 * right as well. The check of a FIRST slot covers its whole record: see ktread_slot_record().
 */
bool ktread_slot_is_first(const struct ktread_slot_form *form, const uint64_t *slot, uint64_t index);
/* Returns true for a MORE or LAST slot of the generation of `index` with the right check. */
bool ktread_slot_is_continuation(const struct ktread_slot_form *form, const uint64_t *slot, uint64_t index);
/*
 * Returns the number of slots of the record that begins at slot[0]. Returns 0 if the record has more than
 * `most` slots, is not whole, or one of its slots belongs to another record. Requires: ktread_slot_is_first()
 * is true for slot[0].
 */
uint32_t ktread_slot_record(const struct ktread_slot_form *form, uint64_t (*slot)[4], uint64_t index,
			    uint64_t most);

/*
 * The layout: a checked copy of what a v2 root leads to, sections and rings, in a dump or in memory. Code
 * that reads or rewrites a v2 trace uses this copy, and never the root itself.
 */

struct ktread_section {
	struct ktrx_section row; /* as found */
	struct ktread_region region;
};

struct ktread_ring_place {
	struct ktrx_ring row; /* as found */
	struct ktread_region slots;
	struct ktread_slot_form form;
	/* address of the reserve word; UINT64_MAX if the word is row.word, or unknown */
	uint64_t word_physical;
	uint64_t head;	       /* index of the next free slot, as last read */
	uint64_t row_physical; /* address of `row`; UINT64_MAX if unknown */
	bool guessed; /* the reserve word was not found: the head was found by looking at the slots */
	bool usable;  /* the ring's sizes are sound, and it overlaps no other ring */
};

struct ktread_layout {
	struct ktread_memory *memory;
	uint64_t physical; /* of the root */
	struct ktrx_root root;
	struct ktread_section section[KTREAD_SECTION_MAX];
	uint32_t sections;
	uint32_t unknown; /* number of sections of unknown type */
	struct ktread_ring_place *ring;
	uint32_t rings;
	struct ktrx_setting *setting; /* the table of settings, with their values */
	uint32_t settings;
};

/* Opens the layout of the root at `physical`. Returns 0 or an error. */
int ktread_layout_open(struct ktread_layout **layout, struct ktread_memory *memory, uint64_t physical,
		       const struct ktread_resolver *resolver);
/* Opens the layout of the dump whose root is at `offset`. Returns 0 or an error. */
int ktread_layout_open_dump(struct ktread_layout **layout, struct ktread_memory *memory, uint64_t offset);
void ktread_layout_close(struct ktread_layout *layout);
/*
 * Returns section number `n`, from 0, of those with this type, in the order of `index`; NULL if there is
 * none.
 */
const struct ktread_section *ktread_layout_section(const struct ktread_layout *layout, uint32_t type,
						   uint32_t n);
/* Reads a ring's head again. Returns 0 or an error. */
int ktread_layout_head(const struct ktread_layout *layout, uint32_t ring, uint64_t *head);
/*
 * Reads up to `room` rows of the CPUS section from number `first` on. Returns how many there are, or an
 * error.
 */
int ktread_layout_cpus(const struct ktread_layout *layout, uint32_t first, struct ktrx_cpu *cpu,
		       uint32_t room);
/*
 * Reads up to `room` rows of the HOLDERS section from number `first` on. Returns how many there are, or an
 * error.
 */
int ktread_layout_holders(const struct ktread_layout *layout, uint32_t first, struct ktrx_holder *holder,
			  uint32_t room);

static inline uint64_t ktread_ring_slots(const struct ktread_ring_place *place)
{
	return UINT64_C(1) << place->row.shift;
}

/* Returns the index of the oldest slot that can still be in the ring. */
static inline uint64_t ktread_ring_begin(const struct ktread_ring_place *place, uint64_t head)
{
	uint64_t slots = ktread_ring_slots(place), first = place->row.first;

	return head > first && head - first > slots ? head - slots : first;
}

/* The table of settings, with the values that a dump carries or that the guest's words hold now. */

/*
 * Fills layout->setting. In each row, the kind, the bit number and the name's NUL are checked. Returns 0 or
 * an error.
 */
int ktread_settings_read(struct ktread_layout *layout, const struct ktread_resolver *resolver);

#endif
