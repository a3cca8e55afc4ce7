/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Looking through a memory for roots and for the heads of lent blocks. What is found is named by its position
 * in the source, because the addresses of a RAM file may not be known before its root was read.
 */
#ifndef KTREAD_SCAN_H
#define KTREAD_SCAN_H

#include "root.h"

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

#endif
