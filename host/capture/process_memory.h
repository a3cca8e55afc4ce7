/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A guest's RAM as it lies in the memory of its QEMU, read straight from there: while the guest runs, and without
 * QEMU's doing. Needs what a debugger of that process would need: the same user, as a rule.
 */
#ifndef CAPTURE_PROCESS_MEMORY_H
#define CAPTURE_PROCESS_MEMORY_H

#include <sys/types.h>

#include "ktread/memory.h"
#include "memory_map.h"

/*
 * `map` has the process's own addresses as offsets. Pages that the process never touched are skipped in searches. 0, or
 * CAPTURE_E_SYSTEM where it cannot be read.
 */
int capture_process_open(struct ktread_memory **memory, pid_t pid, const struct capture_map *map);

#endif
