/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Lets another CPU run when a CPU executes an instruction that is meant for waiting: pause (x86, RISC-V),
 * yield or wfe (AArch64). Without this, a CPU that waits for a frozen CPU would wait until its own slice
 * ends.
 */
#ifndef SCHEDULE_YIELD_H
#define SCHEDULE_YIELD_H

#include <stdbool.h>

#include "plugin/qemu_plugin.h"

/*
 * Begins to watch for these instructions. `target`: name of the architecture. `wanted` is called before each
 * such instruction, while the CPU executes a block. If it returns true, `yield` is called after the block, in
 * the thread of the CPUs, with the number of the CPU. If not, QEMU is not interrupted.
 */
void yield_open(const char *target, bool (*wanted)(void), void (*yield)(unsigned cpu));

#endif
