/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "mmu.h"

#include "arch.h"
#include "platform.h"

#define GIB	(UINT64_C(1) << 30)
#define MIB	(UINT64_C(1) << 20)
#define ENTRIES 512

/* Descriptor bits; attribute indices as start.S sets MAIR_EL1. */
#define VALID		 UINT64_C(1)
#define TABLE_OR_PAGE	 UINT64_C(2)
#define ATTRIBUTE_NORMAL (UINT64_C(1) << 2)
#define INNER_SHAREABLE	 (UINT64_C(3) << 8)
#define ACCESSED	 (UINT64_C(1) << 10)
#define NEVER_EXECUTE	 (UINT64_C(3) << 53)

#define PAGE_ADDRESS UINT64_C(0x0000fffffffff000)

#define DEVICE_BLOCK (VALID | ACCESSED | NEVER_EXECUTE)
#define RAM_BLOCK    (VALID | ATTRIBUTE_NORMAL | INNER_SHAREABLE | ACCESSED)
#define RAM_PAGE     (RAM_BLOCK | TABLE_OR_PAGE | NEVER_EXECUTE)

typedef uint64_t page_table[ENTRIES] __attribute__((aligned(PAGE_SIZE)));

/* A GiB an entry: devices, the first GiB of RAM, PCI configuration. Complete before the first instruction. */
page_table identity_map = {
	[0] = DEVICE_BLOCK,
	[PLATFORM_RAM / GIB] = PLATFORM_RAM | RAM_BLOCK,
	[PLATFORM_PCI_CONFIGURATION / GIB] = (PLATFORM_PCI_CONFIGURATION & -GIB) | DEVICE_BLOCK,
};
static page_table devices_level2, window_level2, window_level3;

_Static_assert(ARCH_WINDOW_BASE % GIB == 0 && ARCH_WINDOW_SIZE == (uint64_t)ENTRIES * PAGE_SIZE,
	       "the window is one level 3 table at the start of a GiB");

static void tables_changed(void)
{
	__asm__ volatile("dsb ishst; isb" : : : "memory");
}

/*
 * The first 2 MiB go: there is only flash, and null pointers. A block may become a table only by way of
 * nothing at all; no device is used meanwhile.
 */
static void unmap_null(void)
{
	for (uint64_t i = 1; i < ENTRIES; i++)
		devices_level2[i] = i * 2 * MIB | DEVICE_BLOCK;
	identity_map[0] = 0;
	__asm__ volatile("dsb ishst; tlbi vmalle1is; dsb ish; isb" : : : "memory");
	identity_map[0] = (uintptr_t)devices_level2 | VALID | TABLE_OR_PAGE;
}

void mmu_init(uint64_t ram_base, uint64_t ram_size)
{
	uint64_t end = ram_base + ram_size;

	unmap_null();
	for (uint64_t at = ram_base & -GIB; at < end && at < ARCH_WINDOW_BASE; at += GIB)
		identity_map[at / GIB] = at | RAM_BLOCK;
	window_level2[0] = (uintptr_t)window_level3 | VALID | TABLE_OR_PAGE;
	identity_map[ARCH_WINDOW_BASE / GIB] = (uintptr_t)window_level2 | VALID | TABLE_OR_PAGE;
	tables_changed();
}

static volatile uint64_t *window_entry(uintptr_t address)
{
	return &window_level3[(address - ARCH_WINDOW_BASE) / PAGE_SIZE];
}

bool arch_map(uintptr_t address, uintptr_t page)
{
	*window_entry(address) = page | RAM_PAGE;
	tables_changed();
	return true;
}

bool arch_is_mapped(uintptr_t address)
{
	return *window_entry(address) & VALID;
}

uintptr_t arch_unmap(uintptr_t address)
{
	uint64_t old = *window_entry(address);

	*window_entry(address) = 0;
	tables_changed();
	return old & PAGE_ADDRESS;
}

/* Only this CPU's: the portable kernel asks each CPU. */
void arch_tlb_flush(uintptr_t address)
{
	uint64_t page = address / PAGE_SIZE;

	__asm__ volatile("dsb nshst; tlbi vaae1, %0; dsb nsh; isb" : : "r"(page) : "memory");
}
