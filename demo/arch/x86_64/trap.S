/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * 256 entry stubs of 16 bytes, found by address from descriptors.c; each leaves an error code and its vector
 * on the stack, in the order of struct trap_frame (trap.h).
 *
 * GS is this CPU's in kernel mode and the user's in user mode: whoever comes from user mode swaps the two first of
 * all, and once more last of all, interrupts being off.
 */
#include "layout.h"

#define CS_ABOVE_VECTOR	 24 /* bytes from the vector up to CS */
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
	add $16, %rsp /* vector and error code */
	iretq
	.endm

	.text

	/* Vectors for which the CPU pushes an error code: 8, 10 to 14, 17, 21, 29 and 30. */
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
	xor %ebp, %ebp /* the kernel's chain of frames ends here */
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
	 * The SYSCALL instruction has put the return address into RCX and the flags into R11, and turned
	 * interrupts off; the stack is still the user's. A frame is laid as a trap would have. It is left by
	 * IRETQ like any other: SYSRET could not give back RCX and R11 after a signal.
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
	 * An NMI may come on the way in before the swap, or on the way out after it: in kernel mode with the user's
	 * GS. Its base tells the two apart: user mode cannot make its own anything but 0.
	 */
own_stack_entry:
	push_registers
	cld
	mov $MSR_GS_BASE, %ecx
	rdmsr
	or %eax, %edx
	setz %bl /* kept by the call */
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
