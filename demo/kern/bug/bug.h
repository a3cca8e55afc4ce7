/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Bugs: small pieces of kernel code with one real mistake each, chosen like a workload by the boot argument run=NAME.
 * What `ktrace why` says of each stands in test/scenarios/list.
 *
 * The mistake is in how the code uses the kernel; locks, scheduler and interrupts are the ones that everything else
 * runs on. Most bugs leave the machine hanging, so the function does not return.
 */
#ifndef DEMO_BUG_H
#define DEMO_BUG_H

#include <stdint.h>

#include "work/work.h"

/* Ends with one that has no name. */
extern const struct work bugs[];

/* Two threads take two mutexes in opposite orders. */
void bug_abba(uint64_t until_ns);
/* The same with mutexes whose waiters yield and try again; and with one order, which is no bug. */
void bug_abba_yield(uint64_t until_ns);
void bug_no_abba_yield(uint64_t until_ns);
/* CPUs take two spinlocks in different orders. */
void bug_abba_spin(uint64_t until_ns);
/* Three threads and three mutexes, in a ring. */
void bug_cycle3(uint64_t until_ns);
/* An interrupt handler takes a lock that its CPU holds. */
void bug_self_irq(uint64_t until_ns);
/* A CPU waits for answers with a lock that another one spins for. */
void bug_ipi_lock(uint64_t until_ns);
/* A CPU waits for answers of one that waits for a device with interrupts off. */
void bug_ipi_off(uint64_t until_ns);
/* An urgent thread waits for one that does not get to run. */
void bug_inversion(uint64_t until_ns);
/* A thread ends with a mutex locked; and the same without the mistake. */
void bug_dead_owner(uint64_t until_ns);
void bug_no_dead_owner(uint64_t until_ns);
/* Two locks are taken in both orders, at different times. */
void bug_lock_order(uint64_t until_ns);
/* What is waited for happens, and the waker forgets to wake. */
void bug_lost_wakeup(uint64_t until_ns);
/* The wakeup comes between the look and the sleep. */
void bug_wakeup_race(uint64_t until_ns);
/* An urgent thread that gives way to nobody. */
void bug_starve(uint64_t until_ns);
/* A disk answers, but one request very late. */
void bug_slow_disk(uint64_t until_ns);
/* A handler does not tell the controller that it is done. */
void bug_no_eoi(uint64_t until_ns);
/* A handler raises its own interrupt again and again. */
void bug_irq_storm(uint64_t until_ns);
/* Interrupts are off for 50 ms. */
void bug_irq_off(uint64_t until_ns);
/* One CPU's timer is not started again. */
void bug_dead_timer(uint64_t until_ns);
/* A driver waits for ever, running. */
void bug_kernel_spin(uint64_t until_ns);
/* Two threads give way to each other, for ever. */
void bug_livelock(uint64_t until_ns);
/* Recursion without end. */
void bug_stack(uint64_t until_ns);
/* A call of a function that is not there. */
void bug_null_call(uint64_t until_ns);
/* A thread sleeps with a spinlock held. */
void bug_sleep_spin(uint64_t until_ns);

/*
 * Waits that do not end, and the same without the mistake: for an interrupt that still comes, for a disk with a lock held, for jobs that are
 * queued without a wakeup, for a signal that came too early.
 */
void bug_sensor(uint64_t until_ns);
void bug_no_sensor(uint64_t until_ns);
void bug_stuck_disk(uint64_t until_ns);
void bug_no_stuck_disk(uint64_t until_ns);
void bug_unwoken(uint64_t until_ns);
void bug_no_unwoken(uint64_t until_ns);
void bug_early_signal(uint64_t until_ns);
void bug_no_early_signal(uint64_t until_ns);

#endif
