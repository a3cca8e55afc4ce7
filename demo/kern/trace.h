/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Setting ktrace up, and keeping its word about who runs on each CPU. Events stand where they fire. */
#ifndef DEMO_TRACE_H
#define DEMO_TRACE_H

#include <stdint.h>

#include <ktrx/slot.h>

#include "cpu.h"

/*
 * Gives every CPU a ring of slots= slots, keeps the traces of keep= earlier boots, goes by debug= and ktrace=, and
 * starts the boot CPU's ring. Boot CPU, after page_init, before any thread.
 */
void trace_init(void);

/* Every CPU, once, interrupts off. */
void trace_cpu_online(void);

/* What runs here is in another context from now on; returns what trace_context was, to be put back. */
static inline uint32_t trace_enter(struct cpu *self, uint32_t context)
{
	uint32_t before = self->trace_context;

	self->trace_context = (before & KTRX_THREAD_MAX) | context << KTRX_W1_CONTEXT_SHIFT;
	return before;
}

#endif
