/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What a branch of x86 is, and how long: libipt ends a block at one, but tells neither. Of all other instructions only that
 * they are none.
 */
#ifndef HWT_PT_BRANCH_H
#define HWT_PT_BRANCH_H

#include <stddef.h>
#include <stdint.h>

#define PT_BRANCH_MOST 15u /* bytes of an instruction */

struct pt_branch {
	uint8_t kind;	/* enum hwt_branch */
	uint8_t length; /* bytes; 0 of what is no branch, or is not all there */
};

/* `bits`: 16, 32 or 64, the mode. */
struct pt_branch pt_branch_of(const unsigned char *bytes, size_t size, unsigned bits);

#endif
