/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The parts of the program usermode that depend on the architecture: AArch64. */
#ifndef USER_ARCH_MODE_H
#define USER_ARCH_MODE_H

#include <stdbool.h>
#include <stdint.h>

/* clang-format off */

/* The test's registers. x0 to x4 are for the compiler; x29 is the frame pointer. */
#define EACH_REGISTER(what)										\
	what(5) what(6) what(7) what(8) what(9) what(10) what(11) what(12)				\
	what(13) what(14) what(15) what(16) what(17) what(18) what(19) what(20)				\
	what(21) what(22) what(23) what(24) what(25) what(26) what(27) what(28)				\
	what(30)
#define SET(n) "add x" #n ", %[seed], #" #n "\n"
#define COMPARE(n)											\
	"sub x" #n ", x" #n ", #" #n "\n"								\
	"eor x" #n ", x" #n ", %[seed]\n"								\
	"orr %[bad], %[bad], x" #n "\n"

/*
 * Instructions that programs cannot execute. The macro expands to
 * function(name, instruction) for each of them.
 */
#define ARCH_FORBIDDEN(function)									\
	function(mask_interrupts, "msr daifset, #2")							\
	function(read_control, "mrs x0, sctlr_el1")							\
	function(read_kernel_pointer, "mrs x0, tpidr_el1")						\
	function(flush_tlb, "tlbi vmalle1")								\
	function(idle, "wfi")										\
	function(leave_kernel, "eret")									\
	function(call_hypervisor, "hvc #0")								\
	function(call_debugger, "hlt #0xf000")								\
	function(use_floats, ".inst 0x9e6703e0")

/*
 * Sets all registers, including the thread pointer, spins, and returns true if all of them still have their
 * values.
 */
static inline bool arch_registers_kept(uint64_t seed, uint64_t rounds)
{
	uint64_t bad = 0;

	__asm__ volatile("msr tpidr_el0, %[seed]\n" EACH_REGISTER(SET)
			 "1: subs %[rounds], %[rounds], #1\n"
			 "b.ne 1b\n" EACH_REGISTER(COMPARE)
			 "mrs x5, tpidr_el0\n"
			 "eor x5, x5, %[seed]\n"
			 "orr %[bad], %[bad], x5\n"
			 : [bad] "+&r"(bad), [rounds] "+&r"(rounds)
			 : [seed] "r"(seed)
			 : "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17",
			   "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x30",
			   "cc");
	return bad == 0;
}

/* clang-format on */

#endif
