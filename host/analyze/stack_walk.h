/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Finds the return addresses on the stack of a CPU, by the kernel's call frame information or, for code
 * without such information, along the chain of frame pointers (rbp on x86_64, x29 on AArch64, s0 on RISC-V).
 * These functions do not read memory: a walk requests the bytes that it needs, and continues when the caller
 * has supplied them. The bytes of a guest are not trusted: a chain may loop, lead anywhere, or not exist.
 */
#ifndef ANALYZE_STACK_WALK_H
#define ANALYZE_STACK_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/symbols.h"

struct stack_registers {
	uint64_t pc, sp;
	uint64_t frame; /* the frame pointer */
	uint64_t link;	/* return address of a function that has not stored it on the stack; 0 on x86_64 */
	bool user;	/* the CPU runs a program, not the kernel */
};

#define STACK_PLACES 64u   /* maximum number of addresses that are found on a stack */
#define STACK_WINDOW 1024u /* maximum number of bytes that a walk requests at a time */

/* The reason why a walk has ended. */
enum stack_end {
	/*
	 * The walk has reached the outermost function of the kernel: call frame information says so, or a
	 * function has stored a return address or a frame pointer of zero, or of a program. A frame pointer
	 * of zero in a register shows nothing.
	 */
	STACK_END_WHOLE,
	STACK_END_UNREADABLE, /* memory of the stack could not be read */
	/*
	 * a frame pointer or a stack pointer is not valid, or nothing describes the frame of the last address
	 */
	STACK_END_BROKEN,
	STACK_END_DEEP, /* there were more than STACK_PLACES addresses */
	STACK_ENDS,
};

/*
 * Returns the call frame information for an address of code, NULL if there is none. The result is valid until
 * the next call.
 */
typedef const struct symbols_frame *stack_find_frame(void *context, uint64_t address);

struct stack_walk {
	uint16_t machine;
	/* addresses: first the pc, then return addresses, the innermost first */
	uint64_t place[STACK_PLACES];
	uint32_t places;
	bool done;
	enum stack_end end; /* how the walk has ended; valid if `done` is set */
	/*
	 * true: the caller of the innermost function was found by call frame information, so it cannot be
	 * missing
	 */
	bool exact;
	/* internal state of stack_walk.c */
	stack_find_frame *find;
	void *context;
	bool by_table; /* true: `table` describes the frame of the last address; false: `frame` does */
	struct symbols_frame table;
	uint64_t frame, link, stack; /* registers of the function at the last address; 0: unknown */
	uint32_t switches;
	bool is_next; /* the last address is that of an interrupted instruction, and does not follow a call */
	bool chained; /* a function of this stack has used its frame pointer for the chain of frames */
	bool high;    /* the kernel is in the upper half of the address space */
};

/* `find`: called with `context` during the walk; NULL: there is no call frame information. */
void stack_walk_begin(struct stack_walk *walk, uint16_t machine, const struct stack_registers *registers,
		      stack_find_frame *find, void *context);
/*
 * Sets *address and *size to the bytes that the walk needs next. They are within a page, unless a frame
 * crosses a page border. Returns false if the walk is done.
 */
bool stack_walk_wants(const struct stack_walk *walk, uint64_t *address, size_t *size);
/* Supplies the `size` bytes of memory at `address`. A size of 0 means that the memory cannot be read. */
void stack_walk_put(struct stack_walk *walk, uint64_t address, const unsigned char *bytes, size_t size);

#endif
