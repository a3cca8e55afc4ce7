/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What a sample shows of one CPU: its registers, and the return addresses on its stack. They are found by the
 * kernel's call frame information. Where there is none, they are found along the chain of frame pointers (rbp
 * on x86_64, x29 on AArch64, s0 on RISC-V). These functions read no memory: a walk names the bytes that it
 * needs, and continues with the bytes that the caller supplies. The bytes of a guest are not trusted: a chain
 * may loop, lead anywhere, or not exist.
 */
#ifndef PROFILE_WALK_H
#define PROFILE_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/symbols.h"

struct profile_registers {
	uint64_t pc, sp;
	uint64_t frame; /* the frame pointer */
	uint64_t link;	/* return address of a function that has not stored it on the stack; 0 on x86_64 */
	bool user;	/* the CPU runs a program, not the kernel */
};

/*
 * Reads the registers from the reply to gdb's packet "g". `machine`: ELF e_machine. On RISC-V `user` is never
 * set, because these registers do not contain the mode: programs count as kernel. Returns false if the
 * machine is unknown or bytes are missing.
 */
bool profile_registers_read(struct profile_registers *registers, uint16_t machine, const unsigned char *bytes,
			    size_t size);

/* number of bytes before an address that are examined to see whether the CPU is idle */
#define PROFILE_CODE 8u

/*
 * Returns whether a CPU waits for an interrupt: the instruction before its next one was hlt or wfi. `bytes`:
 * the code before the next instruction.
 */
bool profile_is_waiting(uint16_t machine, const unsigned char bytes[PROFILE_CODE]);
/*
 * `bytes` is the code before the return address `back`. If an x86_64 call instruction is directly before
 * `back`, returns the address that it calls. Returns 0 if there is no such instruction, or if the address is
 * not part of the instruction.
 */
uint64_t profile_called(uint64_t back, const unsigned char bytes[PROFILE_CODE]);

#define PROFILE_PLACES 64u   /* largest number of addresses of one stack */
#define PROFILE_WINDOW 1024u /* maximum number of bytes that a walk requests at a time */

/* How a walk has ended. */
enum profile_end {
	PROFILE_END_WHOLE,	/* the walk has reached the outermost function of the kernel */
	PROFILE_END_UNREADABLE, /* memory of the stack could not be read */
	PROFILE_END_BROKEN,	/* a frame pointer or a stack pointer is not valid */
	PROFILE_END_DEEP,	/* there were more than PROFILE_PLACES addresses */
	PROFILE_ENDS,
};

/*
 * Returns the call frame information for an address of code, NULL if there is none. The result is valid until
 * the next call.
 */
typedef const struct symbols_frame *profile_find_frame(void *context, uint64_t address);

struct profile_walk {
	uint16_t machine;
	/* addresses: first the pc, then return addresses, the innermost first */
	uint64_t place[PROFILE_PLACES];
	uint32_t places;
	bool done;
	enum profile_end end; /* valid if `done` is set */
	/*
	 * true: the caller of the innermost function was found by call frame information, so it cannot be
	 * missing
	 */
	bool exact;
	/* internal state of walk.c */
	profile_find_frame *find;
	void *context;
	bool by_table; /* `table` has the frame of the last address; otherwise `frame` has it */
	struct symbols_frame table;
	uint64_t frame, link, stack; /* registers of the function at the last address; 0: unknown */
	uint32_t switches;
	bool chained; /* a function of this stack has used its frame pointer for the chain of frames */
	bool high;    /* the kernel is in the upper half of the address space */
};

/* `find`: called with `context` during the walk; NULL: there is no call frame information. */
void profile_walk_begin(struct profile_walk *walk, uint16_t machine,
			const struct profile_registers *registers, profile_find_frame *find, void *context);
/*
 * Sets *address and *size to the bytes that the walk needs next. They are within a page, unless a frame
 * crosses a page border. Returns false if the walk is done.
 */
bool profile_walk_wants(const struct profile_walk *walk, uint64_t *address, size_t *size);
/* Supplies `size` bytes at `address`; a size of 0 means that they cannot be read. */
void profile_walk_put(struct profile_walk *walk, uint64_t address, const unsigned char *bytes, size_t size);

/* One CPU in a sample. */
struct profile_cpu {
	struct profile_registers registers;
	struct profile_walk walk;
	bool idle; /* the CPU waits for an interrupt; its stack was not read */
	/*
	 * Possibly the return address of the innermost function. Needed if this function has stored no frame,
	 * so that its return address is missing in `walk`. On x86_64, `caller` is the word at the stack
	 * pointer, and `callee` is the function that the call instruction calls. On other machines, `caller`
	 * is the link register. 0: unknown.
	 */
	uint64_t caller, callee;
};

/* Sets `caller` to the word at the stack pointer, if that word is in these bytes. Returns whether it is. */
bool profile_cpu_take_top(struct profile_cpu *cpu, uint64_t address, const unsigned char *bytes, size_t size);

#endif
