/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Reads the facts that the kernel needs from a flattened device tree. Strings point into the tree, which must
 * remain mapped.
 */
#ifndef DEMO_ARCH_FDT_H
#define DEMO_ARCH_FDT_H

#include <stdbool.h>
#include <stdint.h>

enum { FDT_MAX_CPUS = 8 };

struct fdt_facts {
	const char *boot_args; /* "" if the tree contains no boot arguments */
	/* Hardware numbers of the CPUs (MPIDR or hart id), in the order of the tree. */
	uint64_t cpu_ids[FDT_MAX_CPUS];
	/* Number of CPUs; if the tree contains more than FDT_MAX_CPUS, the last ones are ignored. */
	unsigned cpu_count;
	/* Address and size of the first bank of RAM; both are 0 if unknown. */
	uint64_t memory_base, memory_size;
	uint32_t timebase_hz; /* frequency of the clock; 0 if unknown */
	bool psci_uses_smc;   /* instruction for calls to the firmware (PSCI): true: SMC, false: HVC */
	/* Size of the tree in bytes. The kernel must not reuse this memory. */
	uint64_t tree_size;
};

/* Returns false if blob is not a device tree; *facts then contains empty values. */
bool fdt_read(const void *blob, struct fdt_facts *facts);

#endif
