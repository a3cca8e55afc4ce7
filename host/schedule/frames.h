/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Follows the functions of a kernel from block to block of code: which function was entered from where, and
 * how many functions on its stack have not returned.
 *
 * Each stack has a list of frames. A frame is known by the place in memory where its return address is
 * saved: x86 saves it with the call instruction, other architectures in the called function. A return that
 * has loaded its address from such a place ends this frame, on whatever stack it is. So a switch between
 * threads needs no knowledge about the kernel.
 *
 * A tail call is a jump: it does not enter a function, and the frame stays.
 */
#ifndef SCHEDULE_FRAMES_H
#define SCHEDULE_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "control.h"

#define FRAMES_LINK 0u /* register number for frames_loaded(): the return address itself (x86) */

/* A block of code. It must stay valid. */
struct frames_code {
	uint64_t start;
	uint64_t last;	 /* address of the last instruction */
	uint64_t next;	 /* address after it */
	uint64_t target; /* of a direct jump or call */
	uint8_t end;	 /* enum block_end of plugin/code.h */
	uint8_t reg;	 /* of a return: the register that has the address */
	bool outside;	 /* the block is not code of the kernel */
	bool wanted;	 /* for the caller: a function that is to be recorded begins here */
	uint16_t count;	 /* for the caller: number of instructions */
};

/* Receives each function that is entered, at its first block. */
typedef void frames_enter(unsigned cpu, const struct frames_code *to, uint64_t caller, enum schedule_how how,
			  uint32_t depth);

/*
 * Prepares CPUs 0 to count - 1. `link`: number of the register with the return address; FRAMES_LINK if calls
 * push it. Returns false if memory is short.
 */
bool frames_open(unsigned count, uint8_t link, frames_enter *enter);

/* Forgets everything, and frees it. */
void frames_close(void);

/* Reports that the CPU begins a block. */
void frames_begin(unsigned cpu, const struct frames_code *to);

/* x86: reports that a call instruction has pushed its return address at this address. */
void frames_pushed(unsigned cpu, uint64_t address);
/* Others: reports that the return address has been saved at this address. */
void frames_saved(unsigned cpu, uint64_t address);
/* Reports that a register, below 32, has been loaded from this address. */
void frames_loaded(unsigned cpu, uint8_t reg, uint64_t address);

/* Returns the number of stacks that were given up because there were too many, or because of their depth. */
uint32_t frames_forgotten(void);

#endif
