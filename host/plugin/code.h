/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A block: instructions that QEMU has translated as one; only the last of them can branch. It is worked out
 * once, when it is translated, so that a virtual CPU that runs it has next to nothing to do. A point is a
 * place in a block at which a virtual CPU reports: right before that instruction. Each block has one at its
 * last instruction; further ones where a doorbell is rung and, with exact=1, at all that can fault.
 *
 * Blocks live until QEMU throws its translations away (blocks_forget()).
 */
#ifndef PLUGIN_CODE_H
#define PLUGIN_CODE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/*
 * How a block goes on behind its last instruction. From END_INDIRECT on the place is not known from the code.
 */
enum block_end {
	END_NEXT,	 /* it does not branch; `target` is the next instruction */
	END_AGAIN,	 /* the last instruction may be run again and again (rep) */
	END_JUMP,	 /* to `target` */
	END_CALL,	 /* to `target` */
	END_CONDITIONAL, /* to `target` or `next` */
	END_INDIRECT,
	END_INDIRECT_CALL,
	END_RETURN,
	END_ENTER, /* a system call, software interrupt, far call */
	END_LEAVE, /* return from an exception, far return */
};

#define OUTCOMES_AND_MORE 2u

struct block;

struct point {
	struct block *block;
	uint64_t address; /* of the instruction that is about to run */
	uint8_t size;	  /* its bytes */
	uint8_t last;	  /* it is the block's last */
};

struct block {
	/* What is looked at each time it is run, in one line of cache. */
	uint64_t start;
	union {
		struct {
			uint64_t untaken; /* where it goes when it does not branch, or else `target` */
			uint64_t target;  /* where it goes when it branches; where it always goes */
		};
		uint64_t way[2];
	};
	uint8_t end;	/* enum block_end */
	uint8_t told;	/* the encoder has a packet, or something to remember, for this kind of end */
	uint8_t faults; /* the last instruction may fault and be run again */
	uint8_t modes;	/* of the processor in which it can be what it is; the encoder's bits */
	_Atomic uint8_t
		handler;  /* an interrupt or exception has led here, or to another entry of the same table */
	uint8_t listed;	  /* code.c's: it is in its page's list */
	uint8_t outcomes; /* its end adds so many to trace->outcomes, and that is all; or OUTCOMES_AND_MORE */
	_Atomic uint64_t seen;	/* code.c's: address spaces in which its bytes are those told last */
	struct point end_point; /* at the last instruction */
	uint64_t next;		/* behind the last instruction */
	uint64_t last;		/* address of the last instruction */
	struct block *chain;	/* in its bucket */
	struct block *page_chain;
	const unsigned char *bytes; /* from start to next */
	uint64_t hash;		    /* of its bytes and points */
	uint64_t vectors;	    /* the table of handlers of which it may be an entry; 0: of none */
	struct point passed[];	    /* those before the last, in order; then the bytes */
};

/* One instruction of a block that is being translated. */
struct instruction {
	uint64_t address;
	const unsigned char *bytes;
	size_t size;
	uint8_t stop;  /* a point is wanted here */
	uint8_t rings; /* it is the store of a doorbell */
};

struct encoder;

/* The block of these instructions, `count` at least 1, found or made. NULL: out of memory. */
struct block *block_get(const struct encoder *encoder, const struct instruction *instruction, size_t count);

/* A block that starts at `start` and contains `address` after its first byte. NULL: there is none. */
struct block *block_covering(uint64_t start, uint64_t address);

/*
 * An interrupt or exception leads to this block, here and after it is translated anew; and so it does to the
 * other entries of its table that are translated from now on.
 */
void block_is_handler(struct block *block);

/* All blocks are gone; the caller has seen to it that no virtual CPU is in one. */
void blocks_forget(void);

/*
 * What a trace unit must know of the code that it traces: instructions of two CPUs, and blocks.
 */

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
