/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Pages with several owners. A page from page_alloc() has one owner. A process that maps a page of another
 * process becomes a further owner, by share_get. Each owner releases the page by share_put. Any context.
 */
#ifndef DEMO_SHARE_H
#define DEMO_SHARE_H

#include <stdbool.h>
#include <stdint.h>

/* Allocates the counters for all pages of RAM. Requires: after page_init. */
void share_init(void);

void share_get(uintptr_t page);
void share_put(uintptr_t page); /* frees the page if the caller was its last owner */
bool share_is_shared(uintptr_t page);

#endif
