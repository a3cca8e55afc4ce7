/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A version 2 trace in memory or in a file: its root, regions, slots, layout and settings; the search for
 * roots in a memory; and the image, the root that was found.
 */
#ifndef KTREAD_LAYOUT_H
#define KTREAD_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "ktrx/slot.h"
#include "ktrx/v2.h"
#include "ktread/memory.h"
#include "source.h"

/* ---- The root ---- */

#define KTREAD_ROOT_MAX 65536u /* maximum size of a root in bytes */
/* maximum number of sections that are read; further sections are counted as unknown */
#define KTREAD_SECTION_MAX 256u

/*
 * Returns true if a boot left this root in persistent memory, and it is not the root of a dump. In the ring
 * table of such a root, the heads are the heads of the rings at the last heartbeat.
 */
static inline bool ktread_root_is_persistent(const struct ktrx_root *root)
{
	return (root->flags & (KTRX_FLAG_KEPT | KTRX_FLAG_DUMP)) == KTRX_FLAG_KEPT;
}

/*
 * Reads and checks the root at `physical`. Returns 0, or KTREAD_E_FORMAT with a message that states the
 * problem.
 */
int ktread_root_read(struct ktread_memory *memory, uint64_t physical, struct ktrx_root *root);
/*
 * Reads the root's section table into `section`, which has room for KTREAD_SECTION_MAX entries. Returns the
 * number of entries read, or an error.
 */
int ktread_root_sections(struct ktread_memory *memory, uint64_t physical, const struct ktrx_root *root,
			 struct ktrx_section *section);

/*
 * The bytes of a section or a ring: one or more pieces of a memory. The address of a piece may be unknown, or
 * the piece may be longer than the memory at its address. In these two cases, the missing bytes read as
 * zeros, and are included in the length of the piece, so that the offsets of later pieces stay right.
 */

#define KTREAD_MAX_EXTENTS 65536u

struct ktread_piece {
	uint64_t offset; /* offset of the piece in the region */
	uint64_t length;
	uint64_t physical;
	/* number of bytes of `length` that can be read; 0 if the address of the piece is unknown */
	uint64_t readable;
};

struct ktread_region {
	struct ktread_memory *memory;
	struct ktread_piece *piece;
	uint32_t pieces;
	uint64_t length;
};

/* Converts the addresses that a root contains to physical addresses. */
struct ktread_resolver {
	/*
	 * Sets *physical to the physical address of the `length` bytes at `address`. There may be several
	 * guesses: attempt 0 returns the likeliest one, attempt 1 the next one, and so on. Returns 0, or
	 * KTREAD_E_FORMAT if there are no more guesses.
	 */
	int (*resolve)(void *context, uint16_t where, uint64_t address, uint64_t length, uint32_t attempt,
		       uint64_t *physical);
	void *context;
};

/*
 * Opens a region. A region whose list of extents cannot be read has no bytes. Returns 0 or KTREAD_E_MEMORY.
 */
int ktread_region_open(struct ktread_region *region, struct ktread_memory *memory,
		       const struct ktread_resolver *resolver, uint16_t where, uint32_t extents,
		       uint64_t address, uint64_t length);
void ktread_region_close(struct ktread_region *region);
/*
 * Reads `bytes` bytes from `offset` on. Bytes that cannot be read are replaced by zeros. Returns 0 or an
 * error.
 */
int ktread_region_read(const struct ktread_region *region, uint64_t offset, void *buffer, uint64_t bytes);
/*
 * Returns the next offset >= `offset` that may hold a byte other than zero; region->length if there is none.
 */
uint64_t ktread_region_next(const struct ktread_region *region, uint64_t offset);
/* Returns how many of the region's bytes can be read. */
uint64_t ktread_region_readable(const struct ktread_region *region);
/*
 * Subtracts the region's bytes and its list of extents from *budget, which begins as the size of the memory.
 * Returns false if they are more than *budget, which is then unchanged: valid regions do not overlap, so
 * together they are not larger than the memory.
 */
bool ktread_region_take(const struct ktread_region *region, uint64_t *budget);
/*
 * Copies at most `limit` bytes of the region, and adds a NUL. Sets *copy, which the caller must free with
 * free(). Sets *size to the number of bytes without the NUL. Returns 0 or an error.
 */
int ktread_region_copy(const struct ktread_region *region, uint64_t limit, char **copy, uint64_t *size);

/* ---- Slots ---- */

/*
 * Functions that check whether a slot is valid at its index: the reader expects a certain ring, lap and
 * checksum. In the older format KTRX_SLOTS_COPIED, first slots have no checksum; only layout.c and columns*.c
 * know this format.
 */

/* The format of the slots in a ring. */
struct ktread_slot_form {
	uint32_t format; /* format of the slots, one of KTRX_SLOTS_* */
	uint32_t ring;	 /* number of the ring */
	uint32_t shift;	 /* base-2 logarithm of the ring's number of slots */
};

/*
 * Returns true for a SINGLE or FIRST slot that has the generation required by `index`. The checksum of a
 * SINGLE slot must be right, too. The checksum of a FIRST slot is not examined, because it covers the whole
 * record: see ktread_slot_record().
 */
bool ktread_slot_is_first(const struct ktread_slot_form *form, const uint64_t *slot, uint64_t index);
/* Returns true for a MORE or LAST slot that has the generation required by `index` and the right checksum. */
bool ktread_slot_is_continuation(const struct ktread_slot_form *form, const uint64_t *slot, uint64_t index);
/*
 * Returns the number of slots of the record that begins at slot[0]. Returns 0 if the record has more than
 * `most` slots, if slots of it are missing, or if one of its slots belongs to another record. Requires:
 * ktread_slot_is_first() is true for slot[0].
 */
uint32_t ktread_slot_record(const struct ktread_slot_form *form, uint64_t (*slot)[4], uint64_t index,
			    uint64_t most);

/* ---- The layout ---- */

/*
 * The layout of a version 2 trace, in a dump or in memory: a checked copy of the descriptors of all sections
 * and rings. Code that reads or rewrites a version 2 trace uses this copy instead of the root itself.
 */

struct ktread_section {
	struct ktrx_section row; /* the section's descriptor, as it is in memory */
	struct ktread_region region;
};

struct ktread_ring_place {
	struct ktrx_ring row; /* the ring's descriptor, as it is in memory */
	struct ktread_region slots;
	struct ktread_slot_form form;
	/*
	 * physical address of the ring's reserve word; UINT64_MAX if the address is unknown, or if row.word
	 * is the reserve word
	 */
	uint64_t word_physical;
	uint64_t head;	       /* index of the ring's next free slot, as it was last read */
	uint64_t row_physical; /* physical address of `row`; UINT64_MAX if unknown */
	bool guessed;	       /* the reserve word was not found, so `head` was derived from the slots */
	/* true if the ring can be read: its sizes are sound, and it does not overlap another ring */
	bool usable;
};

struct ktread_layout {
	struct ktread_memory *memory;
	uint64_t physical; /* physical address of the root */
	struct ktrx_root root;
	struct ktread_section section[KTREAD_SECTION_MAX];
	uint32_t sections;
	uint32_t unknown; /* number of sections of unknown type */
	struct ktread_ring_place *ring;
	uint32_t rings;
	struct ktrx_setting *setting; /* the settings, with their values */
	uint32_t settings;
};

/* Opens the layout that the root at `physical` describes. Returns 0 or an error. */
int ktread_layout_open(struct ktread_layout **layout, struct ktread_memory *memory, uint64_t physical,
		       const struct ktread_resolver *resolver);
/* Opens the layout of the dump that has its root at `offset`. Returns 0 or an error. */
int ktread_layout_open_dump(struct ktread_layout **layout, struct ktread_memory *memory, uint64_t offset);
void ktread_layout_close(struct ktread_layout *layout);
/*
 * Returns the n-th section of this type in the order of `index`, counted from 0. Returns NULL if there is
 * none.
 */
const struct ktread_section *ktread_layout_section(const struct ktread_layout *layout, uint32_t type,
						   uint32_t n);
/* Reads a ring's head again and stores it in *head. Returns 0 or an error. */
int ktread_layout_head(const struct ktread_layout *layout, uint32_t ring, uint64_t *head);
/*
 * Reads up to `room` rows of the CPUS section, from row `first` on. Returns the number of rows read, or an
 * error.
 */
int ktread_layout_cpus(const struct ktread_layout *layout, uint32_t first, struct ktrx_cpu *cpu,
		       uint32_t room);
/*
 * Reads up to `room` rows of the HOLDERS section, from row `first` on. Returns the number of rows read, or an
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

/* ---- Settings (settings.c) ---- */

/*
 * The settings of the kernel. The values come from the dump or, if the trace is read from memory, are the
 * current values.
 */

/*
 * Fills in layout->setting. Checks the kind and the bit number in each row, and makes sure that each name
 * ends in a NUL. Returns 0 or an error.
 */
int ktread_settings_read(struct ktread_layout *layout, const struct ktread_resolver *resolver);

/* ---- The search for roots and lent blocks (find.c) ---- */

/*
 * Scans a memory for roots and for the heads of lent blocks. Roots and heads are identified by their
 * positions in the memory's source of bytes (source.h). Addresses cannot be used, because the addresses in a
 * RAM file may be unknown until the root has been read.
 */

#define KTREAD_SCAN_ROOTS 16u /* maximum number of roots that are examined */

struct ktread_block_found {
	uint64_t position; /* offset in the source of bytes */
	struct ktrx_block head;
};

struct ktread_scan {
	/* positions, in the source of bytes, of the roots that are sound and whose kernel has started */
	uint64_t *root;
	uint32_t roots;
	struct ktread_block_found *block;
	uint32_t blocks;
};

int ktread_scan_run(struct ktread_scan *scan, struct ktread_memory *memory);
void ktread_scan_free(struct ktread_scan *scan);

/* ---- An image: a root that was found in a memory, and the layout to which it leads ---- */

#define KTREAD_IMAGE_BLOCKS 256u /* maximum number of lent blocks of one boot that are used */

/* A lent block: memory that the kernel gave to ktrace during this boot. */
struct ktread_image_block {
	uint64_t self; /* virtual address of the block */
	uint64_t length;
	uint64_t physical; /* physical address of the block */
	uint64_t boot;	   /* number of the boot if the block is in persistent memory, otherwise 0 */
};

struct ktread_image {
	struct ktread_memory *memory;
	struct ktread_scan scan;
	struct ktread_image_block block[KTREAD_IMAGE_BLOCKS];
	uint32_t blocks;
	uint64_t position;     /* position of the root in the memory's source of bytes */
	struct ktrx_root root; /* the bytes of the root, as they were last read */
	uint64_t physical;
	struct ktread_layout *layout;
	uint32_t boots;	 /* number of boots found; each boot has a nonce of its own */
	bool persistent; /* true if boots that were found in persistent memory are included */
	/* true if the image was opened at an address that the caller gave, without a search */
	bool fixed;
	char *registers; /* text of the captured registers; NULL: unknown */
	/* for ktread_image_pulse(): what earlier calls have shown about each CPU of the boot `idle_nonce` */
	struct ktread_idle *idle;
	uint32_t idle_cpus; /* number of elements of `idle` */
	uint64_t idle_nonce;
	bool says_idle;	 /* true if the kernel has reported KTRX_MODE_IDLE for some CPU */
	bool idle_beats; /* true if some CPU has heartbeats while its idle thread runs */
};

/* Reads the root and the layout again. Returns 0, KTREAD_E_ABSENT if the root is gone, or another error. */
int ktread_image_refresh(struct ktread_image *image);

#endif
