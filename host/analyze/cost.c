/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "analyze/cost.h"

#include <string.h>

uint64_t cost_of(const struct ktread *trace)
{
	struct ktread_setting setting;

	for (uint32_t n = 0; ktread_setting(trace, n, &setting); n++)
		if (strcmp(setting.name, "debug.ktr.cost") == 0)
			return setting.value;
	return 0;
}

double cost_share(uint64_t cost, uint64_t events, uint64_t ticks, uint32_t cpus)
{
	double time = (double)ticks * (cpus ? cpus : 1);

	return time > 0 ? (double)cost / 1000 * (double)events / time : 0;
}

uint64_t cost_taken_off(struct cost_meter *meter, const struct ktread_event *event)
{
	uint32_t cpu = event->cpu < COST_CPUS - 1 ? event->cpu : COST_CPUS - 1;
	unsigned __int128 off = (unsigned __int128)meter->cost * meter->events[cpu]++ / 1000u;
	uint64_t stamp = off < event->stamp ? event->stamp - (uint64_t)off : 0;

	if (stamp < meter->last[cpu])
		stamp = meter->last[cpu];
	meter->last[cpu] = stamp;
	return stamp;
}
