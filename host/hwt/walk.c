/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "walk.h"

#define FRAME	 UINT64_C(0x0000fffffffff000)
#define PRESENT	 UINT64_C(1)
#define LARGE	 UINT64_C(0x80) /* x86_64: a page instead of a table */
#define IS_TABLE UINT64_C(2)	/* AArch64: the same, the other way round; of the last level a page */
#define LEVELS	 4u

static bool read_entry(struct ktread_memory *memory, uint64_t table, uint64_t address, unsigned shift,
		       uint64_t *entry)
{
	const uint64_t at = table + ((address >> shift) & 511) * 8;

	return ktread_memory_run(memory, at) >= sizeof(*entry) &&
	       ktread_memory_read(memory, at, entry, sizeof(*entry)) == 0 && (*entry & PRESENT);
}

static bool is_page(uint16_t machine, uint64_t entry, unsigned level)
{
	if (level == 0)
		return machine == HWT_WALK_X86_64 || (entry & IS_TABLE);
	return machine == HWT_WALK_X86_64 ? (entry & LARGE) && level < 3 : !(entry & IS_TABLE) && level < 3;
}

static bool descend(struct ktread_memory *memory, uint16_t machine, uint64_t table, uint64_t address,
		    unsigned levels, uint64_t *physical)
{
	for (unsigned level = levels; level-- > 0;) {
		const unsigned shift = 12 + 9 * level;
		const uint64_t within = (UINT64_C(1) << shift) - 1;
		uint64_t entry;

		if (!read_entry(memory, table, address, shift, &entry))
			return false;
		if (is_page(machine, entry, level)) {
			*physical = (entry & FRAME & ~within) | (address & within);
			return true;
		}
		table = entry & FRAME;
	}
	return false;
}

/*
 * Tables of 39 bits, a level less, may be read as such of 48, too, by what they have for devices: where only
 * one of the two leads into memory, that is it.
 */
static bool descend_arm(struct ktread_memory *memory, uint64_t table, uint64_t address, uint64_t *physical)
{
	uint64_t shorter;
	bool found = descend(memory, HWT_WALK_AARCH64, table, address, LEVELS, physical);

	if (address >> 39 || (found && ktread_memory_run(memory, *physical)) ||
	    !descend(memory, HWT_WALK_AARCH64, table, address, LEVELS - 1, &shorter) ||
	    (found && !ktread_memory_run(memory, shorter)))
		return found;
	*physical = shorter;
	return true;
}

bool hwt_walk(struct ktread_memory *memory, uint16_t machine, uint64_t space, uint64_t address,
	      uint64_t *physical)
{
	const uint64_t upper = address >> 47;

	if (machine == HWT_WALK_X86_64)
		return (upper == 0 || upper == 0x1ffff) &&
		       descend(memory, machine, space & FRAME, address, LEVELS, physical);
	return machine == HWT_WALK_AARCH64 && !(address >> 48) &&
	       descend_arm(memory, space & FRAME, address, physical);
}
