/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Is a file what was run? The code that a recording brings along is held against the file's bytes, block by block as it was run.
 * A kernel that patches itself differs in a few bytes of some blocks. Of another build code has moved: where it has, blocks have
 * little in common with the file, and names of the file are wrong.
 */
#ifndef HWT_LIKENESS_H
#define HWT_LIKENESS_H

#include "binary.h"
#include "file.h"

struct hwt_likeness {
	uint64_t space;	    /* in which it is most like what was run; 0: of the kernel, or not told */
	uint64_t blocks;    /* that were run there where the file lies */
	uint64_t differing; /* of these, with a byte that is another */
	uint64_t moved;	    /* of these, with more such bytes than not, and too long for a patch */
	uint64_t first;	    /* lowest address of such a byte, if there is any */
};

/* Of the file's segments, `base` bytes higher. 0 or KTREAD_E_MEMORY. */
int hwt_likeness(const struct hwt_file *file, const struct hwt_binary *binary, uint64_t base,
		 struct hwt_likeness *likeness);
/*
 * It is another file than what was run. An address space may have been another program's before, and that one's blocks count, too;
 * the kernel has no other.
 */
static inline bool hwt_is_other(const struct hwt_likeness *likeness)
{
	return likeness->moved > (likeness->space ? likeness->blocks / 4 * 3 : likeness->blocks / 16);
}

#endif
