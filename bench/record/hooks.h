/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Loops over hooks, as those over events are: with nothing else, and beside work for the ALUs. */
#ifndef BENCH_HOOKS_H
#define BENCH_HOOKS_H

#include <stdint.h>

#define HOOK_LOOPS(name)                       \
	void hooks_##name##_tight(uint64_t n); \
	void hooks_##name##_busy(uint64_t n)
HOOK_LOOPS(lock);	/* a lock by CPU is taken and given up */
HOOK_LOOPS(mutex);	/* the same by thread */
HOOK_LOOPS(interrupts); /* off and on */
HOOK_LOOPS(irq);	/* an interrupt comes, is ended, goes */
HOOK_LOOPS(sleep);	/* a thread sleeps, is woken, runs: two switches */

/* A fact by one call of ktrace/facts.h, and by an event and a call for the state. */
#define FACT_LOOPS(name)                     \
	void hooks_##name##_one(uint64_t n); \
	void hooks_##name##_two(uint64_t n)
FACT_LOOPS(switch); /* to another thread and back */
FACT_LOOPS(wake);
FACT_LOOPS(block);
FACT_LOOPS(lock); /* taken and given up */
FACT_LOOPS(irq);  /* an interrupt comes, is ended, goes */

#endif
