/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Replaces the layers below the demo kernel's process memory, for tests on the host: a limited number of
 * pages, address spaces as plain lists, and one file.
 */
#ifndef FAKE_DEMO_MEMORY_H
#define FAKE_DEMO_MEMORY_H

#include <stdint.h>

#include "vfs.h"

#define FAKE_PAGES 256

struct fake_memory {
	unsigned pages_used;
	unsigned allocations_left; /* number of allocations that still succeed; all later allocations fail */
	struct inode file;	   /* the file; tests compare its reference count */
	const void *contents;	   /* contents of the file: file.size bytes */
};

extern struct fake_memory fake_memory;

/* Frees all pages, removes the limit of allocations, and makes the file empty. Call share_init() after it. */
void fake_memory_reset(void);

#endif
