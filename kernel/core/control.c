/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Starts, stops and clears all recording; records how the kernel ended; measures the cost of an event. */
#include "core.h"

void ktrace_start(void)
{
	ktrace_state.stopped = 0;
	ktrace_root_flags(0, KTRX_FLAG_STOPPED);
	ktrace_states_update();
	ktrace_stop_forget();
}

void ktrace_stop(void)
{
	ktrace_stop_note();
	ktrace_state.stopped = 1;
	ktrace_root_flags(KTRX_FLAG_STOPPED, 0);
	ktrace_states_update();
}

int ktrace_is_started(void)
{
	return !ktrace_state.stopped;
}

/* Makes all slots of the ring invalid, including slots that are reserved but not written yet. */
static void ring_clear(struct ktrx_ring *ring)
{
	uint64_t head = *(volatile uint64_t *)(uintptr_t)ring->head;

	/*
	 * the condition is false for the ring of a CPU that is offline: its reserve word selects the boot
	 * ring
	 */
	if (ring == ktrace_ring || KTRX_WORD_RING(head) != 0)
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

/* ---- how the kernel ended --------------------------------------------------------------------- */

/* How the kernel ended is stored in the root, where a reader finds it even if no event was recorded. */

/*
 * Always declared, even if the build leaves out all events, because the section of event descriptors must
 * exist in every kernel.
 */
KTRACE_DECLARE(1, ktrace_event_ktrace_panic, "ktrace\0panic", KTRX_STATE_RECORD, KTRX_EVENT_RARE,
	       KTRX_V1_NONE, "%s", (const char *, message));

void ktrace_set_end_hook(ktrace_end_hook *hook, void *cookie)
{
	ktrace_state.end_cookie = cookie;
	ktrace_state.end_hook = hook;
}

static void end(uint32_t outcome, int status)
{
	const uint32_t before = ktrace_root.outcome;

	/* a kernel that panics while it shuts down has not ended well */
	if (before == KTRX_OUTCOME_RUNNING ||
	    (before == KTRX_OUTCOME_EXITED && outcome == KTRX_OUTCOME_PANIC)) {
		/* the order of the stores: a host that reads between them sees no exit with a wrong status */
		if (before == KTRX_OUTCOME_RUNNING)
			ktrace_root.status = status;
		*(volatile uint32_t *)&ktrace_root.outcome = outcome;
		*(volatile int32_t *)&ktrace_root.status = status;
	}
	ktrace_keep_all();
	if (!ktrace_state.end_hook || ktrace_arch_fetch_add(&ktrace_state.ended, 1) != 0)
		return;
	ktrace_state.end_hook(ktrace_state.end_cookie);
}

void ktrace_panic(const char *message)
{
	KTRACE_SITE(1, 0, ktrace_event_ktrace_panic, message);
	if (!ktrace_state.panic_goes_on)
		ktrace_stop();
	end(KTRX_OUTCOME_PANIC, 0);
}

void ktrace_exit(int status)
{
	end(KTRX_OUTCOME_EXITED, status);
}

/* ---- the cost of an event --------------------------------------------------------------------- */

/*
 * The cost of an event on this machine, in ticks of the trace clock. The setting debug.ktr.cost shows the
 * last result.
 */

KTRACE_DECLARE(1, ktrace_event_ktrace_probe, "ktrace\0probe", KTRX_STATE_RECORD, 0, KTRX_V1_NONE, "%u",
	       (uint32_t, round));

#define KTRACE_PROBE_ROUNDS 3u
#define KTRACE_EVENTS	    32u

/*
 * Number of ticks that a thousand events cost: the last result of ktrace_probe_cost(); 0: not measured yet.
 */
static KTRACE_IN_DATA uint64_t cost = 0;
KTRACE_SETTING_U64("debug.ktr.cost", cost, KTRX_SETTING_READ_ONLY);

static uint64_t round_ticks(void)
{
	uint64_t begun = ktrace_arch_clock();

	for (uint32_t i = 0; i < KTRACE_EVENTS; i++)
		KTRACE_SITE(1, 0, ktrace_event_ktrace_probe, i);
	return ktrace_arch_clock() - begun;
}

uint64_t ktrace_probe_cost(void)
{
	uint64_t best = KTRX_U64_MAX;

	if (!(*(volatile uint8_t *)&ktrace_event_ktrace_probe.event.state & KTRX_STATE_RECORD))
		return 0;
	for (uint32_t i = 0; i < KTRACE_PROBE_ROUNDS; i++) {
		uint64_t ticks = round_ticks();

		if (ticks < best)
			best = ticks;
	}
	cost = best * 1000 / KTRACE_EVENTS;
	return cost;
}
