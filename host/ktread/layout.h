/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What a v2 root leads to, copied and bounded: its sections and its rings, in a dump or in memory. Whoever
 * reads or rewrites a v2 trace goes by this and by nothing in the root itself.
 */
#ifndef KTREAD_LAYOUT_H
#define KTREAD_LAYOUT_H

#include "ktrx/slot.h"
#include "region.h"
#include "slot.h"

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
