/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Maps single pages of the window in the kernel's page tables. The identity map of boot.S is unchanged,
 * except that page 0 is unmapped.
 */
#include <cpuid.h>

#include "arch.h"
#include "page.h"
#include "paging.h"
#include "x86.h"

#define LEVELS		 4
#define PAGE_SHIFT	 12
#define ROOT_ENTRY_SHIFT (PAGE_SHIFT + (LEVELS - 1) * TABLE_SHIFT)

#define EFER_NO_EXECUTE	   0x800u
#define CR4_NO_USER_CODE   0x100000ul /* SMEP: the kernel cannot execute user pages */
#define CR4_NO_USER_DATA   0x200000ul /* SMAP: the kernel cannot access user pages */
#define CPUID_FEATURES	   7u
#define CPUID_NO_USER_CODE 0x80u     /* EBX */
#define CPUID_NO_USER_DATA 0x100000u /* EBX */
#define CPUID_FEATURES_AMD 0x80000001u
#define CPUID_NO_EXECUTE   0x100000u /* EDX */

uint64_t paging_no_execute;

/* The window's third-level table. It is static, so it exists before address spaces copy the root table. */
static uint64_t window_pointers[TABLE_ENTRIES] __attribute__((aligned(PAGE_SIZE)));

uint64_t *page_table_entry(uint64_t *root, uintptr_t address, bool create)
{
	uint64_t *table = root;

	for (int level = LEVELS - 1; level > 0; level--) {
		uint64_t *entry = &table[address >> (PAGE_SHIFT + TABLE_SHIFT * level) & (TABLE_ENTRIES - 1)];

		if (!(*entry & PTE_PRESENT)) {
			void *fresh = create ? page_alloc(1) : NULL;

			if (!fresh)
				return NULL;
			/*
			 * The entries of upper levels allow all accesses: only the entry of the lowest level
			 * restricts them.
			 */
			*entry = (uintptr_t)fresh | PTE_PRESENT | PTE_WRITABLE | PTE_USER;
		}
		table = entry_table(*entry);
	}
	return &table[address >> PAGE_SHIFT & (TABLE_ENTRIES - 1)];
}

bool arch_map(uintptr_t address, uintptr_t page)
{
	uint64_t *entry = page_table_entry(page_root, address, true);

	if (!entry)
		return false;
	*entry = page | PTE_PRESENT | PTE_WRITABLE;
	return true;
}

bool arch_is_mapped(uintptr_t address)
{
	const uint64_t *entry = page_table_entry(page_root, address, false);

	return entry && *entry & PTE_PRESENT;
}

uintptr_t arch_unmap(uintptr_t address)
{
	uint64_t *entry = page_table_entry(page_root, address, false);
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

void paging_init(void)
{
	page_root[ARCH_WINDOW_BASE >> ROOT_ENTRY_SHIFT] =
		(uintptr_t)window_pointers | PTE_PRESENT | PTE_WRITABLE;
	arch_unmap(0);
	arch_tlb_flush(0);
}

void paging_protect(void)
{
	uint32_t eax, ebx = 0, ecx, edx = 0;
	uint64_t cr4;

	__get_cpuid(CPUID_FEATURES_AMD, &eax, &ebx, &ecx, &edx);
	if (edx & CPUID_NO_EXECUTE) {
		wrmsr(MSR_EFER, rdmsr(MSR_EFER) | EFER_NO_EXECUTE);
		paging_no_execute = PTE_NO_EXECUTE;
	}

	ebx = 0;
	__get_cpuid_count(CPUID_FEATURES, 0, &eax, &ebx, &ecx, &edx);
	__asm__ volatile("mov %%cr4, %0" : "=r"(cr4));
	cr4 |= ebx & CPUID_NO_USER_CODE ? CR4_NO_USER_CODE : 0;
	cr4 |= ebx & CPUID_NO_USER_DATA ? CR4_NO_USER_DATA : 0;
	__asm__ volatile("mov %0, %%cr4" : : "r"(cr4));
}
