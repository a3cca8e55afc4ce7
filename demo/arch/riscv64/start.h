/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The interface between the start-up assembly and C. */
#ifndef DEMO_ARCH_START_H
#define DEMO_ARCH_START_H

#include "platform.h"

struct cpu;

/*
 * For each hart: the top of its initial stack, or NULL while the hart must wait. The word below that top is
 * the address of the CPU's area. A software interrupt makes the hart check its entry.
 */
extern struct cpu **volatile hart_calls[PLATFORM_HARTS];

/*
 * Called by start.S in supervisor mode, with interrupts off: boot_main on the boot stack, secondary_main on
 * the stack of the CPU's idle thread.
 */
_Noreturn void boot_main(const void *device_tree);
_Noreturn void secondary_main(void);

#endif
