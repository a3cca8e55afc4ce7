/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Scans a memory for roots and for the heads of lent blocks. Both are identified by their position in the
 * source, because the addresses of a RAM file may be unknown until its root has been read.
 */
#ifndef KTREAD_IMAGE_H
#define KTREAD_IMAGE_H

#include "layout.h"

#define KTREAD_SCAN_ROOTS 16u /* most roots that are looked at */

struct ktread_block_found {
	uint64_t position; /* in the source */
	struct ktrx_block head;
};

struct ktread_scan {
	uint64_t *root; /* positions in the source of sound roots of kernels that have started */
	uint32_t roots;
	struct ktread_block_found *block;
	uint32_t blocks;
};

int ktread_scan_run(struct ktread_scan *scan, struct ktread_memory *memory);
void ktread_scan_free(struct ktread_scan *scan);

/* An image: a root found in a memory, and where its addresses lead. */

#define KTREAD_IMAGE_BLOCKS 256u /* most blocks of one boot that are used */

/* A block of memory that the kernel of this boot lent to ktrace. */
struct ktread_image_block {
	uint64_t self; /* virtual address */
	uint64_t length;
	uint64_t physical; /* physical address */
	uint64_t boot;	   /* number of the boot, in persistent memory; otherwise 0 */
};

struct ktread_image {
	struct ktread_memory *memory;
	struct ktread_scan scan;
	struct ktread_image_block block[KTREAD_IMAGE_BLOCKS];
	uint32_t blocks;
	uint64_t position;     /* position of the root in the source */
	struct ktrx_root root; /* as last read */
	uint64_t physical;
	struct ktread_layout *layout;
	uint32_t boots;	 /* number of boots found; each boot has a nonce of its own */
	bool persistent; /* boots found in persistent memory are included */
	bool fixed;	 /* opened at an address given by the caller: no search */
	char *registers; /* NULL: unknown */
};

/* Reads the root again, and the layout. Returns KTREAD_E_ABSENT if the root is gone. */
int ktread_image_refresh(struct ktread_image *image);

#endif
