/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The window: a range of kernel addresses, in which a page is allocated when it is first accessed. */
#ifndef DEMO_WINDOW_H
#define DEMO_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch.h"

#define WINDOW_PAGES (ARCH_WINDOW_SIZE / PAGE_SIZE)

/* Returns the address of the window's page with that number. */
static inline uintptr_t window_address(size_t page)
{
	return ARCH_WINDOW_BASE + page * PAGE_SIZE;
}

/*
 * Maps a zeroed page at address. Returns false if it is outside the window or there is no memory. Requires:
 * interrupts off.
 */
bool window_fill(uintptr_t address);

/*
 * Unmaps and frees `count` pages of the window, from page `first` on, on all CPUs. Requires: thread context,
 * no spinlock held.
 */
void window_drop(size_t first, size_t count);

#endif
