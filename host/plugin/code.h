/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What a trace unit must know of the code that it traces: instructions of two CPUs, address spaces, and
 * blocks.
 */
#ifndef PLUGIN_CODE_H
#define PLUGIN_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "block.h"

/* Code of AArch64: as much of its instructions as a trace unit must know. */

struct block;

/*
 * The only mode that is traced. Instructions of 2 bytes give T32 away; A32 cannot be told from A64 by size.
 */
#define A64_MODE 1u

int a64_marker(const unsigned char *bytes, size_t size);
int a64_faults(const unsigned char *bytes, size_t size);
/* By the vector: IRQ, FIQ, system error. */
int a64_between(uint64_t handler);
/* Bits 8:7 of a vector's address: 0 synchronous, 1 IRQ, 2 FIQ, 3 system error. */
unsigned a64_vector(uint64_t handler);
void a64_classify(struct block *block, const unsigned char *bytes, size_t size);
uint64_t a64_vectors(const struct block *block, const unsigned char *bytes, size_t size);
uint8_t a64_modes(const unsigned char *bytes, size_t size, uint64_t address);
uint8_t a64_mode(uint8_t mode, uint8_t modes);

/* Code of x86: as much of its instructions as a trace unit must know. Their sizes come from QEMU. */

struct block;

/* Which of them a processor is in cannot be seen from outside; the sizes of instructions give it away. */
#define X86_MODE_64 1u
#define X86_MODE_32 2u /* or 16: anything but 64 */

int x86_marker(const unsigned char *bytes, size_t size);
int x86_faults(const unsigned char *bytes, size_t size);
/* Handlers are where the kernel has put them: what they are for cannot be told. */
int x86_between(uint64_t handler);
void x86_classify(struct block *block, const unsigned char *bytes, size_t size);
uint64_t x86_vectors(const struct block *block, const unsigned char *bytes, size_t size);
uint8_t x86_modes(const unsigned char *bytes, size_t size, uint64_t address);
uint8_t x86_mode(uint8_t mode, uint8_t modes);

/*
 * Address spaces that virtual CPUs run in, told apart by a number below 64, so that a set of them is a word.
 * Number 0 is the space 0: not told. Not locked: the caller has seen to it.
 */

/* Virtual CPUs 0 to count - 1, in space 0. Nonzero: no memory. */
int spaces_open(unsigned count);

/*
 * The virtual CPU runs in this space from now on. A bit for each number that means another space than before,
 * or none: where there were no more, those went that no virtual CPU had been in for long. Where all are in
 * use, the virtual CPU is in space 0.
 */
uint64_t spaces_enter(unsigned cpu, uint64_t space);

/* Where it is. */
unsigned spaces_number(unsigned cpu);
uint64_t spaces_space(unsigned cpu);

/*
 * The code that the rings' file is told: each block before it is first told to have run in an address space,
 * and again when other bytes have been there. QEMU shows a block once, when it translates it, and then runs
 * it for all programs that have the same page of memory; so it is asked of each block that runs, by a set of
 * spaces in it: block->seen.
 *
 * The invariant: a bit of block->seen is that of a space in which the block's bytes are the last that were
 * told at each of its addresses.
 */

/* Virtual CPUs 0 to count - 1. Nonzero: no memory. */
int code_open(unsigned count);

/*
 * The virtual CPU runs in this address space from now on, the user's part of which is [user_start, user_end);
 * an end of 0: not known. Its bit in block->seen.
 */
uint64_t code_enter(unsigned cpu, uint64_t space, uint64_t user_start, uint64_t user_end);

/* The virtual CPU is about to tell of a block that its space has not seen. */
void code_see(unsigned cpu, struct block *block);

/* All blocks are about to go. */
void code_forget(void);

#endif
