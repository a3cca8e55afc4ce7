/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Bugs: small pieces of kernel code with one real mistake each. Like a workload, a bug is started by the boot
 * argument run=NAME. For each bug, test/scenarios/list contains what `ktrace why` must report.
 *
 * The mistake is in the code of the bug, not in the kernel's locks, scheduler and interrupts, which the code
 * uses. Most bugs hang the machine, so the function does not return.
 */
#ifndef DEMO_BUG_H
#define DEMO_BUG_H

#include <stdint.h>

#include "work/work.h"

/* Table of the bugs and their names. The last entry has the name NULL. */
extern const struct work bugs[];

/* Two threads take two mutexes in opposite orders. */
void bug_abba(uint64_t until_ns);
/*
 * Two threads take two mutexes in opposite orders. A waiting thread does not sleep, but yields and tries
 * again. In the "no" variant, both threads take the mutexes in the same order, so there is no mistake.
 */
void bug_abba_yield(uint64_t until_ns);
void bug_no_abba_yield(uint64_t until_ns);
/* CPUs take two spinlocks in different orders. */
void bug_abba_spin(uint64_t until_ns);
/* Three threads and three mutexes: each thread holds one mutex and waits for the next. */
void bug_cycle3(uint64_t until_ns);
/* An interrupt handler takes a lock that its own CPU already holds. */
void bug_self_irq(uint64_t until_ns);
/*
 * A CPU holds a lock while it waits for replies to an IPI. Another CPU spins for this lock and so does not
 * reply.
 */
void bug_ipi_lock(uint64_t until_ns);
/* A CPU waits for the reply of a CPU that polls a device with interrupts off. */
void bug_ipi_off(uint64_t until_ns);
/*
 * A thread of high priority waits for a lock. The holder of the lock never runs, because other threads have a
 * higher priority.
 */
void bug_inversion(uint64_t until_ns);
/* A thread ends while it holds a mutex. The "no" variant has no mistake. */
void bug_dead_owner(uint64_t until_ns);
void bug_no_dead_owner(uint64_t until_ns);
/* Threads take the same two locks in different orders, but at different times, so no deadlock occurs. */
void bug_lock_order(uint64_t until_ns);
/* A thread sleeps until there is a job, but it is not woken when a job is added. */
void bug_lost_wakeup(uint64_t until_ns);
/* A wakeup comes after a thread has checked the condition, but before the thread sleeps. */
void bug_wakeup_race(uint64_t until_ns);
/* A thread of high priority never sleeps, so threads of lower priority never run. */
void bug_starve(uint64_t until_ns);
/* A disk answers all requests, but answers one of them very late. */
void bug_slow_disk(uint64_t until_ns);
/* An interrupt handler does not acknowledge its interrupt to the controller. */
void bug_no_eoi(uint64_t until_ns);
/* An interrupt handler raises its own interrupt each time it runs. */
void bug_irq_storm(uint64_t until_ns);
/* Interrupts are off for 50 ms. */
void bug_irq_off(uint64_t until_ns);
/* The timer of one CPU is stopped and not started again. */
void bug_dead_timer(uint64_t until_ns);
/* A driver spins for ever, because its device does not answer. */
void bug_kernel_spin(uint64_t until_ns);
/* Two threads release their locks to avoid a deadlock, and take them again, for ever. */
void bug_livelock(uint64_t until_ns);
/* Endless recursion. */
void bug_stack(uint64_t until_ns);
/* A call through a NULL pointer. */
void bug_null_call(uint64_t until_ns);
/* A thread sleeps while it holds a spinlock. */
void bug_sleep_spin(uint64_t until_ns);

/*
 * Waits that never end. The four bugs wait for: the interrupt of a sensor; a disk, while holding a lock; jobs
 * that are queued without a wakeup; a signal that was given too early. The "no" variants have no mistake.
 */
void bug_sensor(uint64_t until_ns);
void bug_no_sensor(uint64_t until_ns);
void bug_stuck_disk(uint64_t until_ns);
void bug_no_stuck_disk(uint64_t until_ns);
void bug_unwoken(uint64_t until_ns);
void bug_no_unwoken(uint64_t until_ns);
void bug_early_signal(uint64_t until_ns);
void bug_no_early_signal(uint64_t until_ns);

/*
 * Races that occur only if a CPU is delayed inside a time window of a few instructions: a lost wakeup, a
 * deadlock, a double free, a stale TLB entry, a wrong reference count. These functions return. The "no"
 * variants do the same work without the mistake.
 */
void bug_rare_wakeup(uint64_t until_ns);
void bug_no_rare_wakeup(uint64_t until_ns);
void bug_rare_order(uint64_t until_ns);
void bug_no_rare_order(uint64_t until_ns);
void bug_rare_free(uint64_t until_ns);
void bug_no_rare_free(uint64_t until_ns);
void bug_rare_shootdown(uint64_t until_ns);
void bug_no_rare_shootdown(uint64_t until_ns);
void bug_rare_count(uint64_t until_ns);
void bug_no_rare_count(uint64_t until_ns);

#endif
