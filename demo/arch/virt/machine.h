/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Facts about a machine with a device tree: the boot arguments, memory map and CPU count of arch.h, and the
 * hardware numbers by which its CPUs are started.
 */
#ifndef DEMO_ARCH_MACHINE_H
#define DEMO_ARCH_MACHINE_H

#include "fdt.h"

/*
 * Reads the device tree, which must remain in memory. If there is none, the facts about the machine remain
 * empty, and machine_check will panic. Requires: boot CPU, before kmain.
 */
void machine_read(const void *tree, uint64_t boot_hardware_id);

/* Panics if machine_read found no device tree. Requires: the console works. */
void machine_check(void);

/* Returns the hardware number of cpus[n]; n < arch_cpu_count(). */
uint64_t machine_hardware_id(unsigned n);

/* The facts; they are valid after machine_read. */
extern struct fdt_facts machine;

#endif
