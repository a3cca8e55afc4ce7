/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Initializes ktrace, and sets ktrace's context word of each CPU. (Each event is declared in the file that
 * records it.)
 */
#ifndef DEMO_TRACE_H
#define DEMO_TRACE_H

#include <stdint.h>

#include <ktrx/slot.h>

#include "cpu.h"

/*
 * Initializes ktrace as the boot arguments demand: slots= is the number of slots in each CPU's ring; keep= is
 * the number of earlier boots whose traces are preserved; debug= and ktrace= select events. Then starts the
 * boot CPU's ring. Requires: boot CPU, after page_init, before any thread.
 */
void trace_init(void);

/*
 * Starts recording into this CPU's ring. Must be called once on each CPU except the boot CPU. Requires:
 * interrupts off.
 */
void trace_cpu_online(void);

/*
 * Sets the context (KTRX_CONTEXT_*) of the records that this CPU writes from now on. Returns the previous
 * value of trace_context, which the caller restores at the end.
 */
static inline uint32_t trace_enter(struct cpu *self, uint32_t context)
{
	uint32_t before = self->trace_context;

	self->trace_context = (before & KTRX_THREAD_MAX) | context << KTRX_W1_CONTEXT_SHIFT;
	return before;
}

#endif
