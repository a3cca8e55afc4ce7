/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * 256 entry stubs of 16 bytes; descriptors.c computes their addresses. If the CPU has not pushed an error
 * code, a stub pushes 0 instead. Then it pushes its vector. The order is that of struct trap_frame (trap.h).
 *
 * In kernel mode, GS belongs to the kernel: its base is the address of this CPU's struct cpu. In user
 * mode, GS belongs to the program. SWAPGS exchanges the two bases: at the beginning of an entry from user
 * mode, and at the end of a return to user mode, when interrupts are off.
 */
#include "layout.h"

#define CS_ABOVE_VECTOR	 24 /* distance in bytes from the vector to CS on the stack */
#define CS_IN_FRAME	 144

	.macro push_registers
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
	.endm

	.macro pop_registers_and_return
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
	add $16, %rsp /* removes vector and error code from the stack */
	iretq
	.endm

	.text

	/* The CPU pushes an error code for vectors 8, 10 to 14, 17, 21, 29 and 30. */
	.set HAS_ERROR_CODE, 1<<8 | 1<<10 | 1<<11 | 1<<12 | 1<<13 | 1<<14 | 1<<17 | 1<<21 | 1<<29 | 1<<30
	.set HAS_OWN_STACK, 1<<VECTOR_NMI | 1<<VECTOR_DOUBLE_FAULT

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
	.if HAS_OWN_STACK >> vector & 1
	jmp own_stack_entry
	.else
	jmp trap_entry
	.endif
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
	testb $SELECTOR_LEVEL, CS_ABOVE_VECTOR(%rsp)
	jz save_and_handle
	swapgs
save_and_handle:
	push_registers
	cld
	testb $SELECTOR_LEVEL, CS_IN_FRAME(%rsp)
	jz 1f
	xor %ebp, %ebp /* a kernel backtrace ends at this frame */
1:	mov %rsp, %rdi
	call trap
leave_by_frame:
	testb $SELECTOR_LEVEL, CS_IN_FRAME(%rsp)
	jz 1f
	swapgs
1:	pop_registers_and_return

	/* void trap_leave(struct trap_frame *frame) */
	.globl trap_leave
trap_leave:
	mov %rdi, %rsp
	jmp leave_by_frame

	/*
	 * The SYSCALL instruction has saved the return address in RCX and the flags in R11, and turned
	 * interrupts off. The stack is still the program's. This code builds the same frame as a trap does.
	 * It returns by IRETQ, as a trap does: SYSRET overwrites RCX and R11, but after a signal handler
	 * these must be restored.
	 */
	.balign 16
	.globl system_call_entry
system_call_entry:
	swapgs
	mov %rsp, %gs:CPU_USER_STACK
	mov %gs:CPU_KERNEL_STACK, %rsp
	push $SELECTOR_USER_DATA
	push %gs:CPU_USER_STACK
	push %r11
	push $SELECTOR_USER_CODE
	push %rcx
	push $0
	push $VECTOR_SYSTEM_CALL
	jmp save_and_handle

	/*
	 * An NMI may come in kernel mode while GS is the program's: on entry before SWAPGS, or on return
	 * after SWAPGS. The base of GS shows whose GS is loaded: for a program the base is always 0.
	 */
own_stack_entry:
	push_registers
	cld
	mov $MSR_GS_BASE, %ecx
	rdmsr
	or %eax, %edx
	setz %bl /* the called function preserves RBX */
	jnz 1f
	swapgs
1:	testb $SELECTOR_LEVEL, CS_IN_FRAME(%rsp)
	jz 2f
	xor %ebp, %ebp
2:	mov %rsp, %rdi
	call trap_own_stack
	test %bl, %bl
	jz 3f
	swapgs
3:	pop_registers_and_return

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
