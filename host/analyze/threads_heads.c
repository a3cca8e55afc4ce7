/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Finds events from a time for which the slots of their CPU's ring were overwritten. */
#include "analyze/threads.h"

#include "ktrx/slot.h"
#include "ktrx/v2.h"

void threads_find_heads(struct threads_heads *heads, const struct ktread *trace)
{
	for (uint32_t n = 1; n < ktread_info(trace)->rings; n++) {
		const struct ktread_ring *ring = ktread_ring(trace, n);

		if (ring->overwritten > 0 && ring->cpu < THREADS_CPUS_MAX)
			heads->missing[ring->cpu] = true;
	}
}

enum threads_head threads_pass_head(struct threads_heads *heads, const struct ktread *trace,
				    const struct ktread_event *event)
{
	if (event->ring == 0 || event->cpu >= THREADS_CPUS_MAX || !heads->missing[event->cpu])
		return THREADS_HEAD_COMPLETE;
	heads->missing[event->cpu] = ktread_ring(trace, event->ring)->kind == KTRX_RING_SHARED;
	return heads->missing[event->cpu] ? THREADS_HEAD_AROUND : THREADS_HEAD_BEFORE;
}
