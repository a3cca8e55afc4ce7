/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The parts of the program usermode that depend on the architecture: x86_64. */
#ifndef USER_ARCH_MODE_H
#define USER_ARCH_MODE_H

#include <stdbool.h>
#include <stdint.h>

/* clang-format off */

/*
 * The test's registers. rax, rcx and rdx are for the compiler; rsp is the stack pointer, rbp the frame
 * pointer.
 */
#define EACH_REGISTER(what)										\
	what(rbx, 1) what(rsi, 2) what(rdi, 3) what(r8, 4) what(r9, 5) what(r10, 6) what(r11, 7) what(r12, 8)\
	what(r13, 9) what(r14, 10) what(r15, 11)
#define SET(name, n) "lea " #n "(%[seed]), %%" #name "\n"
#define COMPARE(name, n)										\
	"sub $" #n ", %%" #name "\n"									\
	"xor %[seed], %%" #name "\n"									\
	"or %%" #name ", %[bad]\n"

/*
 * Instructions that programs cannot execute. The macro expands to
 * function(name, instruction) for each of them.
 */
#define ARCH_FORBIDDEN(function)									\
	function(mask_interrupts, "cli")								\
	function(idle, "hlt")										\
	function(read_space, "mov %cr3, %rax")								\
	function(read_port, "in $0x64, %al")								\
	function(read_register, "rdmsr")								\
	function(swap_kernel_pointer, "swapgs")								\
	function(leave_kernel, "sysretq")								\
	function(use_floats, "xorps %xmm0, %xmm0")

/* Sets all registers, spins, and returns true if all of them still have their values. */
static inline bool arch_registers_kept(uint64_t seed, uint64_t rounds)
{
	uint64_t bad = 0;

	__asm__ volatile(EACH_REGISTER(SET)
			 "1: dec %[rounds]\n"
			 "jnz 1b\n" EACH_REGISTER(COMPARE)
			 : [bad] "+&r"(bad), [rounds] "+&r"(rounds)
			 : [seed] "r"(seed)
			 : "rbx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "cc");
	return bad == 0;
}

/* clang-format on */

#endif
