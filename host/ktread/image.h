/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Scans a memory for roots and for the heads of lent blocks. Roots and heads are identified by their
 * positions in the memory's source of bytes (source.h). Addresses cannot be used, because the addresses in a
 * RAM file may be unknown until the root has been read.
 */
#ifndef KTREAD_IMAGE_H
#define KTREAD_IMAGE_H

#include "layout.h"

#define KTREAD_SCAN_ROOTS 16u /* maximum number of roots that are examined */

struct ktread_block_found {
	uint64_t position; /* offset in the source of bytes */
	struct ktrx_block head;
};

struct ktread_scan {
	/* positions, in the source of bytes, of the roots that are sound and whose kernel has started */
	uint64_t *root;
	uint32_t roots;
	struct ktread_block_found *block;
	uint32_t blocks;
};

int ktread_scan_run(struct ktread_scan *scan, struct ktread_memory *memory);
void ktread_scan_free(struct ktread_scan *scan);

/* An image: a root that was found in a memory, and the layout to which it leads. */

#define KTREAD_IMAGE_BLOCKS 256u /* maximum number of lent blocks of one boot that are used */

/* A lent block: memory that the kernel gave to ktrace during this boot. */
struct ktread_image_block {
	uint64_t self; /* virtual address of the block */
	uint64_t length;
	uint64_t physical; /* physical address of the block */
	uint64_t boot;	   /* number of the boot if the block is in persistent memory, otherwise 0 */
};

struct ktread_image {
	struct ktread_memory *memory;
	struct ktread_scan scan;
	struct ktread_image_block block[KTREAD_IMAGE_BLOCKS];
	uint32_t blocks;
	uint64_t position;     /* position of the root in the memory's source of bytes */
	struct ktrx_root root; /* the bytes of the root, as they were last read */
	uint64_t physical;
	struct ktread_layout *layout;
	uint32_t boots;	 /* number of boots found; each boot has a nonce of its own */
	bool persistent; /* true if boots that were found in persistent memory are included */
	/* true if the image was opened at an address that the caller gave, without a search */
	bool fixed;
	char *registers; /* text of the captured registers; NULL: unknown */
};

/* Reads the root and the layout again. Returns 0, KTREAD_E_ABSENT if the root is gone, or another error. */
int ktread_image_refresh(struct ktread_image *image);

#endif
