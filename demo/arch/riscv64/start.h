/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The interface between the start-up assembly and C. */
#ifndef DEMO_ARCH_START_H
#define DEMO_ARCH_START_H

#include "platform.h"

struct cpu;

/*
 * For each hart the top of its initial stack; the word below that top is the address of the CPU's area. A
 * software interrupt makes the hart check its entry.
 */
extern struct cpu **volatile hart_calls[PLATFORM_HARTS];

/*
 * Called by start.S in supervisor mode, on the boot stack and on the idle thread's stack, with interrupts
 * off.
 */
_Noreturn void boot_main(const void *device_tree);
_Noreturn void secondary_main(void);

#endif
