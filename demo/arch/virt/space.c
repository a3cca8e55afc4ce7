/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Address spaces: trees of three levels of tables with 512 entries. An entry of the root covers a GiB. The
 * root's entries outside user memory are copies of the kernel's, which do not change after mmu_init. mmu.h
 * defines the format.
 */
#include "arch.h"
#include "mmu.h"
#include "page.h"
#include "string.h"
#include "user.h"

#define ROOT_SHIFT 30
#define PAGE_SHIFT 12
#define LEVEL_BITS 9

_Static_assert(USER_BASE % (UINT64_C(1) << ROOT_SHIFT) == 0 && USER_END % (UINT64_C(1) << ROOT_SHIFT) == 0,
	       "user memory has entries of the root to itself");

static uint64_t *table_of(uint64_t entry)
{
	return (uint64_t *)mmu_entry_address(entry);
}

/*
 * Returns the entry for a page of user memory. Returns NULL if the address is outside user memory, or if a
 * table is missing and `create` is false or there is no memory.
 */
static uint64_t *find(const struct arch_space *space, uintptr_t address, bool create)
{
	uint64_t *table = (uint64_t *)space->root;

	if (address < USER_BASE || address >= USER_END)
		return NULL;
	for (int shift = ROOT_SHIFT; shift > PAGE_SHIFT; shift -= LEVEL_BITS) {
		uint64_t *entry = &table[address >> shift & (MMU_ENTRIES - 1)];

		if (!(*entry & MMU_VALID)) {
			void *fresh = create ? page_alloc(1) : NULL;

			if (!fresh)
				return NULL;
			/* A CPU that sees the new entry must also see the cleared table. */
			__atomic_store_n(entry, mmu_table_entry((uintptr_t)fresh), __ATOMIC_RELEASE);
		}
		table = table_of(*entry);
	}
	return &table[address >> PAGE_SHIFT & (MMU_ENTRIES - 1)];
}

/* Makes an entry invalid and flushes it from this CPU's TLB. Required before the entry is replaced. */
static void clear(uint64_t *entry, uintptr_t address)
{
	__atomic_store_n(entry, 0, __ATOMIC_RELAXED);
	arch_tlb_flush(address);
}

bool arch_space_init(struct arch_space *space)
{
	void *root = page_alloc(1);

	space->root = (uintptr_t)root;
	if (root)
		memcpy(root, identity_map, PAGE_SIZE);
	return root;
}

/* Frees a middle table and the lowest tables below it. */
static void free_tables(uint64_t *middle)
{
	for (unsigned i = 0; i < MMU_ENTRIES; i++)
		if (middle[i] & MMU_VALID)
			page_free(table_of(middle[i]), 1);
	page_free(middle, 1);
}

void arch_space_free(struct arch_space *space)
{
	const uint64_t *root = (const uint64_t *)space->root;

	for (uint64_t i = USER_BASE >> ROOT_SHIFT; i < USER_END >> ROOT_SHIFT; i++)
		if (root[i] & MMU_VALID)
			free_tables(table_of(root[i]));
	page_free((void *)space->root, 1);
	space->root = 0;
}

bool arch_space_map(struct arch_space *space, uintptr_t address, uintptr_t page, unsigned access)
{
	uint64_t *entry = find(space, address, true);

	if (!entry)
		return false;
	if (*entry & MMU_VALID)
		clear(entry, address);
	__atomic_store_n(entry, mmu_user_entry(page, access), __ATOMIC_RELEASE);
	arch_tlb_flush(address);
	return true;
}

uintptr_t arch_space_lookup(const struct arch_space *space, uintptr_t address, unsigned *access)
{
	const uint64_t *entry = find(space, address, false);

	if (!entry || !(*entry & MMU_VALID))
		return 0;
	*access = mmu_user_access(*entry);
	return mmu_entry_address(*entry);
}

uintptr_t arch_space_unmap(struct arch_space *space, uintptr_t address)
{
	uint64_t *entry = find(space, address, false);
	uint64_t old = entry ? *entry : 0;

	if (!(old & MMU_VALID))
		return 0;
	clear(entry, address);
	return mmu_entry_address(old);
}
