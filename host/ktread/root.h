/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The root of a v2 trace: reading it and telling whether it is one. */
#ifndef KTREAD_ROOT_H
#define KTREAD_ROOT_H

#include "ktrx/v2.h"
#include "source.h"

#define KTREAD_ROOT_MAX	   65536u /* bytes a root may have */
#define KTREAD_SECTION_MAX 256u	  /* sections looked at; any more count as unknown */

/* What a boot left in memory that outlived its end, not linearised yet: its rings' heads are those of the last heartbeat. */
static inline bool ktread_root_is_kept_memory(const struct ktrx_root *root)
{
	return (root->flags & (KTRX_FLAG_KEPT | KTRX_FLAG_DUMP)) == KTRX_FLAG_KEPT;
}

/* Reads and checks the root at `physical`: 0, or KTREAD_E_FORMAT with the reason. */
int ktread_root_read(struct ktread_memory *memory, uint64_t physical, struct ktrx_root *root);
/* Reads its section table into `section` (KTREAD_SECTION_MAX). Returns how many were read, or an error. */
int ktread_root_sections(struct ktread_memory *memory, uint64_t physical, const struct ktrx_root *root,
			 struct ktrx_section *section);

#endif
