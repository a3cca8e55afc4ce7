/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Guest memory in files: where the physical addresses of RAM files and cores lie. */
#ifndef KTREAD_GUEST_H
#define KTREAD_GUEST_H

#include "source.h"

/* Makes an opened file the RAM of a guest: of `machine` (NULL: not known yet), or from `base` on (0: by
 * machine). */
int ktread_ram_map(struct ktread_memory *memory, const char *machine, uint64_t base);
/*
 * Maps of a RAM file that are possible for a root of ELF machine `machine`, found at file offset `offset`,
 * which says that it lies at `self_phys` (0: it does not say). Tries the n-th: 1, 0 if there are no more, or
 * an error.
 */
int ktread_ram_try(struct ktread_memory *memory, uint16_t machine, uint64_t offset, uint64_t self_phys,
		   uint32_t n);
/* Makes an opened file an ELF core. */
int ktread_core_map(struct ktread_memory *memory);
bool ktread_core_is(struct ktread_memory *memory);

#endif
