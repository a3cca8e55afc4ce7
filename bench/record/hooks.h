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
HOOK_LOOPS(lock);	/* takes and releases a lock whose owner is the CPU */
HOOK_LOOPS(mutex);	/* takes and releases a lock whose owner is the thread */
HOOK_LOOPS(interrupts); /* disables and enables interrupts */
HOOK_LOOPS(irq);	/* enters an interrupt, ends it at the controller, and leaves it */
HOOK_LOOPS(sleep);	/* lets a thread sleep, wakes it and runs it: two context switches */

/*
 * Loops over facts that are reported in one of two ways: by one call of ktrace/facts.h ("one"), or by two
 * calls, an event and an update of the state ("two").
 */
#define FACT_LOOPS(name)                     \
	void hooks_##name##_one(uint64_t n); \
	void hooks_##name##_two(uint64_t n)
FACT_LOOPS(switch); /* switches to another thread and back */
FACT_LOOPS(wake);
FACT_LOOPS(block);
FACT_LOOPS(lock); /* takes and releases a lock */
FACT_LOOPS(irq);  /* enters an interrupt, ends it at the controller, and leaves it */

#endif
