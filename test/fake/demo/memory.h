/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What the memory of the demo kernel's processes stands on, for tests on the host: pages that may run out, address
 * spaces as plain lists, one file.
 */
#ifndef FAKE_DEMO_MEMORY_H
#define FAKE_DEMO_MEMORY_H

#include <stdint.h>

#include "vfs.h"

#define FAKE_PAGES 256

struct fake_memory {
	unsigned pages_used;
	unsigned allocations_left; /* then there is no more */
	struct inode file;	   /* its references are those that are held */
	const void *contents;	   /* of file.size bytes */
};

extern struct fake_memory fake_memory;

/* All as new: no page in use, no end of allocations, an empty file. Call share_init after it. */
void fake_memory_reset(void);

#endif
