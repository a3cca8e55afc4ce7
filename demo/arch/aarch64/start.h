/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Between the start-up assembly and C. */
#ifndef DEMO_ARCH_START_H
#define DEMO_ARCH_START_H

/* Where the firmware starts a CPU: start.S. */
extern char secondary_start[];

/* Called by start.S, on the boot stack and on the idle thread's; MMU and caches are on, interrupts off. */
_Noreturn void boot_main(const void *device_tree);
_Noreturn void secondary_main(void);

#endif
