/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Internal structures of the code of a recording. images.h declares the functions. */
#ifndef HWT_CODE_H
#define HWT_CODE_H

#include "base/index.h"
#include "images.h"

#define HWT_CODE_NONE UINT32_MAX

struct hwt_code_line {
	uint64_t number; /* address of the line, divided by HWT_CODE_LINE */
	/* address space of the line; 0: the line is used for all spaces that have no line of their own */
	uint64_t space;
	uint64_t from;
	uint64_t known; /* one bit for each element of `bytes`, set if that byte is known */
	uint32_t next;	/* previous version of a line with the same number, or HWT_CODE_NONE */
	/* there are lines with this number for all spaces (space 0), and also for single spaces */
	bool shared;
	unsigned char bytes[HWT_CODE_LINE];
};

struct hwt_codes {
	struct hwt_code_line *line;
	uint32_t lines, line_room;
	struct base_index index; /* index for finding the newest version of the line with a given number */
	struct hwt_code_line *
		*sorted;  /* pointers to the elements of `line`, sorted by space, number and age */
	uint64_t *change; /* sorted timestamps at which a newer version of some line becomes valid */
	size_t changes;
};

/* Returns the index of the newest line with the given number, or HWT_CODE_NONE. */
uint32_t hwt_code_newest(const struct hwt_codes *codes, uint64_t number);
/* Sorts the lines, and the timestamps at which newer versions become valid. Returns 0 or KTREAD_E_MEMORY. */
int hwt_code_sort(struct hwt_codes *codes);

#endif
