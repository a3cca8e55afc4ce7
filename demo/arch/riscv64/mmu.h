/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The kernel's Sv39 page tables, one set for all CPUs: RAM and devices at their physical addresses in 1 GiB
 * pages, and the window of arch_map. Address spaces (virt/space.c) copy the root table and share the tables
 * below it. User pages are not global and all have ASID 0: a hart flushes them from its TLB when it switches
 * to another address space.
 */
#ifndef DEMO_ARCH_MMU_H
#define DEMO_ARCH_MMU_H

#include <stdint.h>

#include "arch.h"

#define MMU_ENTRIES 512
#define MMU_VALID   UINT64_C(1)

typedef uint64_t page_table[MMU_ENTRIES] __attribute__((aligned(PAGE_SIZE)));

extern page_table identity_map;

/*
 * Adds the rest of RAM to the identity map, which contains only the first GiB at boot. Unmaps the lowest
 * page, so that null pointers fault. Requires: boot CPU, before other CPUs run.
 */
void mmu_init(uint64_t ram_base, uint64_t ram_size);

/*
 * Result of looking up an address in the kernel's page tables: states whether they allow the access that
 * `flags` describe. The flags are those of page_fault().
 */
enum mmu_verdict { MMU_NOT_MAPPED, MMU_FORBIDDEN, MMU_ALLOWED };

enum mmu_verdict mmu_judge(uintptr_t address, unsigned flags);

/* Returns true if a page is mapped at the address in this hart's current address space. */
bool mmu_is_present(uintptr_t address);

/* Build and read page table entries. `access` is enum arch_access of user.h. */
uint64_t mmu_table_entry(uintptr_t table);
uint64_t mmu_user_entry(uintptr_t page, unsigned access);
unsigned mmu_user_access(uint64_t entry);
uintptr_t mmu_entry_address(uint64_t entry);

#endif
