/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The code that each CPU runs from its first instruction until it calls C code. The boot CPU enters through
 * the PVH note in 32-bit protected mode with paging off; EBX points to the start info. Every other CPU enters
 * by a SIPI in 16-bit real mode at TRAMPOLINE.
 *
 * Both load the same page tables: the first 16 GiB are identity-mapped in 2 MiB pages, except the first 2
 * MiB, which have 4 KiB pages.
 */
#include "layout.h"

#define CR0_PE 0x1
#define CR0_EM 0x4
#define CR0_WP 0x10000
#define CR0_PG 0x80000000
#define CR4_PAE 0x20
#define EFER_LME 0x100

#define PTE_PRESENT_WRITABLE 0x3
#define PTE_LARGE 0x80

	.section .note.pvh, "a", @note
	.balign 4
	.long 4, 4, 18 /* size of the name, size of the descriptor, type XEN_ELFNOTE_PHYS32_ENTRY */
	.asciz "Xen"
	.long pvh_entry

	.text
	.code32
	.globl pvh_entry
pvh_entry:
	cld
	mov %ebx, pvh_start_info
	mov $boot_stack_top, %esp
	call fill_page_tables
	lgdt boot_gdt_pointer
	call enter_long_mode
	ljmp $SELECTOR_CODE, $boot_long

fill_page_tables:
	movl $page_directory_pointers + PTE_PRESENT_WRITABLE, page_root
	mov $page_directory_pointers, %edi
	mov $page_directories + PTE_PRESENT_WRITABLE, %eax
	mov $IDENTITY_GIB, %ecx
1:	mov %eax, (%edi)
	add $4096, %eax
	add $8, %edi
	loop 1b

	/* EDX:EAX is the next page table entry: the physical address of a 2 MiB page, and flags. */
	mov $page_directories, %edi
	mov $PTE_PRESENT_WRITABLE + PTE_LARGE, %eax
	xor %edx, %edx
	mov $IDENTITY_GIB * 512, %ecx
2:	mov %eax, (%edi)
	mov %edx, 4(%edi)
	add $8, %edi
	add $0x200000, %eax
	adc $0, %edx
	loop 2b

	/* Map the first 2 MiB with 4 KiB pages, so that page 0 can be unmapped later. */
	movl $first_page_table + PTE_PRESENT_WRITABLE, page_directories
	mov $first_page_table, %edi
	mov $PTE_PRESENT_WRITABLE, %eax
	mov $512, %ecx
3:	mov %eax, (%edi)
	add $8, %edi
	add $4096, %eax
	loop 3b
	ret

	/* Turns on paging and long mode. Requires: 32-bit code, a GDT with SELECTOR_CODE is loaded. */
enter_long_mode:
	mov $CR4_PAE, %eax
	mov %eax, %cr4
	mov $page_root, %eax
	mov %eax, %cr3
	mov $MSR_EFER, %ecx
	rdmsr
	or $EFER_LME, %eax
	wrmsr
	/*
	 * CD and NW are clear, so caches are on. Floating-point instructions trap, because the floating-point
	 * registers of threads are not saved.
	 */
	mov $CR0_PE + CR0_EM + CR0_WP + CR0_PG, %eax
	mov %eax, %cr0
	ret

	.code64
boot_long:
	mov $SELECTOR_DATA, %eax
	mov %eax, %ds
	mov %eax, %es
	mov %eax, %ss
	mov $boot_stack_top, %esp
	xor %ebp, %ebp
	call boot_cpu_setup
	call kmain

	/*
	 * This code is copied to TRAMPOLINE. Therefore 16-bit code computes addresses relative to TRAMPOLINE.
	 */
	.code16
	.globl trampoline_start, trampoline_end
trampoline_start:
	cli
	cld
	xor %ax, %ax
	mov %ax, %ds
	lgdtl TRAMPOLINE + trampoline_gdt_pointer - trampoline_start
	mov $CR0_PE, %eax
	mov %eax, %cr0
	ljmpl $SELECTOR_CODE32, $ap_protected
	.balign 8
trampoline_gdt_pointer:
	.word boot_gdt_end - boot_gdt - 1
	.long boot_gdt
trampoline_end:

	.code32
ap_protected:
	mov $SELECTOR_DATA, %eax
	mov %eax, %ds
	mov %eax, %ss
	mov ap_stack, %esp
	call enter_long_mode
	ljmp $SELECTOR_CODE, $ap_long

	.code64
ap_long:
	mov $SELECTOR_DATA, %eax
	mov %eax, %ds
	mov %eax, %es
	mov %eax, %ss
	mov ap_stack, %rsp
	xor %ebp, %ebp
	call ap_cpu_setup
	call cpu_main

	.section .rodata
	.balign 8
boot_gdt:
	.quad 0
	.quad GDT_CODE
	.quad GDT_DATA
	.quad GDT_CODE32
boot_gdt_end:
	.globl boot_gdt_pointer
boot_gdt_pointer:
	.word boot_gdt_end - boot_gdt - 1
	.long boot_gdt

	.data
	.globl pvh_start_info
	.balign 8
pvh_start_info:
	.quad 0

	.bss
	.balign 4096
	.globl page_root
page_root:
	.skip 4096
page_directory_pointers:
	.skip 4096
page_directories:
	.skip 4096 * IDENTITY_GIB
first_page_table:
	.skip 4096
	.globl boot_stack
boot_stack:
	.skip BOOT_STACK_SIZE
boot_stack_top:
