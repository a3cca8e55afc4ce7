/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The file behind a guest's RAM: made private and sparse, read while the guest runs and after, removed. Read
 * with pread() only: a mapping would die with the file, and on tmpfs would fill its holes.
 */
#ifndef CAPTURE_RAM_H
#define CAPTURE_RAM_H

#include <sys/types.h>

#include "ktread/memory.h"
#include "memory_map.h"

/* Makes the file, empty, where none was. 0 or CAPTURE_E_SYSTEM. */
int capture_ram_create(const char *path, mode_t mode);

/*
 * The file as the guest's physical memory: laid out by `map`, or if that has no ranges as the board usual for
 * `architecture`. 0 or CAPTURE_E_SYSTEM.
 */
int capture_ram_open(struct ktread_memory **memory, const char *path, const struct capture_map *map,
		     const char *architecture);

#endif
