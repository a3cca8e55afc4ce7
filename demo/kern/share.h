/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Pages with several owners: who maps a page that another process has as well holds it, and each owner releases it.
 * A page fresh from page_alloc has one owner. Any context.
 */
#ifndef DEMO_SHARE_H
#define DEMO_SHARE_H

#include <stdbool.h>
#include <stdint.h>

/* After page_init: makes room to count the owners of every page of RAM. */
void share_init(void);

void share_hold(uintptr_t page);
void share_release(uintptr_t page); /* the last owner's gives it back to page_free */
bool share_is_shared(uintptr_t page);

#endif
