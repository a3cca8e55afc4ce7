/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The address space: one set of Sv39 tables for all CPUs, RAM and devices at their physical addresses in
 * pages of a GiB, and the window of arch_map.
 */
#ifndef DEMO_ARCH_MMU_H
#define DEMO_ARCH_MMU_H

#include <stdint.h>

/* Boot CPU, before others run: all RAM instead of the GiB that start.S began with, and null pointers fault.
 */
void mmu_init(uint64_t ram_base, uint64_t ram_size);

/* What the tables, as they are now, say about an access: flags are those of page_fault. */
enum mmu_verdict { MMU_NOT_MAPPED, MMU_FORBIDDEN, MMU_ALLOWED };

enum mmu_verdict mmu_judge(uintptr_t address, unsigned flags);

#endif
