/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "mmu.h"

#include "thread.h"
#include "user.h"

#define GIB (UINT64_C(1) << 30)
#define MIB (UINT64_C(1) << 20)

/*
 * Bits of entries. All entries have the bits Accessed and Dirty set, because some processors raise a page
 * fault if these bits are clear.
 */
#define READ	       UINT64_C(0x02)
#define WRITE	       UINT64_C(0x04)
#define EXECUTE	       UINT64_C(0x08)
#define USER	       UINT64_C(0x10) /* user mode may access the page, supervisor mode may not */
#define GLOBAL	       UINT64_C(0x20)
#define ACCESSED_DIRTY UINT64_C(0xc0)

#define RAM_PAGE  (MMU_VALID | READ | WRITE | GLOBAL | ACCESSED_DIRTY)
#define USER_PAGE (MMU_VALID | READ | ACCESSED_DIRTY)

/* Builds an entry, in which the physical address is shifted right by 2. */
#define ENTRY(address, bits) ((uint64_t)(address) >> 2 | (bits))

#define SATP_SV39	(UINT64_C(8) << 60)
#define SATP_ROOT_SHIFT 12
#define SATP_ROOT_MASK	((UINT64_C(1) << 44) - 1)

/*
 * The kernel's root table. Each entry maps a GiB: devices, PCI's window, the first GiB of RAM. It is
 * initialized statically, because the hart's first instructions use it.
 */
page_table identity_map = {
	ENTRY(0, RAM_PAGE),
	ENTRY(GIB, RAM_PAGE),
	ENTRY(2 * GIB, RAM_PAGE | EXECUTE),
};
static page_table lowest_middle, lowest_leaves, window_middle, window_leaves;

_Static_assert(ARCH_WINDOW_BASE % GIB == 0 && ARCH_WINDOW_SIZE == (uint64_t)MMU_ENTRIES * PAGE_SIZE,
	       "the window is one leaf table at the start of a GiB");

/*
 * Unmaps the lowest page, so that null pointers fault. The rest of its GiB is then mapped with pages of 4 KiB
 * and 2 MiB.
 */
static void unmap_null(void)
{
	for (uint64_t i = 1; i < MMU_ENTRIES; i++) {
		lowest_leaves[i] = ENTRY(i * PAGE_SIZE, RAM_PAGE);
		lowest_middle[i] = ENTRY(i * 2 * MIB, RAM_PAGE);
	}
	lowest_middle[0] = mmu_table_entry((uintptr_t)lowest_leaves);
	identity_map[0] = mmu_table_entry((uintptr_t)lowest_middle);
}

void mmu_init(uint64_t ram_base, uint64_t ram_size)
{
	uint64_t end = ram_base + ram_size;

	unmap_null();
	for (uint64_t at = ram_base & -GIB; at < end && at < USER_BASE; at += GIB)
		identity_map[at / GIB] = ENTRY(at, RAM_PAGE | EXECUTE);
	window_middle[0] = mmu_table_entry((uintptr_t)window_leaves);
	identity_map[ARCH_WINDOW_BASE / GIB] = mmu_table_entry((uintptr_t)window_middle);
	__asm__ volatile("sfence.vma" : : : "memory");
}

static volatile uint64_t *window_entry(uintptr_t address)
{
	return &window_leaves[(address - ARCH_WINDOW_BASE) / PAGE_SIZE];
}

/* Walks the tables like the hardware. Returns the entry that maps an address, or an invalid entry. */
static uint64_t leaf(const volatile uint64_t *table, uintptr_t address)
{
	uint64_t entry = 0;

	if (address >= MMU_ENTRIES / 2 * GIB)
		return 0;
	for (int shift = 30; shift >= 12; shift -= 9) {
		entry = table[address >> shift & (MMU_ENTRIES - 1)];
		if (!(entry & MMU_VALID) || entry & (READ | WRITE | EXECUTE))
			break;
		table = (const volatile uint64_t *)mmu_entry_address(entry);
	}
	return entry;
}

static uintptr_t current_root(void)
{
	return (arch_csr_read(satp) & SATP_ROOT_MASK) << SATP_ROOT_SHIFT;
}

enum mmu_verdict mmu_judge(uintptr_t address, unsigned flags)
{
	uint64_t entry = leaf(identity_map, address);

	if (!(entry & MMU_VALID))
		return MMU_NOT_MAPPED;
	return flags & FAULT_EXECUTE && !(entry & EXECUTE) ? MMU_FORBIDDEN : MMU_ALLOWED;
}

bool mmu_is_present(uintptr_t address)
{
	return leaf((const uint64_t *)current_root(), address) & MMU_VALID;
}

bool arch_map(uintptr_t address, uintptr_t page)
{
	*window_entry(address) = ENTRY(page, RAM_PAGE);
	arch_tlb_flush(address);
	return true;
}

bool arch_is_mapped(uintptr_t address)
{
	return leaf(identity_map, address) & MMU_VALID;
}

uintptr_t arch_unmap(uintptr_t address)
{
	uint64_t old = *window_entry(address);

	*window_entry(address) = 0;
	return mmu_entry_address(old);
}

/* Flushes the page only from this hart's TLB. The portable kernel calls this function on each CPU. */
void arch_tlb_flush(uintptr_t address)
{
	__asm__ volatile("sfence.vma %0, zero" : : "r"(address) : "memory");
}

uint64_t mmu_table_entry(uintptr_t table)
{
	return ENTRY(table, MMU_VALID);
}

/* Builds a table entry for a user page. If `access` is 0, only the kernel can access the page. */
uint64_t mmu_user_entry(uintptr_t page, unsigned access)
{
	uint64_t entry = ENTRY(page, USER_PAGE);

	if (access)
		entry |= USER;
	if (access & ACCESS_WRITE)
		entry |= WRITE;
	if (access & ACCESS_EXECUTE)
		entry |= EXECUTE;
	return entry;
}

unsigned mmu_user_access(uint64_t entry)
{
	if (!(entry & USER))
		return 0;
	return ACCESS_READ | (entry & WRITE ? ACCESS_WRITE : 0u) | (entry & EXECUTE ? ACCESS_EXECUTE : 0u);
}

uintptr_t mmu_entry_address(uint64_t entry)
{
	return entry << 2 & UINT64_C(0x00fffffffffff000);
}

/*
 * Flushes the TLB and the instruction cache: a hart may have cached outdated entries, even invalid ones, and
 * instructions that another hart has replaced since.
 */
void arch_user_switch(struct thread *next, struct arch_space *space)
{
	uintptr_t root = space ? space->root : (uintptr_t)identity_map;

	(void)next; /* not used: on the return to user mode, vectors.S sets sscratch to the thread's stack */
	if (root == current_root())
		return;
	arch_csr_write(satp, SATP_SV39 | root >> SATP_ROOT_SHIFT);
	__asm__ volatile("sfence.vma zero, %0; fence.i" : : "r"(UINT64_C(0)) : "memory");
}

/* Executes fence.i only on this hart: other harts execute it when they switch to the address space. */
void arch_code_written(uintptr_t page)
{
	(void)page;
	__asm__ volatile("fence.i" : : : "memory");
}
