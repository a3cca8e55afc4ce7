/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The part of a sample that describes one CPU: the CPU's registers, and the return addresses on its stack. */
#ifndef PROFILE_CPU_H
#define PROFILE_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/stack_walk.h"

/*
 * Reads the registers from the reply to gdb's packet "g". `machine`: ELF e_machine. On RISC-V, `user` is
 * never set, because these registers do not contain the mode. So on RISC-V, programs count as kernel. Returns
 * false if the machine is unknown or bytes are missing.
 */
bool profile_registers_read(struct stack_registers *registers, uint16_t machine, const unsigned char *bytes,
			    size_t size);

/* number of bytes before an address that are examined to find out whether the CPU is idle */
#define PROFILE_CODE 8u

/*
 * Returns whether a CPU waits for an interrupt: the instruction before the CPU's next instruction is hlt or
 * wfi. `bytes`: the code before the next instruction.
 */
bool profile_is_waiting(uint16_t machine, const unsigned char bytes[PROFILE_CODE]);
/*
 * `bytes` is the code before the return address `back`. If an x86_64 call instruction is directly before
 * `back`, returns the called address. Returns 0 if there is no such instruction, or if the instruction does
 * not contain the called address.
 */
uint64_t profile_called(uint64_t back, const unsigned char bytes[PROFILE_CODE]);

/* What a sample contains about one CPU. */
struct profile_cpu {
	struct stack_registers registers;
	struct stack_walk walk;
	bool idle; /* true if the CPU waits for an interrupt; its stack was not read */
	/*
	 * `caller` may be the return address of the innermost function. It is needed if this function has
	 * stored no frame, so that its return address is missing in `walk`. On x86_64, `caller` is the word
	 * at the stack pointer, and `callee` is the function that the call instruction calls. On other
	 * machines, `caller` is the link register. 0: unknown.
	 */
	uint64_t caller, callee;
};

/*
 * Sets `caller` to the word at the stack pointer, if these bytes contain that word. Returns whether these
 * bytes contain it.
 */
bool profile_cpu_take_top(struct profile_cpu *cpu, uint64_t address, const unsigned char *bytes, size_t size);

#endif
