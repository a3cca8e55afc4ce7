/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * State: what each CPU does and what each thread holds and waits for, kept in tables that a host reads at any
 * time (struct ktrx_cpu, struct ktrx_holder). It is there when the rings have long been overwritten, and it
 * is what `ktrace why` reasons from. Events say what happened; a hook says what is so now.
 *
 * Each hook is one line in the kernel and optional. What a kernel does not tell stays unknown, and no
 * conclusion is drawn from it. All may be called from any context, before ktrace_init() too, and then do
 * nothing; none waits, takes a lock or calls back. A hook that is called on a CPU's or a thread's behalf is
 * called by it; one on a CPU's behalf (interrupts, modes, locks by CPU) is called where the thread cannot be
 * moved to another CPU.
 *
 * Locks, waits and threads need ktrace_config.holders: so many rows for threads. Where those run out, threads
 * that find no row are left out.
 *
 * Threads are told by their numbers, of which the low 22 bits count, as in records.
 *
 * A hook notes the place in the kernel that called it. One ending in _at is told the place instead: in a
 * function that takes locks for others, KTRACE_RETURN_ADDRESS is the code that wanted the lock.
 *
 * The setting debug.ktr.state=0 turns all of them into a load and a branch until the next boot, for a state
 * that was not followed for a while would be wrong; KTRACE_STATE=0 leaves no code (config.h).
 */
#ifndef KTRACE_HOOKS_H
#define KTRACE_HOOKS_H

#include <stdint.h>

#include "ktrace/port.h"

/*
 * Who holds a lock and waits for it: its CPU, where the holder cannot be taken from it (spinlocks that keep
 * preemption or interrupts off), or the thread.
 */
#define KTRACE_BY_CPU	 KTRX_WAIT_SPIN
#define KTRACE_BY_THREAD KTRX_WAIT_LOCK

#define KTRACE_NOBODY 0xffffffffu

KTRACE_BEGIN_C

#if KTRACE_STATE
#define KTRACE_HOOK(name, ...) void name(__VA_ARGS__);
#else
_Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wunused-parameter\"")
#define KTRACE_HOOK(name, ...)                      \
	KTRACE_UNUSED_INLINE void name(__VA_ARGS__) \
	{                                           \
	}
#endif

/* clang-format off */

/*
 * Around a lock that is taken: before waiting for it, once it is had (with or without a wait), before it is
 * given up. `name` is copied, may be NULL. `owner`: the CPU or thread that has it, as the kernel knows, or
 * KTRACE_NOBODY. A waiter that tries again and again, yielding in between, may announce its wait before each
 * try: it is one wait since the first. A wait that ended without the lock is told by ktrace_lock_give_up().
 * Of a lock that its holder may take again, the first acquisition and the last release are told; one that is
 * handed on while held is not told at all. A holder's row has room for one wait: that of an interrupt takes
 * the place of the one that it came into.
 */
KTRACE_HOOK(ktrace_lock_wait, const volatile void *lock, const char *name, uint32_t by, uint32_t owner)
KTRACE_HOOK(ktrace_lock_wait_at, const volatile void *lock, const char *name, uint32_t by, uint32_t owner,
	    uintptr_t pc)
KTRACE_HOOK(ktrace_lock_give_up, uint32_t by)
KTRACE_HOOK(ktrace_lock_acquire, const volatile void *lock, uint32_t by)
KTRACE_HOOK(ktrace_lock_acquire_at, const volatile void *lock, uint32_t by, uintptr_t pc)
KTRACE_HOOK(ktrace_lock_release, const volatile void *lock, uint32_t by)
KTRACE_HOOK(ktrace_lock_release_at, const volatile void *lock, uint32_t by, uintptr_t pc)

/*
 * The running thread is about to sleep until woken: for what (`object`, told apart by value; of
 * KTRX_WAIT_THREAD the thread's number), of which kind (KTRX_WAIT_LOCK to KTRX_WAIT_DEVICE), and until when
 * at the latest, in stamps; 0: for ever. A wait for a lock that ktrace_lock_wait() announced stays what that
 * said.
 */
KTRACE_HOOK(ktrace_thread_block, const volatile void *object, const char *name, uint32_t kind,
	    uint64_t deadline)
KTRACE_HOOK(ktrace_thread_block_at, const volatile void *object, const char *name, uint32_t kind,
	    uint64_t deadline, uintptr_t pc)
/* It has been made runnable, by who runs here. */
KTRACE_HOOK(ktrace_thread_wake, uint32_t thread)
/*
 * From the switch, on the CPU that switches, also where it goes on with the same thread. Thread 0 and other
 * idle threads may be named like any. A CPU that idles does so no longer if the threads differ.
 */
KTRACE_HOOK(ktrace_thread_switch, uint32_t previous, uint32_t next)
/*
 * Forgets the thread. Call it when the thread ends: by the thread itself, as the last hook before its last
 * switch, or by whoever knows that it will not run again. A thread that has ended and is not forgotten looks
 * like one that waits for a CPU. May be called again where the thread's memory is given back; requires that
 * no other hook is called for it in between.
 */
KTRACE_HOOK(ktrace_thread_exit, uint32_t thread)
/*
 * Told once a thread, before it runs: where its stack lies (0, 0: unknown), from when on what it holds is
 * known; and how urgent it is (0: unknown), when that changes.
 */
KTRACE_HOOK(ktrace_thread_stack, uint32_t thread, const volatile void *low, const volatile void *high)
KTRACE_HOOK(ktrace_thread_priority, uint32_t thread, uint8_t priority)

/*
 * Interrupts: first and last thing in a handler, a switch at its end coming after that; and when the
 * controller is told that one is over. Not for those that the controller is not told of, as NMIs.
 */
KTRACE_HOOK(ktrace_irq_enter, uint32_t irq)
KTRACE_HOOK(ktrace_irq_exit, uint32_t irq)
KTRACE_HOOK(ktrace_irq_eoi, uint32_t irq)

/*
 * This CPU waits until another, or all others (KTRX_ALL_CPUS), have answered an interrupt that it sent, and
 * goes on; this CPU has answered what it was asked.
 */
KTRACE_HOOK(ktrace_ipi_wait, uint32_t cpu, uint32_t what)
KTRACE_HOOK(ktrace_ipi_wait_at, uint32_t cpu, uint32_t what, uintptr_t pc)
KTRACE_HOOK(ktrace_ipi_wait_end, void)
KTRACE_HOOK(ktrace_ipi_answer, void)

/*
 * Interrupts go on (told before that) or have gone off (told behind) by the kernel's own doing, or a switch
 * has led to code where they are so; preemption is off so many times over; this address space is in use.
 */
KTRACE_HOOK(ktrace_interrupts, int on)
KTRACE_HOOK(ktrace_interrupts_at, int on, uintptr_t pc)
KTRACE_HOOK(ktrace_preempt, uint32_t depth)
KTRACE_HOOK(ktrace_space, uint64_t id)

#undef KTRACE_HOOK
#if !KTRACE_STATE
_Pragma("GCC diagnostic pop")
#endif

KTRACE_END_C

/* clang-format on */

#endif
