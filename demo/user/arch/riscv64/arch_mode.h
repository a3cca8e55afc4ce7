/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The parts of the program usermode that depend on the architecture: RISC-V. */
#ifndef USER_ARCH_MODE_H
#define USER_ARCH_MODE_H

#include <stdbool.h>
#include <stdint.h>

/* clang-format off */

/* The test's registers. x10 to x14 are for the compiler; x2 is the stack pointer, x8 the frame pointer. */
#define EACH_REGISTER(what)										\
	what(1) what(3) what(4) what(5) what(6) what(7) what(9) what(15)				\
	what(16) what(17) what(18) what(19) what(20) what(21) what(22) what(23)				\
	what(24) what(25) what(26) what(27) what(28) what(29) what(30) what(31)
#define SET(n) "addi x" #n ", %[seed], " #n "\n"
#define COMPARE(n)											\
	"addi x" #n ", x" #n ", -" #n "\n"								\
	"xor x" #n ", x" #n ", %[seed]\n"								\
	"or %[bad], %[bad], x" #n "\n"

/*
 * Instructions that programs cannot execute. The macro expands to
 * function(name, instruction) for each of them.
 */
#define ARCH_FORBIDDEN(function)									\
	function(read_status, "csrr a0, sstatus")							\
	function(switch_space, "csrw satp, zero")							\
	function(read_machine_status, "csrr a0, mstatus")						\
	function(flush_tlb, "sfence.vma")								\
	function(idle, "wfi")										\
	function(leave_kernel, "sret")									\
	function(leave_machine_mode, "mret")								\
	function(use_floats, ".4byte 0xf2000053")

/*
 * Sets all registers, including the thread pointer, spins, and returns true if all of them still have their
 * values.
 */
static inline bool arch_registers_kept(uint64_t seed, uint64_t rounds)
{
	uint64_t bad = 0;

	/*
	 * x3 and x4 are not in the list of clobbers, because the compiler does not use them in this program.
	 */
	__asm__ volatile(EACH_REGISTER(SET)
			 "1: addi %[rounds], %[rounds], -1\n"
			 "bnez %[rounds], 1b\n" EACH_REGISTER(COMPARE)
			 : [bad] "+&r"(bad), [rounds] "+&r"(rounds)
			 : [seed] "r"(seed)
			 : "x1", "x5", "x6", "x7", "x9", "x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22",
			   "x23", "x24", "x25", "x26", "x27", "x28", "x29", "x30", "x31");
	return bad == 0;
}

/* clang-format on */

#endif
