/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Whether a trace and a kernel's ELF file belong together. */
#ifndef CAPTURE_KERNEL_CHECK_H
#define CAPTURE_KERNEL_CHECK_H

#include <stddef.h>

#include "ktread/memory.h"

/*
 * Compares build ids: the file's with the trace's, or with the one in the guest's `memory` (may be NULL)
 * where the file would have been loaded. Returns 0 if they agree. Otherwise `warning` says what is wrong: CAPTURE_E_ABSENT if
 * the trace or the file has no build id, CAPTURE_E_FORMAT if the file is of another kernel or cannot be read.
 */
int capture_kernel_check(const char *elf, struct ktread_memory *memory, const char *trace, char *warning,
			 size_t size);

#endif
