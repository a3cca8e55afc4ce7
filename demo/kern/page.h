/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Physical pages. Memory is mapped at its physical address, so a page's address is also its pointer.
 * Any context with no spinlock of page.c held; never sleeps.
 */
#ifndef DEMO_PAGE_H
#define DEMO_PAGE_H

#include <stddef.h>

#define MEMORY_RANGES_MAX 16

/* Takes over what arch_memory_map reports. */
void page_init(void);

/* count neighbouring pages, zeroed; NULL if there are none. */
void *page_alloc(size_t count);

/*
 * count neighbouring pages as they are: the same ones each boot, far from what a boot loader writes, and with what the
 * boot before left there. NULL if they are taken. Once.
 */
void *page_reserve(size_t count);

/* Gives back what page_alloc returned, or any whole pages of it. */
void page_free(void *pages, size_t count);

size_t page_free_count(void);

#endif
