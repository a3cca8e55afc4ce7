/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * State: what each CPU does and what each thread holds and waits for, kept in tables that a host reads at any time
 * (struct ktrx_cpu, struct ktrx_holder). It is there when the rings have long been overwritten, and it is what
 * `ktrace why` reasons from. Events say what happened; a hook says what is so now.
 *
 * Each hook is one line in the kernel and optional. What a kernel does not tell stays unknown, and no conclusion is
 * drawn from it. All may be called from any context, before ktrace_init() too, and then do nothing; none waits, takes a lock
 * or calls back. A hook that is called on a CPU's or a thread's behalf is called by it.
 *
 * Locks, waits and threads need `threads` rows of ktrace_config.holders. Where those run out, threads that find no row
 * are left out.
 */
#ifndef KTRACE_HOOKS_H
#define KTRACE_HOOKS_H

#include <stdint.h>

#include "ktrx/v2.h"
#include "ktrace/compiler.h"

KTRACE_BEGIN_C

/*
 * Who holds a lock and waits for it: its CPU, where the holder cannot be taken from it (spinlocks that keep
 * preemption or interrupts off), or the thread.
 */
#define KTRACE_BY_CPU	 KTRX_WAIT_SPIN
#define KTRACE_BY_THREAD KTRX_WAIT_LOCK

#define KTRACE_NOBODY 0xffffffffu

/*
 * Around a lock that is taken: before waiting for it, once it is had (with or without a wait), before it is given up.
 * `name` is copied, may be NULL. `owner`: the CPU or thread that has it, as the kernel knows, or KTRACE_NOBODY. A
 * wait that ended without the lock is told by ktrace_lock_give_up().
 */
void ktrace_lock_wait(const volatile void *lock, const char *name, uint32_t by, uint32_t owner);
void ktrace_lock_give_up(uint32_t by);
void ktrace_lock_acquire(const volatile void *lock, uint32_t by);
void ktrace_lock_release(const volatile void *lock, uint32_t by);

/*
 * The running thread is about to sleep until woken: for what (`object`, told apart by value; of KTRX_WAIT_THREAD the
 * thread's number), of which kind (KTRX_WAIT_LOCK to KTRX_WAIT_DEVICE), and until when at the latest, in stamps; 0: for ever.
 * A KTRX_WAIT_LOCK that ktrace_lock_wait() announced keeps what that said.
 */
void ktrace_thread_block(const volatile void *object, const char *name, uint32_t kind, uint64_t deadline);
/* It has been made runnable, by who runs here. */
void ktrace_thread_wake(uint32_t thread);
/* From the switch, on the CPU that switches. Thread 0 and other idle threads may be named like any. */
void ktrace_thread_switch(uint32_t previous, uint32_t next);
/* It is gone, and what was known of it with it. */
void ktrace_thread_exit(uint32_t thread);
/* Told once a thread: where its stack lies (0, 0: unknown), and how urgent it is (0: unknown), when that changes. */
void ktrace_thread_stack(uint32_t thread, const volatile void *low, const volatile void *high);
void ktrace_thread_priority(uint32_t thread, uint8_t priority);

/* Interrupts: first and last thing in a handler, and when the controller is told that one is over. */
void ktrace_irq_enter(uint32_t irq);
void ktrace_irq_exit(uint32_t irq);
void ktrace_irq_eoi(uint32_t irq);

/*
 * This CPU waits until another, or all others (KTRX_ALL_CPUS), have answered an interrupt that it sent, and goes on; this
 * CPU has answered what it was asked.
 */
void ktrace_ipi_wait(uint32_t cpu, uint32_t what);
void ktrace_ipi_wait_end(void);
void ktrace_ipi_answer(void);

/* Interrupts are on or off here from now on; preemption was turned off so often; this address space is in use. */
void ktrace_interrupts(int on);
void ktrace_preempt(uint32_t depth);
void ktrace_space(uint64_t id);

KTRACE_END_C

#endif
