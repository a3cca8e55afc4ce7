/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* CPUs in a core file or a dump of QEMU's: their registers and stacks. */
#ifndef CAPTURE_CORE_H
#define CAPTURE_CORE_H

#include "ktread/memory.h"

/* The CPUs' registers in an ELF core, as QEMU's dump-guest-memory writes it: a note NT_PRSTATUS a CPU. */

/*
 * As spec/ktrx.md section 3 has them, to be free()d; NULL where the core has none, or is none. Bytes are
 * hostile: what does not fit is left out. 0 or CAPTURE_E_SYSTEM.
 */
int capture_core_registers(const char *path, char **text);

/*
 * What a core knows of its CPUs: their registers by its notes, and out of its memory where they were called
 * from.
 */

/*
 * Text as spec/ktrx.md section 3 has it, to be free()d; NULL where the core has no registers, or `image` is
 * of a boot that ended before the one they are of. `memory` is the core's. 0 or CAPTURE_E_SYSTEM.
 */
int capture_core_cpus(const char *path, struct ktread_memory *memory, const struct ktread_image *image,
		      char **text);
/* The same of a core that is not opened yet; NULL also where it has no ktrace in it. */
int capture_core_cpus_read(const char *path, char **text);

#endif
