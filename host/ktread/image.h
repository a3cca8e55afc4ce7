/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* An image from inside: a root found in a memory, and where its addresses lead. */
#ifndef KTREAD_IMAGE_H
#define KTREAD_IMAGE_H

#include "layout.h"
#include "scan.h"

struct ktread_image {
	struct ktread_memory *memory;
	struct ktread_scan scan;
	uint64_t position;     /* of the root in the source */
	struct ktrx_root root; /* as last read */
	uint64_t physical;
	struct ktread_layout *layout;
};

/* Reads the root anew, and the layout where it changed. KTREAD_E_ABSENT: the root is gone. */
int ktread_image_refresh(struct ktread_image *image);

#endif
