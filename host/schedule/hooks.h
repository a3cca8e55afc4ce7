/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Detects when a CPU executes a hook: a function of ktrace by which the guest reports that it takes or
 * releases a lock, or that it blocks, wakes or switches threads.
 */
#ifndef SCHEDULE_HOOKS_H
#define SCHEDULE_HOOKS_H

#include <stdbool.h>

#include "control.h"

/*
 * Begins to watch for hooks. `wanted` is called before the first instruction of each hook, while the CPU
 * executes a block. If it returns true, `pass` is called after this block, in the thread of the CPUs, with
 * the number of the CPU. If not, QEMU is not interrupted.
 */
void hooks_open(const struct schedule_hooks *hooks, bool (*wanted)(void), void (*pass)(unsigned cpu));

#endif
