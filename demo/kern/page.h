/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Physical pages. Memory is mapped at its physical address, so a pointer to a page is also the page's
 * physical address. The functions never sleep. Requires: this CPU does not hold the lock of page.c; so not in
 * NMIs.
 */
#ifndef DEMO_PAGE_H
#define DEMO_PAGE_H

#include <stddef.h>

#define MEMORY_RANGES_MAX 16

/* Makes all RAM available that arch_memory_map reports. */
void page_init(void);

/* Allocates count adjacent pages, zeroed. Returns NULL if there are none. */
void *page_alloc(size_t count);

/*
 * Allocates count adjacent pages, at the same address in each boot, and does not clear them. The address is
 * far from memory that a boot loader writes, so the pages still contain the data of the previous boot.
 * Returns NULL if these pages are not free. May be called only once.
 */
void *page_reserve(size_t count);

/* Frees pages that page_alloc returned: all pages of a call, or only some of them. */
void page_free(void *pages, size_t count);

size_t page_free_count(void);

#endif
