/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What a core knows of its CPUs: their registers by its notes, and out of its memory where they were called from. */
#ifndef CAPTURE_CORE_CPUS_H
#define CAPTURE_CORE_CPUS_H

#include "ktread/memory.h"

/*
 * Text as spec/ktrx.md section 3 has it, to be free()d; NULL where the core has no registers, or `image` is of a boot that
 * ended before the one they are of. `memory` is the core's. 0 or CAPTURE_E_SYSTEM.
 */
int capture_core_cpus(const char *path, struct ktread_memory *memory, const struct ktread_image *image,
		      char **text);
/* The same of a core that is not opened yet; NULL also where it has no ktrace in it. */
int capture_core_cpus_read(const char *path, char **text);

#endif
