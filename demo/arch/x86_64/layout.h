/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Numbers that assembly and C share. */
#ifndef DEMO_X86_LAYOUT_H
#define DEMO_X86_LAYOUT_H

#define TRAMPOLINE	0x8000 /* page below 1 MiB where other CPUs wake up in real mode */
#define IDENTITY_GIB	16     /* physical memory mapped one to one */
#define BOOT_STACK_SIZE 16384

#define SELECTOR_CODE	0x08
#define SELECTOR_DATA	0x10
#define SELECTOR_CODE32 0x18 /* boot GDT only */
#define SELECTOR_TSS	0x18 /* each CPU's own GDT */

#define GDT_CODE   0x00af9b000000ffff
#define GDT_DATA   0x00cf93000000ffff
#define GDT_CODE32 0x00cf9b000000ffff

#define VECTOR_NMI	    2
#define VECTOR_DOUBLE_FAULT 8
#define VECTOR_PAGE_FAULT   14
#define VECTOR_TIMER	    0x40
#define VECTOR_IPI	    0x41
#define VECTOR_SPURIOUS	    0xff

#endif
