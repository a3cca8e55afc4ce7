/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Functions for page tables: those of the kernel (paging.c) and those of address spaces (space.c). */
#ifndef DEMO_X86_PAGING_H
#define DEMO_X86_PAGING_H

#include <stdbool.h>
#include <stdint.h>

#define PTE_PRESENT    0x1ull
#define PTE_WRITABLE   0x2ull
#define PTE_USER       0x4ull
#define PTE_ADDRESS    0x000ffffffffff000ull
#define PTE_NO_EXECUTE (1ull << 63)

#define TABLE_ENTRIES 512
#define TABLE_SHIFT   9

extern uint64_t page_root[TABLE_ENTRIES]; /* root table of the kernel's own address space */
extern uint64_t paging_no_execute;	  /* PTE_NO_EXECUTE, or 0 if the CPU does not support it */

static inline uint64_t *entry_table(uint64_t entry)
{
	return (uint64_t *)(entry & PTE_ADDRESS);
}

/*
 * Returns the entry for address in the lowest table. Returns NULL if a table is missing and `create` is
 * false, or there is no memory. Requires: the address is not mapped by a large page.
 */
uint64_t *page_table_entry(uint64_t *root, uintptr_t address, bool create);

#endif
