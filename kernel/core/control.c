/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Recording as a whole: on, off, forgotten. */
#include "fold.h"
#include "keep.h"

void ktrace_start(void)
{
	ktrace_state.stopped = 0;
	ktrace_root_flags(0, KTRX_FLAG_STOPPED);
	ktrace_states_update();
}

void ktrace_stop(void)
{
	ktrace_state.stopped = 1;
	ktrace_root_flags(KTRX_FLAG_STOPPED, 0);
	ktrace_states_update();
}

int ktrace_is_started(void)
{
	return !ktrace_state.stopped;
}

/* Slots reserved but not written yet are forgotten with the rest. */
static void ring_clear(struct ktrx_ring *ring)
{
	uint64_t head = *(volatile uint64_t *)(uintptr_t)ring->head;

	if (ring == ktrace_ring || KTRX_WORD_RING(head) != 0) /* else its CPU is not online: it is empty */
		*(volatile uint64_t *)&ring->first = KTRX_WORD_INDEX(head);
	*(volatile uint64_t *)&ring->dropped = 0;
	*(volatile uint64_t *)&ring->lapped = 0;
}

void ktrace_clear(void)
{
	ktrace_attach();
	for (uint32_t n = 0; n < ktrace_rings(); n++)
		ring_clear(&ktrace_ring[n]);
	ktrace_fold_clear();
	for (struct ktrx_event *event = ktrace_event_first(); event; event = ktrace_event_next(event))
		*(volatile uint64_t *)&event->count = 0;
	if (ktrace_state.counters)
		ktrace_zero(ktrace_state.counters,
			    ktrace_rings() * (ktrace_state.events + 1) * sizeof(uint64_t));
	*(volatile uint64_t *)&ktrace_root.lost_events = 0;
	ktrace_keep_all();
}
