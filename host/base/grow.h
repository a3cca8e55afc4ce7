/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Arrays that grow. */
#ifndef BASE_GROW_H
#define BASE_GROW_H

#include <stddef.h>
#include <stdint.h>

/*
 * Sees to it that an array has room for `wanted` elements of `size` bytes, 1 or more. `*room`: for how many it has. It becomes at
 * least twice as large each time; what is new is zeroed. Returns where the array lies now, the caller's to free; NULL without
 * memory, and then array and room are as they were.
 */
void *base_grow(void *array, uint32_t *room, size_t wanted, size_t size);

#endif
