/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Where the bytes of a RAM file lie in the guest's physical memory, as QEMU itself says ("info mtree -f"):
 * right for every board, and for RAM that goes on above a PCI hole.
 */
#ifndef CAPTURE_MEMORY_MAP_H
#define CAPTURE_MEMORY_MAP_H

#include <stddef.h>
#include <stdint.h>

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
/* The range that `physical` lies in, or the next one above; map->ranges if there is none. */
uint32_t capture_map_find(const struct capture_map *map, uint64_t physical);

#endif
