/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * State hooks: they report what each CPU does, which locks are held, and what each thread waits for. ktrace
 * keeps this in tables (struct ktrx_cpu, struct ktrx_holder) that a host can read at any time, even when the
 * rings have been overwritten long ago. `ktrace why` draws its conclusions from these tables. An event
 * records that something happened; a hook records what is true now.
 *
 * Each hook is one line in the kernel and optional. What a kernel does not report stays unknown, and no
 * conclusion is drawn from it.
 * A hook may be called from any context. Before ktrace_init() it does nothing. It never waits, takes no lock
 * and calls no callback.
 * A thread reports its own state, and a CPU reports its own state. Hooks about a CPU (interrupts, modes,
 * locks held by a CPU) must be called while the thread cannot migrate to another CPU.
 *
 * Hooks about locks, waits and threads need ktrace_config.holders, the number of table entries for threads.
 * If there are more threads, those without an entry are not tracked.
 *
 * A thread is identified by the low 22 bits of its number, as in records.
 *
 * A hook stores the place in the kernel that called it. A hook whose name ends in _at gets the place as `pc`
 * instead: a function that takes locks on behalf of its caller passes KTRACE_RETURN_ADDRESS, so that the
 * place is the code that wanted the lock.
 *
 * debug.ktr.state=0 turns all hooks into a load and a branch until the next boot; they cannot be turned on
 * again, because the state would be wrong after a pause. KTRACE_STATE=0 generates no code (config.h).
 */
#ifndef KTRACE_HOOKS_H
#define KTRACE_HOOKS_H

#include <stdint.h>

#include "ktrace/port.h"

/*
 * What holds a lock or waits for a lock: the CPU, for locks whose holder cannot leave the CPU (spinlocks
 * that disable preemption or interrupts); the thread, for all other locks.
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
 * Report a lock: ktrace_lock_wait() before waiting for it, ktrace_lock_acquire() after taking it (with or
 * without a wait), ktrace_lock_release() before releasing it.
 * `name` is copied; it may be NULL. `by` is KTRACE_BY_CPU or KTRACE_BY_THREAD. `owner` is the CPU or thread
 * that holds the lock, if the kernel knows it, otherwise KTRACE_NOBODY.
 * A semaphore has no owner: `owner` is KTRACE_NOBODY, not the thread that took it last.
 * If a waiter repeatedly tries to take the lock and yields in between, it may call ktrace_lock_wait() before
 * each attempt. All these calls count as one wait, which began with the first call.
 * If a wait ends without the lock, call ktrace_lock_give_up().
 * For a recursive lock, report only the first acquisition and the last release. Do not report a lock if its
 * holder can pass it to another thread or CPU without releasing it.
 * A holder has room for one wait: a wait in an interrupt replaces the wait of the interrupted code.
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
 * Reports that the running thread is about to sleep until it is woken.
 * `object` is a number that identifies what the thread waits for (for KTRX_WAIT_THREAD: the number of the
 * thread whose end it waits for); `kind` is KTRX_WAIT_LOCK to KTRX_WAIT_DEVICE; `deadline` is the timestamp
 * at which the wait ends at the latest, 0: none.
 * If ktrace_lock_wait() has reported that the thread waits for a lock, that lock stays recorded as the object
 * of the wait.
 */
KTRACE_HOOK(ktrace_thread_block, const volatile void *object, const char *name, uint32_t kind,
	    uint64_t deadline)
KTRACE_HOOK(ktrace_thread_block_at, const volatile void *object, const char *name, uint32_t kind,
	    uint64_t deadline, uintptr_t pc)
/* Reports that the code that runs on this CPU made the thread runnable. */
KTRACE_HOOK(ktrace_thread_wake, uint32_t thread)
/*
 * Reports a context switch. Call this hook on the CPU that switches, also if the CPU continues with the same
 * thread. Thread 0 and other idle threads may be passed like any other thread. If the two threads differ, the
 * CPU is no longer idle.
 */
KTRACE_HOOK(ktrace_thread_switch, uint32_t previous, uint32_t next)
/*
 * Removes the thread's entry. Call it when the thread ends: the thread itself calls it as its last hook
 * before its last switch, or other code calls it when the thread cannot run again. A thread that has ended
 * and was not removed looks like a thread that waits for a CPU, unless ktrace_switch() reported state 4 for
 * it while the event sched.switch was on. May be called again when the thread's memory is freed. Requires:
 * between the two calls no other hook is called for the thread.
 */
KTRACE_HOOK(ktrace_thread_exit, uint32_t thread)
/*
 * ktrace_thread_stack(): call it once for each thread, before it runs. Reports the stack of the thread (0, 0:
 * unknown). From this call on, ktrace knows all locks that the thread holds.
 * ktrace_thread_priority(): call it when the priority changes. A greater number is more urgent; 0: unknown.
 */
KTRACE_HOOK(ktrace_thread_stack, uint32_t thread, const volatile void *low, const volatile void *high)
KTRACE_HOOK(ktrace_thread_priority, uint32_t thread, uint8_t priority)

/*
 * Report interrupts. Call ktrace_irq_enter() at the beginning of a handler, and ktrace_irq_exit() at its end,
 * but before a context switch there. Call ktrace_irq_eoi() when the interrupt is ended at the controller. An
 * interrupt that has no end at the controller, such as that of RISC-V's timer, needs no ktrace_irq_eoi(). Do
 * not use these for NMIs.
 */
KTRACE_HOOK(ktrace_irq_enter, uint32_t irq)
KTRACE_HOOK(ktrace_irq_exit, uint32_t irq)
KTRACE_HOOK(ktrace_irq_eoi, uint32_t irq)

/*
 * ktrace_ipi_wait(): this CPU will interrupt CPU `cpu`, or all others (KTRX_ALL_CPUS), and wait for the
 * answer. Call it before the interrupt is sent: an answer that comes before this call counts as the answer to
 * an earlier request. `what` is the request, as the kernel numbers it.
 * ktrace_ipi_wait_end(): the wait has ended.
 * ktrace_ipi_answer(): this CPU has answered an interrupt that another CPU sent.
 */
KTRACE_HOOK(ktrace_ipi_wait, uint32_t cpu, uint32_t what)
KTRACE_HOOK(ktrace_ipi_wait_at, uint32_t cpu, uint32_t what, uintptr_t pc)
KTRACE_HOOK(ktrace_ipi_wait_end, void)
KTRACE_HOOK(ktrace_ipi_answer, void)

/*
 * ktrace_interrupts(): call it before enabling interrupts and after disabling them, and after a switch to
 * other code, to report whether they are enabled there. Do not call it when the CPU itself disables
 * interrupts because it enters a handler.
 * ktrace_preempt(): reports how many times preemption has been disabled without being enabled again.
 * ktrace_space(): reports the address space that is now in use.
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
