/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What a sample shows of one CPU: its registers, and the return addresses on its stack, along the chain of
 * frame pointers (rbp on x86_64, x29 on AArch64, s0 on RISC-V). Nothing here reads memory: a walk names the
 * bytes that it needs, and continues with the bytes that the caller supplies. The bytes of a guest are not
 * trusted: a chain may loop, lead anywhere, or not exist.
 */
#ifndef PROFILE_WALK_H
#define PROFILE_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile_registers {
	uint64_t pc, sp;
	uint64_t frame; /* the frame pointer */
	uint64_t link;	/* return address of a function that has not stored it; 0 on x86_64 */
	bool user;	/* the CPU runs a program, not the kernel */
};

/*
 * Reads the registers in gdb's order, as the reply to the packet "g" has them. `machine`: ELF e_machine. On
 * RISC-V `user` is never set, because these registers do not contain the mode: programs count as kernel.
 * Returns false if the machine is unknown or bytes are missing.
 */
bool profile_registers_read(struct profile_registers *registers, uint16_t machine, const unsigned char *bytes,
			    size_t size);

#define PROFILE_CODE 8u /* number of bytes of code before an address that are looked at */

/*
 * Returns whether a CPU whose next instruction follows `bytes` waits for an interrupt: the last instruction
 * was hlt or wfi.
 */
bool profile_is_waiting(uint16_t machine, const unsigned char bytes[PROFILE_CODE]);
/*
 * Returns the address that an x86_64 call instruction calls, if it directly precedes the return address
 * `back`, after `bytes`; 0 if there is no such instruction, or its target is not in the instruction.
 */
uint64_t profile_called(uint64_t back, const unsigned char bytes[PROFILE_CODE]);

#define PROFILE_PLACES 64u   /* largest number of addresses of one stack */
#define PROFILE_WINDOW 1024u /* largest number of bytes that a walk asks for at a time */

/* How a walk has ended. */
enum profile_end {
	PROFILE_END_WHOLE,	/* at the outermost function of the kernel */
	PROFILE_END_UNREADABLE, /* memory of the stack could not be read */
	PROFILE_END_BROKEN,	/* at a frame pointer that is not one */
	PROFILE_END_DEEP,	/* after PROFILE_PLACES addresses */
	PROFILE_ENDS,
};

struct profile_walk {
	uint16_t machine;
	uint64_t place[PROFILE_PLACES]; /* the pc, then return addresses, the innermost first */
	uint32_t places;
	bool done;
	enum profile_end end; /* set when `done` is set */
	/* internal */
	uint64_t frame, link;
	uint32_t switches;
	bool high; /* the kernel is in the upper half of the address space */
};

void profile_walk_begin(struct profile_walk *walk, uint16_t machine,
			const struct profile_registers *registers);
/*
 * Names the bytes that the walk needs next; they do not cross a page, except for one frame that does. Returns
 * false if the walk is done.
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
	 * Possibly the return address of the innermost function. If this function has stored no frame, its
	 * return address is missing in `walk`. On x86_64 it is the word at the stack pointer, and `callee` is
	 * the function that the call instruction calls; elsewhere it is in the link register. 0: unknown.
	 */
	uint64_t caller, callee;
};

/* Takes the word at the stack pointer as `caller`, if it is in these bytes. Returns whether it is. */
bool profile_cpu_take_top(struct profile_cpu *cpu, uint64_t address, const unsigned char *bytes, size_t size);

#endif
