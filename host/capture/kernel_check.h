/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Whether a trace and a kernel's ELF file belong together. */
#ifndef CAPTURE_KERNEL_CHECK_H
#define CAPTURE_KERNEL_CHECK_H

#include <stddef.h>

#include "ktread/memory.h"

/*
 * Compares build ids: the file's with the trace's, or with the one in the guest's `memory` (may be NULL)
 * where the file would have been loaded. 0 if they agree, else `warning` says what is wrong.
 */
int capture_kernel_check(const char *elf, struct ktread_memory *memory, const char *trace, char *warning,
			 size_t size);

#endif
