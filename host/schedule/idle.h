/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Delays the moment at which QEMU regards the machine as idle. If all CPUs are idle, QEMU's main thread moves
 * the virtual clock to the next timer. But a CPU counts as idle from the moment at which it executes its halt
 * instruction, and its last instructions are added to the clock a little later, by the CPUs' thread. If the
 * main thread checks before that, it moves the clock too far, by the time of these instructions (seen with
 * QEMU 7.2: once in about ten runs on a loaded host). With this correction, the main thread waits until the
 * CPUs' thread itself has found all CPUs idle.
 */
#ifndef SCHEDULE_IDLE_H
#define SCHEDULE_IDLE_H

#include <stdbool.h>

struct CPUState;

/*
 * `again` is called in the CPUs' thread when all CPUs that are not frozen are idle. It returns true if it has
 * let another CPU run.
 */
void idle_open(bool (*again)(void));

/* Returns whether a CPU is idle. QEMU calls it to confirm that a CPU is idle. */
bool idle_confirm(struct CPUState *cpu);

#endif
