/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What a machine with a device tree says about itself: the boot arguments, memory map and CPU count of
 * arch.h, and the hardware numbers that its CPUs are started by.
 */
#ifndef DEMO_ARCH_MACHINE_H
#define DEMO_ARCH_MACHINE_H

#include "fdt.h"

/*
 * Before kmain, boot CPU: learns all there is from the tree, which stays where it is. Without a tree nothing
 * is known and machine_check panics later, when there is a console.
 */
void machine_read(const void *tree, uint64_t boot_hardware_id);

/* After the console is up: panics if there was no tree. */
void machine_check(void);

/* The hardware number of cpus[n]; n < arch_cpu_count(). */
uint64_t machine_hardware_id(unsigned n);

/* Valid after machine_read. */
extern struct fdt_facts machine;

#endif
