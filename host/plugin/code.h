/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A block: instructions that QEMU has translated together, of which only the last can branch. A block is
 * analysed once, when it is translated, so that running it costs very little. A point is a place in a block
 * where a virtual CPU reports: right before that instruction. Each block has a point at its last instruction;
 * further ones at a doorbell's store and, with exact=1, at instructions that can fault.
 *
 * Blocks exist until QEMU discards its translations (blocks_forget()).
 */
#ifndef PLUGIN_CODE_H
#define PLUGIN_CODE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/*
 * How execution continues after a block's last instruction. From END_INDIRECT on, the target is not known
 * from the code.
 */
enum block_end {
	END_NEXT,	 /* no branch; `target` is the next instruction */
	END_AGAIN,	 /* the last instruction may repeat itself (rep) */
	END_JUMP,	 /* to `target` */
	END_CALL,	 /* to `target` */
	END_CONDITIONAL, /* continues at `target` or `next` */
	END_INDIRECT,
	END_INDIRECT_CALL,
	END_RETURN,
	END_ENTER, /* a system call, software interrupt, far call */
	END_LEAVE, /* return from an exception, or far return */
};

#define OUTCOMES_AND_MORE 2u

struct block;

struct point {
	struct block *block;
	uint64_t address; /* address of the instruction that is about to run */
	uint8_t size;	  /* size of that instruction */
	uint8_t last;	  /* the instruction is the last of its block */
};

struct block {
	/* Members used each time that the block runs, in one cache line. */
	uint64_t start;
	union {
		struct {
			/*
			 * for a conditional branch: where execution continues if the branch is not taken;
			 * otherwise the same as `target`
			 */
			uint64_t untaken;
			uint64_t target; /* where execution continues if the last instruction branches */
		};
		uint64_t way[2];
	};
	uint8_t end;	  /* enum block_end */
	uint8_t reported; /* for this kind of end, the encoder writes a packet or changes its state */
	uint8_t faults;	  /* the last instruction may fault, and be run again */
	/* processor modes in which these bytes can be this code; bits defined by the encoder */
	uint8_t modes;
	/* an interrupt or exception has led to this block, or to another entry of the same vector table */
	_Atomic uint8_t handler;
	uint8_t listed; /* owned by code.c: the block is in the list of its page */
	/*
	 * number of branch outcomes that the end of the block adds, if the end has no other effect; otherwise
	 * OUTCOMES_AND_MORE
	 */
	uint8_t outcomes;
	/*
	 * owned by code.c: address spaces in which the bytes of this block are the last bytes that were
	 * recorded for its addresses
	 */
	_Atomic uint64_t seen;
	struct point end_point; /* the point at the last instruction */
	uint64_t next;		/* address after the last instruction */
	uint64_t last;		/* address of the last instruction */
	struct block *chain;	/* next block of the same hash bucket */
	struct block *page_chain;
	const unsigned char *bytes; /* bytes of the code from start to next */
	uint64_t hash;		    /* hash of its bytes and points */
	uint64_t vectors;	    /* table of handlers in which this block may be an entry; 0: none */
	struct point passed[];	    /* the points before the last, in order; followed by the bytes */
};

/* An instruction of a block that is being translated. */
struct instruction {
	uint64_t address;
	const unsigned char *bytes;
	size_t size;
	uint8_t stop;  /* a point is needed here */
	uint8_t rings; /* the instruction is the store to a doorbell */
};

struct encoder;

/*
 * Returns the block of these instructions, which is made if needed. `count` is at least 1. NULL: out of
 * memory.
 */
struct block *block_get(const struct encoder *encoder, const struct instruction *instruction, size_t count);

/* Returns a block that starts at `start` and contains `address` after its first byte, or NULL. */
struct block *block_covering(uint64_t start, uint64_t address);

/*
 * Marks a block as the target of an interrupt or exception. The mark also applies if the block is translated
 * again, and to blocks at other entries of the same vector table if they are translated later.
 */
void block_is_handler(struct block *block);

/* Frees all blocks. Requires: no virtual CPU is in one. */
void blocks_forget(void);

/* Facts about AArch64 code that a trace unit needs. */

struct block;

/*
 * The only mode that is traced. An instruction of 2 bytes shows T32. The instructions of A32 have the same
 * size as those of A64.
 */
#define A64_MODE 1u

int a64_marker(const unsigned char *bytes, size_t size);
int a64_faults(const unsigned char *bytes, size_t size);
/* Returns true if the vector is that of an IRQ, FIQ or system error. */
int a64_between(uint64_t handler);
/* Returns the kind of a vector from bits 8:7 of its address: 0 synchronous, 1 IRQ, 2 FIQ, 3 system error. */
unsigned a64_vector(uint64_t handler);
void a64_classify(struct block *block, const unsigned char *bytes, size_t size);
uint64_t a64_vectors(const struct block *block, const unsigned char *bytes, size_t size);
uint8_t a64_modes(const unsigned char *bytes, size_t size, uint64_t address);
uint8_t a64_mode(uint8_t mode, uint8_t modes);

/* Facts about x86 code that a trace unit needs. QEMU gives the sizes of instructions. */

struct block;

/* The mode of a processor is not visible to a plugin; the sizes of instructions reveal it. */
#define X86_MODE_64 1u
#define X86_MODE_32 2u /* 32 or 16 bits: any mode but 64-bit mode */

int x86_marker(const unsigned char *bytes, size_t size);
int x86_faults(const unsigned char *bytes, size_t size);
/* Returns 0: the kernel chooses where handlers are, so an address does not show what it handles. */
int x86_between(uint64_t handler);
void x86_classify(struct block *block, const unsigned char *bytes, size_t size);
uint64_t x86_vectors(const struct block *block, const unsigned char *bytes, size_t size);
uint8_t x86_modes(const unsigned char *bytes, size_t size, uint64_t address);
uint8_t x86_mode(uint8_t mode, uint8_t modes);

/*
 * Records code in the rings' file: each block before it is first reported to have run in an address space,
 * and again after other bytes have been there. QEMU shows a block once, when it is translated, and then runs
 * it for all programs that share that page of memory. So block->seen is checked whenever a block runs: it is
 * a set of address spaces.
 *
 * Invariant: if block->seen has the bit of a space, then at each of the block's addresses its bytes are the
 * last recorded there for that space.
 */

/* Prepares virtual CPUs 0 to count - 1. Returns nonzero if out of memory. */
int code_open(unsigned count);

/*
 * Reports that the virtual CPU runs in this address space from now on, with user code in [user_start,
 * user_end); an end of 0 means unknown. Returns the space's bit in block->seen.
 */
uint64_t code_enter(unsigned cpu, uint64_t space, uint64_t user_start, uint64_t user_end);

/* Records a block that its space has not seen, before the virtual CPU reports it. */
void code_see(unsigned cpu, struct block *block);

/* Forgets all blocks. They are about to be freed. */
void code_forget(void);

#endif
