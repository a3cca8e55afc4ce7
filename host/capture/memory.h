/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A guest's physical memory, in a file or in QEMU's process, and where its ranges lie. */
#ifndef CAPTURE_MEMORY_H
#define CAPTURE_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ktread/memory.h"

/*
 * Where the bytes of a RAM file lie in the guest's physical memory, as QEMU itself says ("info mtree -f"):
 * right for every board, and for RAM that goes on above a PCI hole.
 */

#define CAPTURE_MAP_RANGES 128u

struct capture_map {
	struct {
		uint64_t physical;
		uint64_t length;
		uint64_t offset; /* in the file */
	} range[CAPTURE_MAP_RANGES];
	uint32_t ranges; /* ascending and disjoint by physical address */
};

/* Reads the view called "memory" and takes the ranges of the memory backend `id`, or of all
 * RAM if that is NULL; then offsets mean nothing. 0 or CAPTURE_E_FORMAT. */
int capture_map_read(struct capture_map *map, const char *text, const char *id);

/*
 * A guest's RAM as it lies in the memory of its QEMU, read straight from there: while the guest runs, and
 * without QEMU's doing. Needs what a debugger of that process would need: the same user, as a rule.
 */

/*
 * `map` has the process's own addresses as offsets. Pages that the process never touched are skipped in
 * searches. 0, or
 * CAPTURE_E_SYSTEM where it cannot be read.
 */
int capture_process_open(struct ktread_memory **memory, pid_t pid, const struct capture_map *map);

/*
 * The file behind a guest's RAM: made private and sparse, read while the guest runs and after, removed. Read
 * with pread() only: a mapping would die with the file, and on tmpfs would fill its holes.
 */

/* Makes the file, empty, where none was. 0 or CAPTURE_E_SYSTEM. */
int capture_ram_create(const char *path, mode_t mode);

/*
 * The file as the guest's physical memory: laid out by `map`, or if that has no ranges as the board usual for
 * `architecture`. 0 or CAPTURE_E_SYSTEM.
 */
int capture_ram_open(struct ktread_memory **memory, const char *path, const struct capture_map *map,
		     const char *architecture);

#endif
