/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "mmu.h"

#include "arch.h"

#define GIB	(UINT64_C(1) << 30)
#define MIB	(UINT64_C(1) << 20)
#define ENTRIES 512

/* Entry bits. Accessed and dirty are set beforehand, since a processor may fault instead of setting them. */
#define VALID	       UINT64_C(0x01)
#define READ_WRITE     UINT64_C(0x06)
#define EXECUTE	       UINT64_C(0x08)
#define GLOBAL	       UINT64_C(0x20)
#define ACCESSED_DIRTY UINT64_C(0xc0)

#define RAM_PAGE (VALID | READ_WRITE | GLOBAL | ACCESSED_DIRTY)

/* The physical address stands 2 bits lower in an entry. */
#define ENTRY(address, bits) ((uint64_t)(address) >> 2 | (bits))
#define ENTRY_ADDRESS(entry) ((entry) << 2 & UINT64_C(0x00fffffffffff000))

typedef uint64_t page_table[ENTRIES] __attribute__((aligned(PAGE_SIZE)));

/* A GiB an entry: devices, PCI's window, the first GiB of RAM. Complete before the first instruction. */
page_table identity_map = {
	ENTRY(0, RAM_PAGE),
	ENTRY(GIB, RAM_PAGE),
	ENTRY(2 * GIB, RAM_PAGE | EXECUTE),
};
static page_table lowest_middle, lowest_leaves, window_middle, window_leaves;

_Static_assert(ARCH_WINDOW_BASE % GIB == 0 && ARCH_WINDOW_SIZE == (uint64_t)ENTRIES * PAGE_SIZE,
	       "the window is one leaf table at the start of a GiB");

/* The lowest page goes, for null pointers; what is around it stays in smaller pieces. */
static void unmap_null(void)
{
	for (uint64_t i = 1; i < ENTRIES; i++) {
		lowest_leaves[i] = ENTRY(i * PAGE_SIZE, RAM_PAGE);
		lowest_middle[i] = ENTRY(i * 2 * MIB, RAM_PAGE);
	}
	lowest_middle[0] = ENTRY(lowest_leaves, VALID);
	identity_map[0] = ENTRY(lowest_middle, VALID);
}

void mmu_init(uint64_t ram_base, uint64_t ram_size)
{
	uint64_t end = ram_base + ram_size;

	unmap_null();
	for (uint64_t at = ram_base & -GIB; at < end && at < ARCH_WINDOW_BASE; at += GIB)
		identity_map[at / GIB] = ENTRY(at, RAM_PAGE | EXECUTE);
	window_middle[0] = ENTRY(window_leaves, VALID);
	identity_map[ARCH_WINDOW_BASE / GIB] = ENTRY(window_middle, VALID);
	__asm__ volatile("sfence.vma" : : : "memory");
}

static volatile uint64_t *window_entry(uintptr_t address)
{
	return &window_leaves[(address - ARCH_WINDOW_BASE) / PAGE_SIZE];
}

/* Walks the tables as the hart does: the entry that maps an address, or an invalid one. */
static uint64_t leaf(uintptr_t address)
{
	const volatile uint64_t *table = identity_map;
	uint64_t entry = 0;

	if (address >= ENTRIES / 2 * GIB)
		return 0;
	for (int shift = 30; shift >= 12; shift -= 9) {
		entry = table[address >> shift & (ENTRIES - 1)];
		if (!(entry & VALID) || entry & (READ_WRITE | EXECUTE))
			break;
		table = (const volatile uint64_t *)ENTRY_ADDRESS(entry);
	}
	return entry;
}

enum mmu_verdict mmu_judge(uintptr_t address, unsigned flags)
{
	uint64_t entry = leaf(address);

	if (!(entry & VALID))
		return MMU_NOT_MAPPED;
	return flags & FAULT_EXECUTE && !(entry & EXECUTE) ? MMU_FORBIDDEN : MMU_ALLOWED;
}

bool arch_map(uintptr_t address, uintptr_t page)
{
	*window_entry(address) = ENTRY(page, RAM_PAGE);
	arch_tlb_flush(address);
	return true;
}

bool arch_is_mapped(uintptr_t address)
{
	return leaf(address) & VALID;
}

uintptr_t arch_unmap(uintptr_t address)
{
	uint64_t old = *window_entry(address);

	*window_entry(address) = 0;
	return ENTRY_ADDRESS(old);
}

/* Only this CPU's: the portable kernel asks each CPU. */
void arch_tlb_flush(uintptr_t address)
{
	__asm__ volatile("sfence.vma %0, zero" : : "r"(address) : "memory");
}
