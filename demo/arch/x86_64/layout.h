/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Numbers shared by assembly and C. */
#ifndef DEMO_X86_LAYOUT_H
#define DEMO_X86_LAYOUT_H

#define TRAMPOLINE	0x8000 /* page below 1 MiB where other CPUs start in real mode */
#define IDENTITY_GIB	16     /* size of the identity-mapped physical memory in GiB */
#define BOOT_STACK_SIZE 16384

#define SELECTOR_CODE	0x08
#define SELECTOR_DATA	0x10
#define SELECTOR_CODE32 0x18 /* exists only in the boot GDT */

/*
 * Selectors that exist only in each CPU's own GDT. The low two bits of the user selectors are the privilege
 * level of user mode.
 */
#define SELECTOR_USER_DATA 0x1b
#define SELECTOR_USER_CODE 0x23
#define SELECTOR_TSS	   0x28
#define SELECTOR_LEVEL	   3

#define GDT_CODE      0x00af9b000000ffff
#define GDT_DATA      0x00cf93000000ffff
#define GDT_CODE32    0x00cf9b000000ffff
#define GDT_USER_DATA 0x00cff3000000ffff
#define GDT_USER_CODE 0x00affb000000ffff

#define VECTOR_DIVIDE	      0
#define VECTOR_DEBUG	      1
#define VECTOR_NMI	      2
#define VECTOR_BREAKPOINT     3
#define VECTOR_INVALID_OPCODE 6
#define VECTOR_NO_COPROCESSOR 7
#define VECTOR_DOUBLE_FAULT   8
#define VECTOR_PAGE_FAULT     14
#define VECTOR_ALIGNMENT      17
#define VECTOR_TIMER	      0x40
#define VECTOR_IPI	      0x41
#define VECTOR_TRACE_UNIT     0x42
#define VECTOR_DOORBELL	      0x50 /* a higher vector than those of timer and IPI, so a higher priority */
#define VECTOR_SPURIOUS	      0xff
#define VECTOR_SYSTEM_CALL    0x100 /* not a CPU vector: marks an entry by the SYSCALL instruction */

/* Offsets of fields of struct cpu. user.c checks that they are right. */
#define CPU_KERNEL_STACK 24
#define CPU_USER_STACK	 32

#define MSR_EFER	   0xc0000080
#define MSR_STAR	   0xc0000081
#define MSR_LSTAR	   0xc0000082
#define MSR_SYSCALL_MASK   0xc0000084
#define MSR_FS_BASE	   0xc0000100
#define MSR_GS_BASE	   0xc0000101
#define MSR_KERNEL_GS_BASE 0xc0000102

#endif
