/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A v2 trace in memory or a file: its root, the regions that this points to, its slots and its layout. */
#ifndef KTREAD_LAYOUT_H
#define KTREAD_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "ktrx/slot.h"
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

/*
 * Whether a slot is the one that the reader expects at an index. Only layout.c and columns_*.c deal with
 * slots of the old form, which have no check (KTRX_SLOTS_COPIED).
 */

/* How the slots of a ring are written. */
struct ktread_slot_form {
	uint32_t format; /* KTRX_SLOTS_* */
	uint32_t ring;	 /* number */
	uint32_t shift;	 /* log2 of its slots */
};

/*
 * Is it a first slot, SINGLE or FIRST, of the generation of `index`? The check of a SINGLE is right as well;
 * that of a FIRST covers its whole record: see ktread_slot_record().
 */
bool ktread_slot_is_first(const struct ktread_slot_form *form, const uint64_t *slot, uint64_t index);
/* Is it a MORE or LAST slot of the generation of `index`, with the right check? */
bool ktread_slot_is_continuation(const struct ktread_slot_form *form, const uint64_t *slot, uint64_t index);
/*
 * Slots of the record whose first slot lies at slot[0], of at most `most`; 0 if it is not whole, or a slot of
 * it is not its own. Requires: ktread_slot_is_first() of slot[0].
 */
uint32_t ktread_slot_record(const struct ktread_slot_form *form, uint64_t (*slot)[4], uint64_t index,
			    uint64_t most);

/*
 * What a v2 root leads to, copied and bounded: its sections and its rings, in a dump or in memory. Code that
 * reads or rewrites a v2 trace uses this copy, and never the root itself.
 */

struct ktread_section {
	struct ktrx_section row; /* as found */
	struct ktread_region region;
};

struct ktread_ring_place {
	struct ktrx_ring row; /* as found */
	struct ktread_region slots;
	struct ktread_slot_form form;
	uint64_t word_physical; /* of the reserve word, UINT64_MAX if it is `row.word` or unknown */
	uint64_t head;		/* index of the next free slot when it was looked at */
	uint64_t row_physical;	/* of `row`, UINT64_MAX if unknown */
	bool guessed;		/* the reserve word was not found: the head was made out from the slots */
	bool usable;		/* sizes are sound, and it overlaps no other ring */
};

struct ktread_layout {
	struct ktread_memory *memory;
	uint64_t physical; /* of the root */
	struct ktrx_root root;
	struct ktread_section section[KTREAD_SECTION_MAX];
	uint32_t sections;
	uint32_t unknown; /* sections of unknown type */
	struct ktread_ring_place *ring;
	uint32_t rings;
	struct ktrx_setting *setting; /* rows one behind the other, with their values */
	uint32_t settings;
};

int ktread_layout_open(struct ktread_layout **layout, struct ktread_memory *memory, uint64_t physical,
		       const struct ktread_resolver *resolver);
/* Of the dump whose root lies at `offset`. */
int ktread_layout_open_dump(struct ktread_layout **layout, struct ktread_memory *memory, uint64_t offset);
void ktread_layout_close(struct ktread_layout *layout);
/* The n-th section of a type, by `index`, from 0; NULL if there is none. */
const struct ktread_section *ktread_layout_section(const struct ktread_layout *layout, uint32_t type,
						   uint32_t n);
/* Reads a ring's head anew. 0 or an error. */
int ktread_layout_head(const struct ktread_layout *layout, uint32_t ring, uint64_t *head);
/* Reads rows of the CPUS section from number `first` on. How many of `room` there are, or an error. */
int ktread_layout_cpus(const struct ktread_layout *layout, uint32_t first, struct ktrx_cpu *cpu,
		       uint32_t room);
/* The same of the HOLDERS section. */
int ktread_layout_holders(const struct ktread_layout *layout, uint32_t first, struct ktrx_holder *holder,
			  uint32_t room);

static inline uint64_t ktread_ring_slots(const struct ktread_ring_place *place)
{
	return UINT64_C(1) << place->row.shift;
}

/* Index of the oldest slot that can still be there. */
static inline uint64_t ktread_ring_begin(const struct ktread_ring_place *place, uint64_t head)
{
	uint64_t slots = ktread_ring_slots(place), first = place->row.first;

	return head > first && head - first > slots ? head - slots : first;
}

/* The table of settings, with the values that a dump carries or that the guest's words hold now. */

/*
 * Fills layout->setting. Rows are sound: kind, bit and the end of the name can be relied on. 0 or an error.
 */
int ktread_settings_read(struct ktread_layout *layout, const struct ktread_resolver *resolver);

#endif
