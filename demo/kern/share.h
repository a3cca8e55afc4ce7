/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Pages with several owners. If a process maps a page that another process also owns, it takes a reference;
 * each owner releases its reference. A page from page_alloc has one owner. Any context.
 */
#ifndef DEMO_SHARE_H
#define DEMO_SHARE_H

#include <stdbool.h>
#include <stdint.h>

/* Allocates the counters for all pages of RAM. Requires: after page_init. */
void share_init(void);

void share_get(uintptr_t page);
void share_put(uintptr_t page); /* frees the page if the last owner releases it */
bool share_is_shared(uintptr_t page);

#endif
