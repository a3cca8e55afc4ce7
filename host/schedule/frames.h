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

#endif
