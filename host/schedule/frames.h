/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Follows the functions of a kernel from block to block of code: which functions are entered, from where, and
 * how many functions on the same stack have not returned.
 *
 * Each stack has a list of frames. A frame is identified by the memory address at which its return address is
 * saved: x86 saves it with the call instruction, other architectures in the called function. A return that
 * has loaded its target from this address ends the frame, on any stack. So ktrace follows a switch between
 * threads without knowledge of the kernel.
 *
 * A tail call is a jump: it counts neither as a return nor as a new function.
 */
#ifndef SCHEDULE_FRAMES_H
#define SCHEDULE_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control.h"

#define FRAMES_LINK 0u /* register number for frames_loaded(): a return of x86 has loaded its target */

/* A block of code. It must stay valid. */
struct frames_code {
	uint64_t start;
	uint64_t last;	 /* address of the last instruction */
	uint64_t next;	 /* address after `last` */
	uint64_t target; /* target of a direct jump or call */
	uint8_t end;	 /* enum block_end of plugin/code.h */
	uint8_t reg;	 /* register that holds the target of a return */
	bool outside;	 /* the block is not code of the kernel */
	bool wanted;	 /* set by the caller: a function that is to be recorded begins here */
	uint16_t count;	 /* set by the caller: number of instructions */
};

/* Called for each function that is entered, when its first block begins. */
typedef void frames_enter(unsigned cpu, const struct frames_code *to, uint64_t caller, enum schedule_how how,
			  uint32_t depth);

/*
 * Prepares CPUs 0 to count - 1. `link`: number of the register with the return address; FRAMES_LINK if calls
 * push it. Returns false if memory is short.
 */
bool frames_open(unsigned count, uint8_t link, frames_enter *enter);

/* Removes all stacks, and frees the memory. */
void frames_close(void);

/* Reports that the CPU begins a block. */
void frames_begin(unsigned cpu, const struct frames_code *to);

/* x86: reports that a call instruction has pushed its return address at this address. */
void frames_pushed(unsigned cpu, uint64_t address);
/* Other architectures: reports that the return address has been saved at this address. */
void frames_saved(unsigned cpu, uint64_t address);
/* Reports that a register, below 32, has been loaded from this address. */
void frames_loaded(unsigned cpu, uint8_t reg, uint64_t address);

/*
 * Returns the number of stacks that were given up because there were too many stacks, or because a stack was
 * too deep.
 */
uint32_t frames_forgotten(void);

/* ---- ends.c ---- */

/*
 * Decodes the parts of x86_64, AArch64 and RISC-V instructions that the functions above need: how a block
 * ends, and which instructions save and load return addresses.
 */

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
