/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A kernel for x86_64 that executes one page of code at two addresses. All code and data below 2 MiB is also
 * mapped 1 GiB higher. Ends QEMU through its isa-debug-exit device.
 */
#define HIGHER	0x40000000
#define ROUNDS	100
#define PRESENT 0x003 /* the entry of a page table is valid, and its memory may be written */
#define LARGE	0x080 /* the entry maps 2 MiB */

	.section .text
	.code32
	.align 4
	.long 0x1badb002, 0, -0x1badb002 /* Multiboot header */

	.globl _start
_start:
	lgdt gdt_pointer
	movl $root, %eax
	movl %eax, %cr3
	movl %cr4, %eax
	orl $0x20, %eax /* physical address extension */
	movl %eax, %cr4
	movl $0xc0000080, %ecx
	rdmsr
	orl $0x100, %eax /* long mode */
	wrmsr
	movl %cr0, %eax
	orl $0x80000001, %eax /* paging, protected mode */
	movl %eax, %cr0
	ljmp $8, $long_mode

	.code64
long_mode:
	leaq stack_end(%rip), %rsp
	movl $ROUNDS, %ebx
	movl $shared, %esi
	movl $shared + HIGHER, %edi
again:
	call *%rsi
	call *%rdi
	decl %ebx
	jnz again
	movl $0xf4, %edx
	xorl %eax, %eax
	outl %eax, %dx
stop:	hlt
	jmp stop

	.align 4096
shared:
	movl $3, %ecx
less:	decq %rcx
	jnz less
	ret

	.section .data
	.align 4096
root:	.long upper + PRESENT, 0
	.fill 511, 8, 0
upper:	.long lower + PRESENT, 0, lower + PRESENT, 0
	.fill 510, 8, 0
lower:	.long PRESENT + LARGE, 0
	.fill 511, 8, 0
	.fill 512, 8, 0
stack_end:
gdt:	.quad 0, 0x00af9a000000ffff
gdt_pointer:
	.word . - gdt - 1
	.long gdt
