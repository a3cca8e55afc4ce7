/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Enters through the ELF note for PVH in 32-bit mode, maps the first GiB to itself, and runs in long mode. */
#define CR0_PE	    0x1
#define CR0_PG	    0x80000000
#define CR4_PAE	    0x20
#define MSR_EFER    0xc0000080
#define EFER_LME    0x100
#define PRESENT_WRITABLE 0x3
#define LARGE	    0x80
#define CODE	    8

	.section .note.pvh, "a", @note
	.balign 4
	.long	4, 4, 18 /* size of the name, size of the descriptor, type XEN_ELFNOTE_PHYS32_ENTRY */
	.asciz	"Xen"
	.long	_start

	.section .text.start, "ax", %progbits
	.code32
	.globl	_start
_start:	movl	$pointers + PRESENT_WRITABLE, root
	movl	$directory + PRESENT_WRITABLE, pointers
	mov	$directory, %edi
	mov	$PRESENT_WRITABLE + LARGE, %eax
	mov	$512, %ecx
1:	mov	%eax, (%edi)
	add	$8, %edi
	add	$0x200000, %eax
	loop	1b
	lgdt	gdt_pointer
	mov	$CR4_PAE, %eax
	mov	%eax, %cr4
	mov	$root, %eax
	mov	%eax, %cr3
	mov	$MSR_EFER, %ecx
	rdmsr
	or	$EFER_LME, %eax
	wrmsr
	mov	$CR0_PE + CR0_PG, %eax
	mov	%eax, %cr0
	ljmp	$CODE, $long
	.code64
long:	xor	%eax, %eax
	mov	%eax, %ds
	mov	%eax, %es
	mov	%eax, %ss
	mov	$stack_top, %esp
	xor	%ebp, %ebp
	call	bare_main
	cli
2:	hlt
	jmp	2b

	.balign	8
gdt:	.quad	0, 0x00209a0000000000
gdt_pointer:
	.word	15
	.long	gdt

	.bss
	.balign	4096
root:	.skip	4096
pointers:
	.skip	4096
directory:
	.skip	4096
	.skip	8192
stack_top:
	.section .note.GNU-stack, "", %progbits
