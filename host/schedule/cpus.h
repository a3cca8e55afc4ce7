/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Chooses which CPU of the guest runs. With -icount, QEMU runs the CPUs one after another in one thread, always
 * from CPU 0 on: a CPU that neither halts nor yields keeps all CPUs after it from running. A CPU that is frozen
 * is passed over. The guest cannot see that: to it, the CPU is slow.
 */
#ifndef SCHEDULE_CPUS_H
#define SCHEDULE_CPUS_H

#include <stdbool.h>
#include <stdint.h>

/* Requires for all functions: QEMU's lock is held, as in a timer's call, and no CPU executes an instruction. */

/* Returns NULL, or what is wrong with this number of CPUs. Call it once, before the others. */
const char *cpus_open(int number);

/* Ends the choice: no CPU is frozen. Returns the number of CPUs that are not idle. */
unsigned cpus_thaw(void);

/*
 * Freezes CPUs that are not idle, so that number `chosen` of those that are not idle runs next, from 0 in the
 * order of the CPUs. `alone`: the CPUs after it are frozen, too, and do not run if it yields.
 * Requires: cpus_thaw() was called in the same call of the timer, and `chosen` is below its result.
 */
void cpus_choose(unsigned chosen, bool alone);

/*
 * Calls the function once, outside the guest's code, before any CPU begins another block of code. Has no effect
 * if the same call is due already. May also be called while a CPU executes a block.
 */
void cpus_call(void (*call)(void));

#endif
