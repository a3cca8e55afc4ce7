/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Timed loops that call the tracer's hooks: the "tight" loops contain only the calls, the "busy" loops also
 * arithmetic work.
 */
#ifndef BENCH_HOOKS_H
#define BENCH_HOOKS_H

#include <stdint.h>

#define HOOK_LOOPS(name)                       \
	void hooks_##name##_tight(uint64_t n); \
	void hooks_##name##_busy(uint64_t n)
HOOK_LOOPS(lock);	/* a lock held by the CPU is taken and released */
HOOK_LOOPS(mutex);	/* a lock held by the thread is taken and released */
HOOK_LOOPS(interrupts); /* interrupts are disabled and enabled */
HOOK_LOOPS(irq);	/* an interrupt is entered, ended and left */
HOOK_LOOPS(sleep);	/* a thread sleeps, is woken and runs: two context switches */

/*
 * Loops over facts that are reported in one of two ways: by one call of ktrace/facts.h ("one"), or by two
 * calls, an event and an update of the state ("two").
 */
#define FACT_LOOPS(name)                     \
	void hooks_##name##_one(uint64_t n); \
	void hooks_##name##_two(uint64_t n)
FACT_LOOPS(switch); /* a switch to another thread and back */
FACT_LOOPS(wake);
FACT_LOOPS(block);
FACT_LOOPS(lock); /* a lock is taken and released */
FACT_LOOPS(irq);  /* an interrupt is entered, ended and left */

#endif
