/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Page tables: from an address of a machine's program to where that lies in its memory. */
#ifndef HWT_WALK_H
#define HWT_WALK_H

#include <stdbool.h>

#include "ktread/memory.h"

#define HWT_WALK_X86_64	 62u /* ELF's numbers of machines */
#define HWT_WALK_AARCH64 183u
#define HWT_WALK_PAGE	 4096u

/*
 * `space`: CR3, or TTBR0_EL1. Of x86_64 four levels, of AArch64 pages of 4 KiB and addresses of 48 or 39
 * bits, whose upper half
 * TTBR0 does not map. False: nothing is mapped there.
 */
bool hwt_walk(struct ktread_memory *memory, uint16_t machine, uint64_t space, uint64_t address,
	      uint64_t *physical);

#endif
