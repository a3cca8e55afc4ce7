/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * 256 entry stubs of 16 bytes, found by address from descriptors.c; each leaves an error code and its vector
 * on the stack, in the order of struct trap_frame (trap.h). Traps come from kernel code only.
 */
	.text

	/* Vectors for which the CPU pushes an error code: 8, 10 to 14, 17, 21, 29 and 30. */
	.set HAS_ERROR_CODE, 1<<8 | 1<<10 | 1<<11 | 1<<12 | 1<<13 | 1<<14 | 1<<17 | 1<<21 | 1<<29 | 1<<30

	.balign 16
	.globl trap_stubs
trap_stubs:
	.set vector, 0
	.rept 32
	.balign 16
	.if !(HAS_ERROR_CODE >> vector & 1)
	push $0
	.endif
	push $vector
	jmp trap_entry
	.set vector, vector + 1
	.endr
	.rept 256 - 32
	.balign 16
	push $0
	push $vector
	jmp trap_entry
	.set vector, vector + 1
	.endr

trap_entry:
	push %rax
	push %rcx
	push %rdx
	push %rbx
	push %rbp
	push %rsi
	push %rdi
	push %r8
	push %r9
	push %r10
	push %r11
	push %r12
	push %r13
	push %r14
	push %r15
	cld
	mov %rsp, %rdi
	call trap
	pop %r15
	pop %r14
	pop %r13
	pop %r12
	pop %r11
	pop %r10
	pop %r9
	pop %r8
	pop %rdi
	pop %rsi
	pop %rbp
	pop %rbx
	pop %rdx
	pop %rcx
	pop %rax
	add $16, %rsp /* vector and error code */
	iretq

	/* void arch_switch(uintptr_t *save, uintptr_t next) */
	.globl arch_switch
arch_switch:
	push %rbp
	push %rbx
	push %r12
	push %r13
	push %r14
	push %r15
	mov %rsp, (%rdi)
	mov %rsi, %rsp
	pop %r15
	pop %r14
	pop %r13
	pop %r12
	pop %rbx
	pop %rbp
	ret
