/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The data of the core. What a writer of the boot ring needs is complete as linked: it holds numbers only,
 * addresses are filled in at run time, so a copy that was moved or never ran misleads nobody.
 */
#include "state.h"

KTRACE_IN_DATA struct ktrace_slot ktrace_boot_slot[KTRACE_BOOT_SLOTS] = { { { 0 } } };

/* Those of CPUs beyond ktrace_init()'s stay zero: their reserve words name ring 0. */
KTRACE_IN_DATA struct ktrx_ring ktrace_ring[KTRACE_RING_ROWS] __attribute__((__aligned__(64))) = {
	{
		.mask = KTRACE_BOOT_SLOTS - 1,
		.shift = KTRACE_BOOT_SHIFT,
		.length = sizeof(ktrace_boot_slot),
		.extents = 1,
		.kind = KTRX_RING_SHARED,
		.cpu = KTRX_NO_CPU,
		.policy = KTRX_POLICY_OVERWRITE,
	},
};

KTRACE_IN_DATA struct ktrace_state ktrace_state = { .state = KTRACE_STATE };

KTRACE_IN_DATA struct ktrx_root ktrace_root __attribute__((__aligned__(64))) = {
	.magic = { 'K', 'T', 'R', 'X' },
	.version = KTRX2_VERSION,
	.cpus = 1,
	.slots = KTRACE_BOOT_SLOTS,
	.slot_size = KTRX_SLOT_SIZE,
	.slot_format = KTRX_SLOTS_CHECKED,
	.tag = { 'k', 't', 'r', 'a', 'c', 'e', '2', '\n' },
	.root_size = sizeof(struct ktrx_root),
	.sections = KTRX_SECTIONS,
	.machine = KTRACE_ARCH_MACHINE,
	.table = offsetof(struct ktrx_root, section),
	.section[KTRX_SECTION_RINGS - 1] = { .length = sizeof(struct ktrx_ring) },
};
