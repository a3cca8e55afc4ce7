/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The code that the rings' file is told: each block before it is first told to have run in an address space, and again when
 * other bytes have been there. QEMU shows a block once, when it translates it, and then runs it for all programs that have the
 * same page of memory; so it is asked of each block that runs, by a set of spaces in it: block->seen.
 *
 * The invariant: a bit of block->seen is that of a space in which the block's bytes are the last that were told at each of its
 * addresses.
 */
#ifndef PLUGIN_CODE_H
#define PLUGIN_CODE_H

#include "block.h"

/* Virtual CPUs 0 to count - 1. Nonzero: no memory. */
int code_open(unsigned count);

/*
 * The virtual CPU runs in this address space from now on, the user's part of which is [user_start, user_end); an end of 0: not
 * known. Its bit in block->seen.
 */
uint64_t code_enter(unsigned cpu, uint64_t space, uint64_t user_start, uint64_t user_end);

/* The virtual CPU is about to tell of a block that its space has not seen. */
void code_see(unsigned cpu, struct block *block);

/* All blocks are about to go. */
void code_forget(void);

#endif
