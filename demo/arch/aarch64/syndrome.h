/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The exception syndrome, ESR_EL1. */
#ifndef DEMO_ARCH_SYNDROME_H
#define DEMO_ARCH_SYNDROME_H

#define ESR_CLASS_SHIFT 26
#define ESR_WRITE	(1u << 6)

/* Exception classes, ESR_EL1[31:26]. */
enum {
	CLASS_UNKNOWN = 0x00,
	CLASS_SVC = 0x15,
	CLASS_USER_INSTRUCTION_ABORT = 0x20,
	CLASS_INSTRUCTION_ABORT = 0x21,
	CLASS_UNALIGNED_PC = 0x22,
	CLASS_USER_DATA_ABORT = 0x24,
	CLASS_DATA_ABORT = 0x25,
	CLASS_UNALIGNED_SP = 0x26,
	CLASS_BRK = 0x3c,
};

/* Kinds of faults: bits 5:2 of ESR_EL1 after an abort. Bits 1:0 are the level of the page table. */
enum { STATUS_TRANSLATION = 1, STATUS_ACCESS_FLAG = 2, STATUS_PERMISSION = 3 };

#endif
