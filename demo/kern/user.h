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
 * The user frame: the registers of a user program. A trap from user mode saves them at the top of the
 * thread's kernel stack. arch_user.h defines the struct; the portable kernel copies it as a whole and uses
 * the functions below.
 */
struct user_frame;
extern const size_t user_frame_size; /* size in bytes, a multiple of 16 */

/* Value of e_machine in the ELF header of programs for this machine. */
extern const uint16_t user_elf_machine;

struct user_frame *user_frame_of(struct thread *thread);

uintptr_t user_frame_ip(const struct user_frame *frame);
uintptr_t user_frame_sp(const struct user_frame *frame);
/* returns the number of the system call */
unsigned user_frame_call(const struct user_frame *frame);
uint64_t user_frame_argument(const struct user_frame *frame, unsigned n); /* `n` is 0 to 5 */
void user_frame_set_result(struct user_frame *frame, int64_t result);
/* Sets the register that contains a function's first argument. */
void user_frame_set_argument(struct user_frame *frame, uint64_t value);
/*
 * Sets the thread-local storage register. If the frame is that of the running thread, the change takes effect
 * as well.
 */
void user_frame_set_tls(struct user_frame *frame, uintptr_t address);

/*
 * Sets the registers that a program has at its start: all are 0, except the address of the first instruction
 * and the stack pointer.
 */
void user_frame_start(struct user_frame *frame, uintptr_t ip, uintptr_t sp);

/*
 * Makes the program call handler(signal), which returns to `restorer`. The handler's stack is at sp, which
 * this function aligns.
 */
void user_frame_call_handler(struct user_frame *frame, uintptr_t handler, uintptr_t restorer, uintptr_t sp,
			     int signal);

/*
 * Corrects the fields of a frame that was read from user memory, so that it can only return to user mode with
 * interrupts on.
 */
void user_frame_sanitize(struct user_frame *frame);

/* Enters user mode with the running thread's user frame. Requires: user_return was called, interrupts off. */
_Noreturn void user_frame_enter(void);

/*
 * Prepares this CPU for thread `next`: sets its kernel stack for traps and its address space (NULL means the
 * kernel's), and flushes TLB entries of other address spaces. Called before each switch to or from a thread
 * with an address space, and when the running thread gets a new address space. Requires: interrupts off.
 */
struct arch_space;
void arch_user_switch(struct thread *next, struct arch_space *space);

/*
 * Address spaces. The caller serializes the calls for each address space. Pages belong to the caller, page
 * tables to the address space.
 */
struct arch_space {
	uintptr_t root;
};
enum arch_access { ACCESS_READ = 1, ACCESS_WRITE = 2, ACCESS_EXECUTE = 4 };

bool arch_space_init(struct arch_space *space); /* returns false if out of memory */
/* Frees the page tables. Requires: no CPU is using the address space. */
void arch_space_free(struct arch_space *space);
/*
 * Maps a page or changes its access. Flushes the page from this CPU's TLB; vm_forget() flushes the TLBs of
 * other CPUs. Returns false if out of memory.
 */
bool arch_space_map(struct arch_space *space, uintptr_t address, uintptr_t page, unsigned access);
/*
 * Returns the page that is mapped at an address, or 0 if there is none. Stores the access rights of user mode
 * in *access.
 */
uintptr_t arch_space_lookup(const struct arch_space *space, uintptr_t address, unsigned *access);
/*
 * Removes a mapping. Returns the page that was mapped, or 0 if there was none. Flushes the page from this
 * CPU's TLB.
 */
uintptr_t arch_space_unmap(struct arch_space *space, uintptr_t address);

/*
 * Called after code was written to a page: makes instruction fetch see it, on architectures that need this.
 */
void arch_code_written(uintptr_t page);

/* ---- Called by the architecture, on the thread's kernel stack ---------------------------------- */

/*
 * The first function to be called after a trap from user mode because of a system call, page fault or
 * exception. Requires: interrupts off.
 */
void user_entered(void);

/*
 * Handles a system call and stores its result in the frame. The frame's instruction pointer already points
 * after the system call instruction. Requires: interrupts on.
 */
void user_system_call(struct user_frame *frame);

/*
 * Handles a page fault in user mode; the flags are those of arch.h. On return, the access can be repeated, or
 * a signal is pending. Requires: interrupts on.
 */
void user_page_fault(uintptr_t address, uintptr_t ip, unsigned flags);

/*
 * Handles any other exception in user mode: sends a signal to the thread, SIGILL, SIGFPE, SIGTRAP, SIGBUS or
 * SIGSEGV. Requires: interrupts on.
 */
void user_exception(int signal, uintptr_t ip);

/*
 * Delivers signals. The kernel calls this function last, before each return to user mode, also after an
 * interrupt. Requires: interrupts are disabled; they are still disabled on return.
 */
void user_return(struct user_frame *frame);

#endif
