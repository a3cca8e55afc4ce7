/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Decodes the parts of x86_64, AArch64 and RISC-V instructions that frames.h needs: how a block ends, and
 * which instructions save and load return addresses.
 */
#ifndef SCHEDULE_ENDS_H
#define SCHEDULE_ENDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frames.h"

/* Which part of a memory access belongs to the register. */
enum ends_part {
	ENDS_NONE,
	ENDS_ALL,
	ENDS_FIRST, /* the first 8 of 16 bytes; QEMU may report the halves one after the other */
	ENDS_SECOND,
};

struct ends {
	const char *target; /* QEMU's name of the architecture */
	uint8_t link;	    /* the register with the return address; FRAMES_LINK if calls push it */
	/* Sets `target`, `end` and `reg` of a block whose last instruction has these bytes. */
	void (*classify)(struct frames_code *code, const unsigned char *bytes, size_t size);
	/*
	 * Returns whether the instruction stores the return address. NULL if calls push the return address:
	 * then only calls and returns access it.
	 */
	enum ends_part (*saves)(const unsigned char *bytes, size_t size);
	/* Returns whether the instruction loads the register with 8 bytes from memory. */
	enum ends_part (*loads)(const unsigned char *bytes, size_t size, uint8_t reg);
};

/* Returns the functions for an architecture, NULL if it is none of the three. */
const struct ends *ends_find(const char *target);

#endif
