/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The few facts a port wants from a flattened device tree, collected in one walk.
 * Strings point into the tree, which must stay mapped.
 */
#ifndef DEMO_ARCH_FDT_H
#define DEMO_ARCH_FDT_H

#include <stdbool.h>
#include <stdint.h>

enum { FDT_MAX_CPUS = 8 };

struct fdt_facts {
	const char *boot_args;		   /* "" when there are none */
	uint64_t cpu_ids[FDT_MAX_CPUS];	   /* hardware numbers (mpidr, hart id) in order of the tree */
	unsigned cpu_count;		   /* CPUs past FDT_MAX_CPUS are left out */
	uint64_t memory_base, memory_size; /* first bank, bytes; 0 when the tree names none */
	uint32_t timebase_hz;		   /* 0 when the tree does not say */
	bool psci_uses_smc;		   /* else by HVC */
	uint64_t tree_size;		   /* bytes that must not be used as memory */
};

/* False when @blob is not a device tree; @facts is then filled with empty values. */
bool fdt_read(const void *blob, struct fdt_facts *facts);

#endif
