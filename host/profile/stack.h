/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What a sample contains about one CPU: its registers, the return addresses on its stack, and the functions
 * to which these addresses belong.
 */
#ifndef PROFILE_STACK_H
#define PROFILE_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/symbols.h"

/* ---- A CPU in a sample ---- */

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

/* ---- Functions of the kernel ---- */

/*
 * The functions of a kernel's ELF file, and the places at which these functions store the registers of their
 * callers. The contents of the file are not trusted.
 */

#define PROFILE_NAMES_MOST (1u << 20) /* maximum number of functions; further functions have no names */
#define PROFILE_NO_NAME	   UINT32_MAX

struct profile_names;

/*
 * Reads the kernel's ELF file. `machine`: ELF e_machine of the guest.
 * Returns 0, or -1 with *names NULL and a message at *why. The other functions treat NULL as a file without
 * functions.
 */
int profile_names_open(struct profile_names **names, const char *path, uint16_t machine, const char **why);
void profile_names_close(struct profile_names *names);
/*
 * Returns the number of the function that contains the address; PROFILE_NO_NAME if there is no such function.
 */
uint32_t profile_names_find(const struct profile_names *names, uint64_t address);
/* Returns the address of function `n`; 0 if there is none. */
uint64_t profile_names_address(const struct profile_names *names, uint32_t n);
/* Returns the name of function `n`. The name is demangled if possible, and may contain any bytes. */
const char *profile_names_at(const struct profile_names *names, uint32_t n);
/* A stack_find_frame (analyze/symbols.h) whose `context` is a struct profile_names, or NULL. */
const struct symbols_frame *profile_names_frame(void *context, uint64_t address);

#endif
