/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What an event costs here, by the clock that stamps it; what was found last stands in the settings. */
#include "ktrace/settings.h"
#include "state.h"

KTRACE_DECLARE(1, ktrace_event_ktrace_probe, "ktrace\0probe", KTRX_STATE_RECORD, 0, KTRX_V1_NONE, "%u",
	       (uint32_t, round));

#define KTRACE_PROBE_ROUNDS 3u
#define KTRACE_EVENTS	    32u

/* Ticks that a thousand events cost, as ktrace_probe_cost() has it; 0: nobody has asked. */
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
	uint64_t best = UINT64_MAX;

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
