/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Single pages of the window. The one-to-one map of boot.S stays as it is, but for page 0. */
#include "arch.h"
#include "page.h"
#include "x86.h"

#define PTE_PRESENT  0x1ull
#define PTE_WRITABLE 0x2ull
#define PTE_ADDRESS  0x000ffffffffff000ull
#define LEVELS	     4

extern uint64_t page_root[512];

/*
 * The entry for address in the lowest table; NULL if a table is missing and create is false or memory is
 * out.
 */
static uint64_t *page_table_entry(uintptr_t address, bool create)
{
	uint64_t *table = page_root;

	for (int level = LEVELS - 1; level > 0; level--) {
		uint64_t *entry = &table[address >> (12 + 9 * level) & 511];

		if (!(*entry & PTE_PRESENT)) {
			void *fresh = create ? page_alloc(1) : NULL;

			if (!fresh)
				return NULL;
			*entry = (uintptr_t)fresh | PTE_PRESENT | PTE_WRITABLE;
		}
		table = (uint64_t *)(*entry & PTE_ADDRESS);
	}
	return &table[address >> 12 & 511];
}

bool arch_map(uintptr_t address, uintptr_t page)
{
	uint64_t *entry = page_table_entry(address, true);

	if (!entry)
		return false;
	*entry = page | PTE_PRESENT | PTE_WRITABLE;
	return true;
}

bool arch_is_mapped(uintptr_t address)
{
	const uint64_t *entry = page_table_entry(address, false);

	return entry && *entry & PTE_PRESENT;
}

uintptr_t arch_unmap(uintptr_t address)
{
	uint64_t *entry = page_table_entry(address, false);
	uint64_t old = entry ? *entry : 0;

	if (!(old & PTE_PRESENT))
		return 0;
	*entry = 0;
	return old & PTE_ADDRESS;
}

void arch_tlb_flush(uintptr_t address)
{
	__asm__ volatile("invlpg (%0)" : : "r"(address) : "memory");
}

void paging_unmap_page_zero(void)
{
	arch_unmap(0);
	arch_tlb_flush(0);
}
