/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "mmu.h"

#include "platform.h"
#include "thread.h"
#include "user.h"

#define GIB (UINT64_C(1) << 30)
#define MIB (UINT64_C(1) << 20)

/* Bits of page table descriptors. start.S sets MAIR_EL1, which gives the attribute indices a meaning. */
#define TABLE_OR_PAGE	     UINT64_C(2)
#define ATTRIBUTE_NORMAL     (UINT64_C(1) << 2)
#define USER		     (UINT64_C(1) << 6) /* user mode may access the page */
#define READ_ONLY	     (UINT64_C(1) << 7)
#define INNER_SHAREABLE	     (UINT64_C(3) << 8)
#define ACCESSED	     (UINT64_C(1) << 10)
#define NOT_GLOBAL	     (UINT64_C(1) << 11)
#define KERNEL_NEVER_EXECUTE (UINT64_C(1) << 53)
#define USER_NEVER_EXECUTE   (UINT64_C(1) << 54)
#define NEVER_EXECUTE	     (KERNEL_NEVER_EXECUTE | USER_NEVER_EXECUTE)

#define PAGE_ADDRESS UINT64_C(0x0000fffffffff000)

/* Field of CTR_EL0: log2 of the number of words in the smallest data cache line. */
#define CTR_DATA_LINE_SHIFT 16

#define NORMAL	     (MMU_VALID | ATTRIBUTE_NORMAL | INNER_SHAREABLE | ACCESSED)
#define DEVICE_BLOCK (MMU_VALID | ACCESSED | NEVER_EXECUTE)
#define RAM_BLOCK    (NORMAL | USER_NEVER_EXECUTE)
#define RAM_PAGE     (NORMAL | TABLE_OR_PAGE | NEVER_EXECUTE)
#define USER_PAGE    (NORMAL | TABLE_OR_PAGE | NOT_GLOBAL | KERNEL_NEVER_EXECUTE)

/*
 * The kernel's root table. Each entry maps a GiB: devices, the first GiB of RAM, PCI configuration. It is
 * initialized statically, because the CPU's first instructions use it.
 */
page_table identity_map = {
	[0] = DEVICE_BLOCK,
	[PLATFORM_RAM / GIB] = PLATFORM_RAM | RAM_BLOCK,
	[PLATFORM_PCI_CONFIGURATION / GIB] = (PLATFORM_PCI_CONFIGURATION & -GIB) | DEVICE_BLOCK,
};
static page_table devices_level2, window_level2, window_level3;

_Static_assert(ARCH_WINDOW_BASE % GIB == 0 && ARCH_WINDOW_SIZE == (uint64_t)MMU_ENTRIES * PAGE_SIZE,
	       "the window is one level 3 table at the start of a GiB");

static void tables_changed(void)
{
	__asm__ volatile("dsb ishst; isb" : : : "memory");
}

/*
 * Unmaps the first 2 MiB, which contain only flash, so that null pointers fault. A block entry must be made
 * invalid before it is replaced by a table entry. No device may be used while the entry is invalid.
 */
static void unmap_null(void)
{
	for (uint64_t i = 1; i < MMU_ENTRIES; i++)
		devices_level2[i] = i * 2 * MIB | DEVICE_BLOCK;
	identity_map[0] = 0;
	__asm__ volatile("dsb ishst; tlbi vmalle1is; dsb ish; isb" : : : "memory");
	identity_map[0] = mmu_table_entry((uintptr_t)devices_level2);
}

void mmu_init(uint64_t ram_base, uint64_t ram_size)
{
	uint64_t end = ram_base + ram_size;

	unmap_null();
	for (uint64_t at = ram_base & -GIB; at < end && at < USER_BASE; at += GIB)
		identity_map[at / GIB] = at | RAM_BLOCK;
	window_level2[0] = mmu_table_entry((uintptr_t)window_level3);
	identity_map[ARCH_WINDOW_BASE / GIB] = mmu_table_entry((uintptr_t)window_level2);
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
	return *window_entry(address) & MMU_VALID;
}

uintptr_t arch_unmap(uintptr_t address)
{
	uint64_t old = *window_entry(address);

	*window_entry(address) = 0;
	tables_changed();
	return mmu_entry_address(old);
}

/* Flushes the page only from this CPU's TLB. The portable kernel calls this function on each CPU. */
void arch_tlb_flush(uintptr_t address)
{
	uint64_t page = address / PAGE_SIZE;

	__asm__ volatile("dsb nshst; tlbi vaae1, %0; dsb nsh; isb" : : "r"(page) : "memory");
}

uint64_t mmu_table_entry(uintptr_t table)
{
	return table | MMU_VALID | TABLE_OR_PAGE;
}

/* Builds a table entry for a user page. If `access` is 0, only the kernel can access the page. */
uint64_t mmu_user_entry(uintptr_t page, unsigned access)
{
	uint64_t entry = page | USER_PAGE;

	if (access)
		entry |= USER;
	if (!(access & ACCESS_WRITE))
		entry |= READ_ONLY;
	if (!(access & ACCESS_EXECUTE))
		entry |= USER_NEVER_EXECUTE;
	return entry;
}

unsigned mmu_user_access(uint64_t entry)
{
	if (!(entry & USER))
		return 0;
	return ACCESS_READ | (entry & READ_ONLY ? 0u : ACCESS_WRITE) |
	       (entry & USER_NEVER_EXECUTE ? 0u : ACCESS_EXECUTE);
}

uintptr_t mmu_entry_address(uint64_t entry)
{
	return entry & PAGE_ADDRESS;
}

/*
 * Flushes the TLB only when the CPU leaves the tables of an address space: the kernel's own tables contain no
 * user pages.
 */
void arch_user_switch(struct thread *next, struct arch_space *space)
{
	uint64_t old = arch_sysreg_read(ttbr0_el1);
	uint64_t root = space ? space->root : (uintptr_t)identity_map;

	(void)next; /* not used: SP_EL1 already points to the top of the kernel stack of `next` */
	if (root == old)
		return;
	__asm__ volatile("dsb ish; msr ttbr0_el1, %0; isb" : : "r"(root) : "memory");
	if (old != (uintptr_t)identity_map)
		__asm__ volatile("tlbi aside1, xzr; dsb nsh; isb" : : : "memory");
}

/*
 * Writes the page's lines of the data cache back to memory. Then invalidates the instruction caches
 * completely, because they may contain the page at other addresses, too.
 */
void arch_code_written(uintptr_t page)
{
	unsigned line = 4u << (arch_sysreg_read(ctr_el0) >> CTR_DATA_LINE_SHIFT & 0xf);

	for (uintptr_t at = page; at < page + PAGE_SIZE; at += line)
		__asm__ volatile("dc cvau, %0" : : "r"(at) : "memory");
	__asm__ volatile("dsb ish; ic ialluis; dsb ish; isb" : : : "memory");
}
