/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "virtual.h"

#include <stddef.h>

static struct {
	uint64_t instruction; /* duration of one instruction in ns */
	uint64_t begin;	      /* time at which the CPU began to run */
	/* number of instructions in the blocks since `begin`, without the current block */
	uint64_t instructions;
	uint64_t current; /* number of instructions of the current block */
	uint64_t latest;
} now;

bool virtual_is_known(void)
{
	return qemu_clock_get_ns != NULL;
}

void virtual_open(uint64_t nanoseconds)
{
	now.instruction = nanoseconds;
}

/*
 * In a thread that runs a CPU, QEMU's function adds to the clock the time of the instructions that the CPU
 * has executed, and exits if it cannot. While `current_cpu` is NULL, the function treats the thread like any
 * other thread, and adds nothing.
 */
uint64_t virtual_begin_of_run(void)
{
	struct CPUState *self = current_cpu;
	int64_t time;

	current_cpu = NULL;
	time = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
	current_cpu = self;
	return (uint64_t)time;
}

void virtual_begin_block(uint64_t instructions)
{
	const uint64_t begin = virtual_begin_of_run();

	now.instructions += now.current;
	if (begin != now.begin) {
		now.begin = begin;
		now.instructions = 0;
	}
	now.current = instructions;
}

uint64_t virtual_now(void)
{
	const uint64_t time = now.begin + now.instruction * now.instructions;

	now.latest = time > now.latest ? time : now.latest;
	return now.latest;
}
