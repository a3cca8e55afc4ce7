/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A range of addresses that gets its memory page by page, on first touch. */
#ifndef DEMO_WINDOW_H
#define DEMO_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch.h"

#define WINDOW_PAGES (ARCH_WINDOW_SIZE / PAGE_SIZE)

/* The address of a page of the window. */
static inline uintptr_t window_address(size_t page)
{
	return ARCH_WINDOW_BASE + page * PAGE_SIZE;
}

/*
 * Maps a fresh page of zeroes at address; false if it lies outside the window or memory is out. Interrupts
 * off.
 */
bool window_fill(uintptr_t address);

/* Takes pages of the window away from all CPUs. Thread context, no spinlock held. */
void window_drop(size_t first, size_t count);

#endif
