/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A block consists of instructions that QEMU has translated together. Only the last of them can branch. A
 * block is analysed once, when it is translated, so that not much has to be done each time that it runs.
 *
 * A point is an instruction of a block before which a virtual CPU calls the plugin. The last instruction of
 * each block is a point. So is a store to a doorbell and, with exact=1, each instruction that can fault.
 *
 * Blocks exist until QEMU discards its translations (blocks_forget()).
 */
#ifndef PLUGIN_CODE_H
#define PLUGIN_CODE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/*
 * How execution continues after a block's last instruction. For END_INDIRECT and the values after it, the
 * code alone does not state where execution continues.
 */
enum block_end {
	END_NEXT,	 /* no branch: continues at the next instruction, which is `target` */
	END_AGAIN,	 /* the last instruction may repeat itself (prefix rep) */
	END_JUMP,	 /* continues at `target` */
	END_CALL,	 /* continues at `target` */
	END_CONDITIONAL, /* execution continues at `target` or at `next` */
	END_INDIRECT,
	END_INDIRECT_CALL,
	END_RETURN,
	END_ENTER, /* a system call, a software interrupt or a far call */
	/* a return from an exception or a system call; a far return or a far jump; on x86 also RSM, VMRUN */
	END_LEAVE,
};

#define OUTCOMES_AND_MORE 2u

struct block;

struct point {
	struct block *block;
	uint64_t address; /* address of the instruction before which the plugin is called */
	uint8_t size;	  /* size of that instruction */
	uint8_t last;	  /* the instruction is the last of its block */
};

struct block {
	/* These members are used each time that the block runs. They share one cache line. */
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
	uint8_t end; /* an enum block_end */
	/* when the block ends, the encoder must be called, because it writes a packet or changes its state */
	uint8_t reported;
	uint8_t faults; /* the last instruction may fault, and may run again after the fault */
	/*
	 * set of processor modes (one bit for each mode of the encoder) in which these bytes can be the
	 * block's instructions
	 */
	uint8_t modes;
	/*
	 * the block is a handler: an interrupt or exception has led to it, or to another entry of its vector
	 * table
	 */
	_Atomic uint8_t handler;
	uint8_t listed; /* used by code.c only: the block is in the list of its page */
	/*
	 * if the end of the block adds only branch outcomes to a trace, their number (0 or 1); otherwise
	 * OUTCOMES_AND_MORE
	 */
	uint8_t outcomes;
	/*
	 * used by code.c only: set of the address spaces in which the last bytes that were recorded for these
	 * addresses are the bytes of this block
	 */
	_Atomic uint64_t seen;
	struct point end_point; /* the point at the last instruction */
	uint64_t next;		/* address after the last instruction */
	uint64_t last;		/* address of the last instruction */
	struct block *chain;	/* next block in the same bucket of the hash table */
	struct block *page_chain;
	const unsigned char *bytes; /* the bytes of the code, from `start` to `next` */
	uint64_t hash;		    /* hash of the code's bytes and of the positions of the points */
	/* number that identifies the vector table of which this block may be an entry; 0: none */
	uint64_t vectors;
	/*
	 * the points before `end_point`, in the order of their addresses; in memory, the code's bytes follow
	 * them
	 */
	struct point passed[];
};

/* An instruction of a block that is being translated. */
struct instruction {
	uint64_t address;
	const unsigned char *bytes;
	size_t size;
	uint8_t stop;  /* a point is needed at this instruction */
	uint8_t rings; /* the instruction is the store to a doorbell */
};

struct encoder;

/*
 * Returns the block that consists of these `count` instructions, at least 1. Makes the block if it does not
 * exist. Returns NULL if out of memory.
 */
struct block *block_get(const struct encoder *encoder, const struct instruction *instruction, size_t count);

/* Returns a block that contains `address` but begins before it, at `start`. Returns NULL if there is none. */
struct block *block_covering(uint64_t start, uint64_t address);

/*
 * Marks a block as the target of an interrupt or exception. Blocks that are translated later get the mark,
 * too, if they start at the same address or are other entries of the same vector table.
 */
void block_is_handler(struct block *block);

/* Frees all blocks. Requires: no virtual CPU is running a block. */
void blocks_forget(void);

/* Functions about AArch64 code that the trace unit needs. */

struct block;

/*
 * The only mode that is traced is A64. An instruction of 2 bytes shows that the mode is T32. A32 is not
 * recognized, because its instructions have the same size as those of A64.
 */
#define A64_MODE 1u

int a64_marker(const unsigned char *bytes, size_t size);
int a64_faults(const unsigned char *bytes, size_t size);
/* Returns true if the vector is that of an IRQ, FIQ or system error. */
int a64_between(uint64_t handler);
/*
 * Returns the kind of a vector, which is in bits 8:7 of its address: 0 for a synchronous exception, 1 for an
 * IRQ, 2 for an FIQ, 3 for a system error.
 */
unsigned a64_vector(uint64_t handler);
void a64_classify(struct block *block, const unsigned char *bytes, size_t size);
uint64_t a64_vectors(const struct block *block, const unsigned char *bytes, size_t size);
uint8_t a64_modes(const unsigned char *bytes, size_t size, uint64_t address);
uint8_t a64_mode(uint8_t mode, uint8_t modes);

/* Functions about x86 code that the trace unit needs. QEMU gives the sizes of instructions. */

struct block;

/*
 * QEMU does not show a plugin the mode of a processor. The plugin derives the mode from the sizes of
 * instructions.
 */
#define X86_MODE_64 1u
#define X86_MODE_32 2u /* 32 or 16 bits: any mode except 64-bit mode */

int x86_marker(const unsigned char *bytes, size_t size);
int x86_faults(const unsigned char *bytes, size_t size);
/*
 * Always returns 0, because a kernel chooses the addresses of its handlers: an address does not show whether
 * a handler is for interrupts.
 */
int x86_between(uint64_t handler);
void x86_classify(struct block *block, const unsigned char *bytes, size_t size);
uint64_t x86_vectors(const struct block *block, const unsigned char *bytes, size_t size);
uint8_t x86_modes(const unsigned char *bytes, size_t size, uint64_t address);
uint8_t x86_mode(uint8_t mode, uint8_t modes);

/*
 * Records code in the rings' file. A block is recorded before the first report that it has run in an address
 * space. It is recorded again if other bytes were recorded at its addresses since then. QEMU shows a block
 * once, when it is translated, and then runs it for all programs that share this page of memory. So
 * block->seen, a set of address spaces, is checked each time that a block runs.
 *
 * Invariant: if block->seen contains a space, then the block's bytes are the last bytes that were recorded
 * for its addresses in that space.
 */

/* Prepares virtual CPUs 0 to count - 1. Returns nonzero if out of memory. */
int code_open(unsigned count);

/*
 * Reports that the virtual CPU runs in this address space from now on. Addresses in [user_start, user_end)
 * are user code; if user_end is 0, this range is unknown. Returns a set that contains only this space, for
 * tests of block->seen.
 */
uint64_t code_enter(unsigned cpu, uint64_t space, uint64_t user_start, uint64_t user_end);

/*
 * Records a block if the virtual CPU's space has not seen it. Must be called before the virtual CPU reports
 * the block.
 */
void code_see(unsigned cpu, struct block *block);

/* Forgets all blocks. Must be called before they are freed. */
void code_forget(void);

#endif
