/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Follows the functions of a kernel from block to block of code: which functions are entered, from where, and
 * how many functions on the same stack have not returned.
 *
 * Each stack has a list of frames. A frame is identified by the memory address at which its return address is
 * saved: x86 saves it with the call instruction, other architectures in the called function. A return that
 * has loaded its target from this address ends the frame, on any stack. So ktrace can follow switches between
 * threads without knowing the kernel.
 *
 * A tail call is a jump: it is neither a return nor the beginning of a new function.
 */
#ifndef SCHEDULE_FRAMES_H
#define SCHEDULE_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control.h"

/*
 * value that is passed to frames_loaded() instead of a register number: a return of x86 has loaded its target
 */
#define FRAMES_LINK 0u

/* A block of code. The caller must keep it valid. */
struct frames_code {
	uint64_t start;
	uint64_t last;	 /* address of the last instruction */
	uint64_t next;	 /* address after `last` */
	uint64_t target; /* target of a direct jump or call */
	uint8_t end;	 /* an enum block_end of plugin/code.h */
	uint8_t reg;	 /* register that contains the target, if the block ends in a return */
	bool outside;	 /* the block is not code of the kernel */
	/* set by the caller: true if the block is the beginning of a function that is recorded */
	bool wanted;
	uint16_t count; /* set by the caller: number of instructions in the block */
};

/* Called for each function that is entered, when its first block begins. */
typedef void frames_enter(unsigned cpu, const struct frames_code *to, uint64_t caller, enum schedule_how how,
			  uint32_t depth);

/*
 * Prepares CPUs 0 to count - 1. `link`: number of the register that contains the return address; FRAMES_LINK
 * if calls push it on the stack. Returns false if memory runs out.
 */
bool frames_open(unsigned count, uint8_t link, frames_enter *enter);

/* Removes all stacks, and frees the memory. */
void frames_close(void);

/* Reports that the CPU begins a block. */
void frames_begin(unsigned cpu, const struct frames_code *to);

/* For x86: reports that a call instruction has pushed its return address at this address. */
void frames_pushed(unsigned cpu, uint64_t address);
/* For other architectures: reports that the return address has been saved at this address. */
void frames_saved(unsigned cpu, uint64_t address);
/* Reports that a register with a number below 32 has been loaded from this address. */
void frames_loaded(unsigned cpu, uint8_t reg, uint64_t address);

/*
 * Returns the number of stacks that were dropped because there were too many stacks, or because a stack was
 * too deep.
 */
uint32_t frames_forgotten(void);

/* ---- ends.c ---- */

/*
 * Decodes the parts of x86_64, AArch64 and RISC-V instructions that the functions above need: how a block
 * ends, and which instructions save and load return addresses.
 */

/* The part of a memory access that loads or stores the saved return address. */
enum ends_part {
	ENDS_NONE,
	ENDS_ALL,
	ENDS_FIRST, /* the first 8 of 16 bytes; QEMU may report the halves one after the other */
	ENDS_SECOND,
};

struct ends {
	const char *target; /* QEMU's name of the architecture */
	/* number of the register that contains the return address; FRAMES_LINK if calls push it */
	uint8_t link;
	/* Sets `target`, `end` and `reg` of a block whose last instruction has these bytes. */
	void (*classify)(struct frames_code *code, const unsigned char *bytes, size_t size);
	/*
	 * Returns whether the instruction stores the return address. NULL if calls push the return address:
	 * then only calls and returns access it.
	 */
	enum ends_part (*saves)(const unsigned char *bytes, size_t size);
	/* Returns whether the instruction loads 8 bytes of memory into the register. */
	enum ends_part (*loads)(const unsigned char *bytes, size_t size, uint8_t reg);
};

/* Returns the functions for an architecture; NULL if the architecture is not supported. */
const struct ends *ends_find(const char *target);

#endif
