/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* An image from inside: a root found in a memory, and where its addresses lead. */
#ifndef KTREAD_IMAGE_H
#define KTREAD_IMAGE_H

#include "layout.h"
#include "scan.h"

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
