/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Address spaces of processes. User memory and the identity map are both in the first 512 GiB. So each space
 * has two upper tables of its own: a copy of the kernel's root table, and a copy of the kernel's table of
 * GiBs, to which the root's first entry points. In the table of GiBs, the entries from USER_BASE to USER_END
 * belong to the space.
 */
#include "arch.h"
#include "layout.h"
#include "page.h"
#include "paging.h"
#include "string.h"
#include "user.h"

#define UPPER_TABLES 2 /* number of pages for the root table and the table of GiBs, which are adjacent */
#define GIB_SHIFT    30

_Static_assert(USER_BASE >= (uint64_t)IDENTITY_GIB << GIB_SHIFT, "clear of the one-to-one map");
_Static_assert(USER_END <= ARCH_WINDOW_BASE, "all under the root's first entry, clear of the window");
_Static_assert((USER_BASE | USER_END) % (1ul << GIB_SHIFT) == 0, "whole tables");

static uint64_t *gib_table(const struct arch_space *space)
{
	return (uint64_t *)space->root + TABLE_ENTRIES;
}

bool arch_space_init(struct arch_space *space)
{
	uint64_t *root = page_alloc(UPPER_TABLES);

	if (!root)
		return false;
	space->root = (uintptr_t)root;
	memcpy(root, page_root, PAGE_SIZE);
	memcpy(gib_table(space), entry_table(page_root[0]), PAGE_SIZE);
	root[0] = (uintptr_t)gib_table(space) | PTE_PRESENT | PTE_WRITABLE | PTE_USER;
	return true;
}

/* Frees a page directory and the page tables to which it refers. */
static void free_directory(uint64_t *directory)
{
	for (size_t i = 0; i < TABLE_ENTRIES; i++)
		if (directory[i] & PTE_PRESENT)
			page_free(entry_table(directory[i]), 1);
	page_free(directory, 1);
}

void arch_space_free(struct arch_space *space)
{
	const uint64_t *gibs = gib_table(space);

	for (size_t i = USER_BASE >> GIB_SHIFT; i < USER_END >> GIB_SHIFT; i++)
		if (gibs[i] & PTE_PRESENT)
			free_directory(entry_table(gibs[i]));
	page_free((void *)space->root, UPPER_TABLES);
	space->root = 0;
}

/*
 * Returns the entry for an address, or NULL if the address is outside user memory or a table is missing and
 * is not created.
 */
static uint64_t *user_entry(const struct arch_space *space, uintptr_t address, bool create)
{
	if (address < USER_BASE || address >= USER_END)
		return NULL;
	return page_table_entry((uint64_t *)space->root, address, create);
}

bool arch_space_map(struct arch_space *space, uintptr_t address, uintptr_t page, unsigned access)
{
	uint64_t *entry = user_entry(space, address, true);

	if (!entry)
		return false;
	*entry = page | PTE_PRESENT | PTE_USER | (access & ACCESS_WRITE ? PTE_WRITABLE : 0) |
		 (access & ACCESS_EXECUTE ? 0 : paging_no_execute);
	arch_tlb_flush(address);
	return true;
}

uintptr_t arch_space_lookup(const struct arch_space *space, uintptr_t address, unsigned *access)
{
	const uint64_t *entry = user_entry(space, address, false);

	if (!entry || !(*entry & PTE_PRESENT))
		return 0;
	*access = ACCESS_READ | (*entry & PTE_WRITABLE ? ACCESS_WRITE : 0) |
		  (*entry & PTE_NO_EXECUTE ? 0 : ACCESS_EXECUTE);
	return *entry & PTE_ADDRESS;
}

uintptr_t arch_space_unmap(struct arch_space *space, uintptr_t address)
{
	uint64_t *entry = user_entry(space, address, false);
	uint64_t old = entry ? *entry : 0;

	if (!(old & PTE_PRESENT))
		return 0;
	*entry = 0;
	arch_tlb_flush(address);
	return old & PTE_ADDRESS;
}

void arch_code_written(uintptr_t page)
{
	(void)page; /* nothing to do: x86 CPUs notice changed instructions by themselves */
}
