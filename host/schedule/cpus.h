/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Chooses which CPU of the guest runs. With -icount, QEMU runs the CPUs one after another in one thread,
 * always starting with CPU 0. A CPU that neither halts nor yields prevents all CPUs after it from running. If
 * an event of the host interrupts that thread, the next CPU runs; this happens at a different time in each
 * run. So all CPUs but one are frozen: QEMU skips frozen CPUs. The guest cannot see that: to it, these CPUs
 * are slow.
 */
#ifndef SCHEDULE_CPUS_H
#define SCHEDULE_CPUS_H

#include <stdbool.h>
#include <stdint.h>

struct CPUState;

/*
 * Requires for all functions: QEMU's lock is held, as in a timer's call, and no CPU executes an instruction.
 */

/* Returns NULL, or what is wrong with this number of CPUs. Call it once, before the others. */
const char *cpus_open(int number);

/* Ends the choice: no CPU stays frozen. Returns the number of CPUs that are not idle. */
unsigned cpus_thaw(void);

/* Returns true while cpus_thaw() asks QEMU which CPUs are idle. */
bool cpus_is_thawing(void);

/*
 * Freezes all CPUs but one: number `chosen` of those that are not idle, from 0 in the order of the CPUs.
 * Other CPUs do not run before the next choice, even if an interrupt wakes them.
 * Requires: cpus_thaw() was called before, no CPU has run since, and `chosen` is below its result.
 */
void cpus_choose(unsigned chosen);

/* Returns the next CPU after the CPU that was chosen last, as a number among the CPUs that are not idle. */
unsigned cpus_next(void);

/*
 * Returns the CPU's number among the CPUs that were not idle at the last cpus_thaw(), from 0; -1 if the CPU
 * was idle.
 */
int cpus_number(unsigned cpu);

/* Returns true if CPUs are frozen. */
bool cpus_are_frozen(void);

/*
 * Call this function if cpus_interrupted() will be called for each interrupt. Otherwise,
 * cpus_others_may_run() always returns true. `woken` is called, as by cpus_call(), when an interrupt makes
 * cpus_others_may_run() true.
 */
void cpus_see_interrupts(void (*woken)(void));

/*
 * Call this function when an interrupt is raised for a CPU. May also be called while a CPU executes a block.
 */
void cpus_interrupted(const struct CPUState *cpu);

/*
 * Returns false if all CPUs but the chosen one were idle at the last cpus_thaw(), and no interrupt has been
 * raised for them since. May also be called while a CPU executes a block.
 */
bool cpus_others_may_run(void);

/*
 * Calls the function once, outside the guest's code, before any CPU begins another block of code. Has no
 * effect if the same call is due already. May also be called while a CPU executes a block.
 */
void cpus_call(void (*call)(void));

#endif
