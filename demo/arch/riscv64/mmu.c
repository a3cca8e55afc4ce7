/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "mmu.h"

#include "arch.h"

#define GIB	(UINT64_C(1) << 30)
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
#define ENTRY_ADDRESS(entry) (((entry)&UINT64_C(0x003ffffffffffc00)) << 2)

typedef uint64_t page_table[ENTRIES] __attribute__((aligned(PAGE_SIZE)));

/* A GiB an entry: devices, PCI's window, the first GiB of RAM. Complete before the first instruction. */
page_table identity_map = {
	ENTRY(0, RAM_PAGE),
	ENTRY(GIB, RAM_PAGE),
	ENTRY(2 * GIB, RAM_PAGE | EXECUTE),
};
static page_table window_middle, window_leaves;

_Static_assert(ARCH_WINDOW_BASE % GIB == 0 && ARCH_WINDOW_SIZE == (uint64_t)ENTRIES * PAGE_SIZE,
	       "the window is one leaf table at the start of a GiB");

void mmu_map_ram(uint64_t base, uint64_t size)
{
	uint64_t end = base + size;

	for (uint64_t at = base & ~(GIB - 1); at < end && at < ARCH_WINDOW_BASE; at += GIB)
		identity_map[at / GIB] = ENTRY(at, RAM_PAGE | EXECUTE);
	window_middle[0] = ENTRY(window_leaves, VALID);
	identity_map[ARCH_WINDOW_BASE / GIB] = ENTRY(window_middle, VALID);
	__asm__ volatile("sfence.vma" : : : "memory");
}

static volatile uint64_t *window_entry(uintptr_t address)
{
	return &window_leaves[(address - ARCH_WINDOW_BASE) / PAGE_SIZE];
}

/* The entry that maps an address, 0 if none does. */
static uint64_t leaf(uintptr_t address)
{
	if (address - ARCH_WINDOW_BASE < ARCH_WINDOW_SIZE)
		return *window_entry(address);
	if (address >= ARCH_WINDOW_BASE)
		return 0;
	return identity_map[address / GIB];
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
