/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Code that a trace brings along, from inside; images.h says what it is for. */
#ifndef HWT_CODE_H
#define HWT_CODE_H

#include "base/index.h"
#include "images.h"

#define HWT_CODE_NONE UINT32_MAX

struct hwt_code_line {
	uint64_t number; /* address / HWT_CODE_LINE */
	uint64_t space;	 /* 0: of all that have no line of their own */
	uint64_t from;
	uint64_t known; /* a bit for each byte */
	uint32_t next;	/* of the same number, the one that was made before */
	bool shared;	/* spaces have lines of their own beside the one of all */
	unsigned char bytes[HWT_CODE_LINE];
};

struct hwt_codes {
	struct hwt_code_line *line;
	uint32_t lines, line_room;
	struct base_index index;       /* by number: the newest of its lines */
	struct hwt_code_line **sorted; /* by space, number and age */
	uint64_t *change;	       /* sorted stamps at which a line takes the place of an older one */
	size_t changes;
};

/* The newest line of a number, or HWT_CODE_NONE. */
uint32_t hwt_code_newest(const struct hwt_codes *codes, uint64_t number);
/* Sorts the lines, and the stamps at which one takes the place of another. 0 or KTREAD_E_MEMORY. */
int hwt_code_sort(struct hwt_codes *codes);

#endif
