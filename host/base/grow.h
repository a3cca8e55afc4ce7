/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Makes room in arrays whose size is not known in advance. */
#ifndef BASE_GROW_H
#define BASE_GROW_H

#include <stddef.h>
#include <stdint.h>

/*
 * Makes room for at least `wanted` elements of `size` bytes. Requires: `wanted` and `size` are at least 1.
 * `*room` is the number of elements that fit into `array`; 0 if `array` is NULL. New elements are zeroed. If
 * the array is too small, at least doubles its room. Returns the array, which may have moved; the caller
 * frees it. Returns NULL if out of memory; the array and `*room` are then unchanged.
 */
void *base_grow(void *array, uint32_t *room, size_t wanted, size_t size);

#endif
