/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * User mode: what an architecture supplies on top of arch.h, and what it calls. User memory lies between
 * USER_BASE and USER_END in tables of its own for each address space; kernel memory is mapped in all of them, not
 * for user mode.
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
 * Registers of a user program, as a trap from user mode saves them at the very top of its thread's kernel
 * stack. arch_user.h defines the struct; the portable kernel copies it whole and goes through the functions.
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
void user_frame_set_argument(struct user_frame *frame, uint64_t value); /* the first one of a function */
/* The register by which a program finds what is a thread's own. The frame may be the running thread's. */
void user_frame_set_tls(struct user_frame *frame, uintptr_t address);

/* Registers of a fresh program: all zero but these. */
void user_frame_start(struct user_frame *frame, uintptr_t ip, uintptr_t sp);

/* Makes the program call handler(signal) and return to restorer, on the stack at sp (aligned here). */
void user_frame_call_handler(struct user_frame *frame, uintptr_t handler, uintptr_t restorer, uintptr_t sp,
			     int signal);

/* Takes back only what a program may set of a frame that came from user memory: no privilege, interrupts on. */
void user_frame_sanitize(struct user_frame *frame);

/* Leaves the kernel by user_frame_of(thread_self()), user_return called before; never returns. Interrupts off. */
_Noreturn void user_frame_enter(void);

/*
 * Before each switch to or from a thread with an address space, and when the running thread gets another one, interrupts
 * off: kernel stack for traps, address space (NULL: kernel's). Flushes what this CPU remembers of other spaces.
 */
struct arch_space;
void arch_user_switch(struct thread *next, struct arch_space *space);

/* Address spaces. The caller serialises calls for one space. Pages belong to the caller, tables to the space. */
struct arch_space {
	uintptr_t root;
};
enum arch_access { ACCESS_READ = 1, ACCESS_WRITE = 2, ACCESS_EXECUTE = 4 };

bool arch_space_init(struct arch_space *space); /* false: out of memory */
void arch_space_free(struct arch_space *space); /* the tables; not current on any CPU */
/* Maps or changes a page; flushes it on this CPU: vm_forget() sees to the others. */
bool arch_space_map(struct arch_space *space, uintptr_t address, uintptr_t page, unsigned access);
/* The page at address and what user mode may do with it; 0: none. */
uintptr_t arch_space_lookup(const struct arch_space *space, uintptr_t address, unsigned *access);
/* Takes a mapping away and returns the page, 0 if none; flushes it on this CPU. */
uintptr_t arch_space_unmap(struct arch_space *space, uintptr_t address);

/* Makes code written to a page visible to instruction fetch, where that needs saying. */
void arch_code_written(uintptr_t page);

/* ---- Called by the architecture, on the thread's kernel stack ---------------------------------- */

/* First on each way from user mode into a call, fault or exception. Interrupts off. */
void user_entered(void);

/* A system call; the frame's ip is already behind the instruction. Interrupts on. Result into the frame. */
void user_system_call(struct user_frame *frame);

/* A page fault in user mode; flags as in arch.h. Interrupts on. Returns when it may be tried again or a signal is due. */
void user_page_fault(uintptr_t address, uintptr_t ip, unsigned flags);

/* Any other exception in user mode, as a signal: SIGILL, SIGFPE, SIGTRAP, SIGBUS, SIGSEGV. Interrupts on. */
void user_exception(int signal, uintptr_t ip);

/* Last before each return to user mode from a call, fault, exception or interrupt. Interrupts off, on return too. */
void user_return(struct user_frame *frame);

#endif
