/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * User mode: the functions that an architecture implements in addition to those of arch.h, and the functions
 * that it calls. User memory is between USER_BASE and USER_END, in separate page tables for each address
 * space. All of these page tables also map kernel memory, but user mode cannot access it.
 */
#ifndef DEMO_USER_H
#define DEMO_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi.h"

struct thread;

/* ---- Supplied by the architecture -------------------------------------------------------------- */

/*
 * Registers of a user program. A trap from user mode saves them at the top of the thread's kernel stack.
 * arch_user.h defines the struct; the portable kernel copies it as a whole and uses the functions below.
 */
struct user_frame;
extern const size_t user_frame_size; /* bytes, a multiple of 16 */

extern const uint16_t user_elf_machine; /* e_machine of programs for this machine */

struct user_frame *user_frame_of(struct thread *thread);

uintptr_t user_frame_ip(const struct user_frame *frame);
uintptr_t user_frame_sp(const struct user_frame *frame);
unsigned user_frame_call(const struct user_frame *frame);		  /* system call number */
uint64_t user_frame_argument(const struct user_frame *frame, unsigned n); /* 0 to 5 */
void user_frame_set_result(struct user_frame *frame, int64_t result);
/* Sets the register that contains the first argument of a function. */
void user_frame_set_argument(struct user_frame *frame, uint64_t value);
/* Sets the thread-local storage register. The frame may belong to the running thread. */
void user_frame_set_tls(struct user_frame *frame, uintptr_t address);

/* Sets the initial registers of a program: all are zero except these. */
void user_frame_start(struct user_frame *frame, uintptr_t ip, uintptr_t sp);

/*
 * Makes the program call handler(signal) and return to restorer, with its stack at sp (aligned by this
 * function).
 */
void user_frame_call_handler(struct user_frame *frame, uintptr_t handler, uintptr_t restorer, uintptr_t sp,
			     int signal);

/* Resets privileged fields of a frame that was read from user memory: user mode, interrupts on. */
void user_frame_sanitize(struct user_frame *frame);

/* Enters user mode with user_frame_of(thread_self()). Requires: user_return was called, interrupts off. */
_Noreturn void user_frame_enter(void);

/*
 * Sets the kernel stack for traps and the address space (NULL: the kernel's) of this CPU, and flushes TLB
 * entries of other address spaces. Called before each switch to or from a thread with an address space, and
 * when the running thread gets another one. Requires: interrupts off.
 */
struct arch_space;
void arch_user_switch(struct thread *next, struct arch_space *space);

/*
 * Address spaces. The caller serializes calls for a space. The caller owns the pages; the space owns its
 * tables.
 */
struct arch_space {
	uintptr_t root;
};
enum arch_access { ACCESS_READ = 1, ACCESS_WRITE = 2, ACCESS_EXECUTE = 4 };

bool arch_space_init(struct arch_space *space); /* false: out of memory */
/* Frees the tables. Requires: the space is not current on any CPU. */
void arch_space_free(struct arch_space *space);
/*
 * Maps a page or changes its access. Flushes the page from this CPU's TLB; vm_forget() flushes the TLBs of
 * other CPUs. Returns false if out of memory.
 */
bool arch_space_map(struct arch_space *space, uintptr_t address, uintptr_t page, unsigned access);
/* Returns the page at address, 0 if there is none. Stores the access rights of user mode in *access. */
uintptr_t arch_space_lookup(const struct arch_space *space, uintptr_t address, unsigned *access);
/* Removes a mapping. Returns the page, 0 if there was none. Flushes the page from this CPU's TLB. */
uintptr_t arch_space_unmap(struct arch_space *space, uintptr_t address);

/* Makes code that was written to a page visible to instruction fetch, on architectures that need it. */
void arch_code_written(uintptr_t page);

/* ---- Called by the architecture, on the thread's kernel stack ---------------------------------- */

/*
 * Called first on each entry from user mode by a system call, fault or exception. Requires: interrupts off.
 */
void user_entered(void);

/*
 * Handles a system call and stores its result in the frame. The frame's ip is already after the instruction.
 * Requires: interrupts on.
 */
void user_system_call(struct user_frame *frame);

/*
 * Handles a page fault in user mode; flags as in arch.h. Returns when the access can be repeated or a signal
 * is pending. Requires: interrupts on.
 */
void user_page_fault(uintptr_t address, uintptr_t ip, unsigned flags);

/*
 * Handles any other exception in user mode, as a signal: SIGILL, SIGFPE, SIGTRAP, SIGBUS or SIGSEGV.
 * Requires: interrupts on.
 */
void user_exception(int signal, uintptr_t ip);

/*
 * Called last before each return to user mode from a system call, fault, exception or interrupt. Requires:
 * interrupts off; they are off on return as well.
 */
void user_return(struct user_frame *frame);

#endif
