/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "state.h"

KTRACE_DECLARE(1, ktrace_event_ktrace_switched, "ktrace\0switched", KTRX_STATE_RECORD, KTRX_EVENT_RARE,
	       KTRX_V1_NONE, "events %hu to %hu: state %hhu", (uint16_t, first), (uint16_t, last),
	       (uint8_t, state));

struct ktrx_event *ktrace_switched_event(void)
{
	return &ktrace_event_ktrace_switched.event;
}

/* Before the first record there is nothing that a reader could take for the whole. */
static int has_recorded(void)
{
	const struct ktrx_ring *boot = &ktrace_ring[0];

	return ktrace_state.initialised ||
	       KTRX_WORD_INDEX(*(volatile uint64_t *)(uintptr_t)boot->head) != boot->first;
}

/*
 * Where there is no ring of rare events, the boot ring keeps these longer than that of a CPU; but not one
 * that keeps what is oldest.
 */
void ktrace_switched_end(struct ktrace_switched *noted)
{
	const int early = !ktrace_state.rare && ktrace_ring[0].policy != KTRX_POLICY_STOP;

	if (noted->first != 0 && has_recorded())
		KTRACE_SITE(1, early, ktrace_event_ktrace_switched, (uint16_t)noted->first,
			    (uint16_t)noted->last, noted->state);
	noted->first = 0;
}

void ktrace_switched_add(struct ktrace_switched *noted, const struct ktrx_event *event, uint8_t from,
			 uint8_t to)
{
	if (event->id == 0 || ((from ^ to) & KTRX_STATE_RECORD) == 0)
		return;
	to &= (uint8_t)~KTRX_STATE_SLOW;
	if (noted->first && (noted->state != to || noted->last + 1 != event->id))
		ktrace_switched_end(noted);
	if (noted->first == 0)
		noted->first = event->id;
	noted->last = event->id;
	noted->state = to;
}
