/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Reads the facts that a port needs from a flattened device tree, in one walk. Strings point into the tree,
 * which must remain mapped.
 */
#ifndef DEMO_ARCH_FDT_H
#define DEMO_ARCH_FDT_H

#include <stdbool.h>
#include <stdint.h>

enum { FDT_MAX_CPUS = 8 };

struct fdt_facts {
	const char *boot_args;		   /* "" if the tree contains no boot arguments */
	uint64_t cpu_ids[FDT_MAX_CPUS];	   /* hardware numbers (mpidr, hart id) in order of the tree */
	unsigned cpu_count;		   /* number of CPUs; more than FDT_MAX_CPUS are ignored */
	uint64_t memory_base, memory_size; /* the first bank of RAM, in bytes; 0 if unknown */
	uint32_t timebase_hz;		   /* 0 if unknown */
	bool psci_uses_smc;		   /* true: SMC, false: HVC */
	/* Size of the tree in bytes; the kernel must not use its memory for anything else. */
	uint64_t tree_size;
};

/* Returns false if blob is not a device tree; facts then contains empty values. */
bool fdt_read(const void *blob, struct fdt_facts *facts);

#endif
