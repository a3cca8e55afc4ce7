/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Values of scause. */
#ifndef DEMO_ARCH_CAUSE_H
#define DEMO_ARCH_CAUSE_H

#include <stdint.h>

#define CAUSE_IS_INTERRUPT (UINT64_C(1) << 63)

/* Numbers of interrupts; scause contains the number plus CAUSE_IS_INTERRUPT. */
enum { INTERRUPT_SOFTWARE = 1, INTERRUPT_TIMER = 5 };

/* Numbers of exceptions. */
enum {
	CAUSE_ILLEGAL_INSTRUCTION = 2,
	CAUSE_BREAKPOINT = 3,
	CAUSE_USER_CALL = 8,
	CAUSE_FETCH_PAGE_FAULT = 12,
	CAUSE_LOAD_PAGE_FAULT = 13,
	CAUSE_STORE_PAGE_FAULT = 15,
};

/* Bytes to add to sepc after a system call: sepc is the address of the ecall instruction itself. */
#define ECALL_SIZE 4

#endif
