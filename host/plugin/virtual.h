/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * QEMU's virtual clock, as a plugin may read it while a CPU executes a block. Requires: -icount, with which
 * one thread runs all CPUs. QEMU counts the instructions of a CPU when the CPU stops running. Until then, the
 * current time is the time at which the CPU began to run, plus the duration of the instructions since then.
 */
#ifndef PLUGIN_VIRTUAL_H
#define PLUGIN_VIRTUAL_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Functions of QEMU that are not part of its plugin interface. A QEMU that is built with modules exports
 * them. They are declared weak, so their addresses are NULL in any other QEMU.
 */
#define QEMU_WEAK __attribute__((weak))

struct CPUState;

enum { QEMU_CLOCK_VIRTUAL = 1 };

QEMU_WEAK int64_t qemu_clock_get_ns(int clock);
QEMU_WEAK extern __thread struct CPUState *current_cpu;
QEMU_WEAK struct CPUState *qemu_get_cpu(int index);

/* Returns whether this QEMU exports what the functions below need. */
bool virtual_is_known(void);

/* Sets the duration of an instruction. */
void virtual_open(uint64_t nanoseconds);

/* Returns the time at which this CPU began or continued to run. */
uint64_t virtual_begin_of_run(void);

/* Called at the beginning of each block, with its number of instructions. */
void virtual_begin_block(uint64_t instructions);

/* Returns the time at which the current block began. Never decreases. */
uint64_t virtual_now(void);

#endif
