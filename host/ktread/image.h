/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Looking through a memory for roots and for the heads of lent blocks. What is found is named by its position
 * in the source, because the addresses of a RAM file may not be known before its root was read.
 */
#ifndef KTREAD_IMAGE_H
#define KTREAD_IMAGE_H

#include "layout.h"

#define KTREAD_SCAN_ROOTS 16u /* most that are looked at */

struct ktread_block_found {
	uint64_t position; /* in the source */
	struct ktrx_block head;
};

struct ktread_scan {
	uint64_t *root; /* positions in the source of sound roots that ran */
	uint32_t roots;
	struct ktread_block_found *block;
	uint32_t blocks;
};

int ktread_scan_run(struct ktread_scan *scan, struct ktread_memory *memory);
void ktread_scan_free(struct ktread_scan *scan);

/* An image from inside: a root found in a memory, and where its addresses lead. */

#define KTREAD_IMAGE_BLOCKS 256u /* of one boot that are looked at */

/* A block of memory that the root's own boot lent. */
struct ktread_image_block {
	uint64_t self; /* virtual address … */
	uint64_t length;
	uint64_t physical; /* … and where that is */
	uint64_t boot;	   /* ordinal of memory that is kept over resets */
};

struct ktread_image {
	struct ktread_memory *memory;
	struct ktread_scan scan;
	struct ktread_image_block block[KTREAD_IMAGE_BLOCKS];
	uint32_t blocks;
	uint64_t position;     /* of the root in the source */
	struct ktrx_root root; /* as last read */
	uint64_t physical;
	struct ktread_layout *layout;
	uint32_t boots;	 /* roots found, one a nonce */
	bool kept;	 /* what a boot left in memory that outlived it counts, too */
	bool fixed;	 /* opened where the caller said: nothing is searched for */
	char *registers; /* NULL: unknown */
};

/* Reads the root anew, and the layout where it changed. KTREAD_E_ABSENT: the root is gone. */
int ktread_image_refresh(struct ktread_image *image);

#endif
