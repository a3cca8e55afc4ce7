/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Is a file what was run? The code that a recording brings along is held against the file's bytes, block by block as it was run.
 * A kernel that patches itself differs in some blocks from its file; that of another build in most.
 */
#ifndef HWT_LIKENESS_H
#define HWT_LIKENESS_H

#include "binary.h"
#include "file.h"

struct hwt_likeness {
	uint64_t
		blocks; /* that were run where the file lies, in the address space in which it is most like what was */
	uint64_t differing; /* of these */
	uint64_t first;	    /* lowest address at which a byte is another, if any differ */
};

/* Of the file's segments, `base` bytes higher. 0 or KTREAD_E_MEMORY. */
int hwt_likeness(const struct hwt_file *file, const struct hwt_binary *binary, uint64_t base,
		 struct hwt_likeness *likeness);
/* It is another file than what was run: more than half of the blocks differ. */
static inline bool hwt_is_other(const struct hwt_likeness *likeness)
{
	return likeness->differing > likeness->blocks / 2;
}

#endif
