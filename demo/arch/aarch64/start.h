/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The interface between the start-up assembly and C. */
#ifndef DEMO_ARCH_START_H
#define DEMO_ARCH_START_H

/* In start.S: the address at which the firmware starts a CPU. */
extern char secondary_start[];

/*
 * Called by start.S, with MMU and caches on and interrupts off: boot_main on the boot stack, secondary_main
 * on the stack of the CPU's idle thread.
 */
_Noreturn void boot_main(const void *device_tree);
_Noreturn void secondary_main(void);

#endif
