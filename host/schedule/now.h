/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The virtual clock, as the thread of the CPUs may read it while a CPU executes a block. */
#ifndef SCHEDULE_NOW_H
#define SCHEDULE_NOW_H

#include <stddef.h>
#include <stdint.h>

#include "qemu.h"

/*
 * Returns the time at which this CPU began or continued to run. In the thread of a CPU, QEMU would add the
 * instructions since then, and ends if it cannot. In any other thread, it does not.
 */
static inline uint64_t now_begin_of_run(void)
{
	struct CPUState *self = current_cpu;
	int64_t now;

	current_cpu = NULL;
	now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
	current_cpu = self;
	return (uint64_t)now;
}

#endif
