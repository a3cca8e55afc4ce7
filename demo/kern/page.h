/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Physical pages. Memory is mapped at its physical address, so a pointer to a page contains the page's
 * physical address. Any context in which the lock of page.c is not held. Never sleeps.
 */
#ifndef DEMO_PAGE_H
#define DEMO_PAGE_H

#include <stddef.h>

#define MEMORY_RANGES_MAX 16

/* Makes the ranges of arch_memory_map available. */
void page_init(void);

/* Allocates count adjacent pages, zeroed. Returns NULL if there are none. */
void *page_alloc(size_t count);

/*
 * Allocates count adjacent pages without clearing them: at the same address in each boot, far from memory
 * that a boot loader writes. So the pages contain the data that the previous boot wrote. Returns NULL if they
 * are not free. May be called once.
 */
void *page_reserve(size_t count);

/* Frees the pages that page_alloc returned, or any part of them. */
void page_free(void *pages, size_t count);

size_t page_free_count(void);

#endif
