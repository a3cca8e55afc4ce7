/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A block: instructions that QEMU has translated as one; only the last of them can branch. It is worked out
 * once, when it is translated, so that a virtual CPU that runs it has next to nothing to do. A point is a
 * place in a block at which a virtual CPU reports: right before that instruction. Each block has one at its
 * last instruction; further ones where a doorbell is rung and, with exact=1, at all that can fault.
 *
 * Blocks live until QEMU throws its translations away (blocks_forget()).
 */
#ifndef PLUGIN_BLOCK_H
#define PLUGIN_BLOCK_H

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

/* A block that starts there and has this address behind its start; NULL: there is none. */
struct block *block_covering(uint64_t start, uint64_t address);

/*
 * An interrupt or exception leads to this block, here and after it is translated anew; and so it does to the
 * other entries of its table that are translated from now on.
 */
void block_is_handler(struct block *block);

/* All blocks are gone; the caller has seen to it that no virtual CPU is in one. */
void blocks_forget(void);

#endif
