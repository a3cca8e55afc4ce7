/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "live/rates.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define UNWEIGHED 8192u /* events that wait to be weighed */

struct ring {
	uint64_t produced, decoded; /* when it was weighed last */
	double weight;
};

struct live_rates {
	bool based; /* what is in `ring` is of this boot */
	struct ring ring[KTRX_MAX_RINGS];
	uint32_t waiting;
	struct {
		uint16_t ring, id;
	} event[UNWEIGHED];
	double count[KTRX_EVENT_MAX + 1];
};

struct live_rates *live_rates_open(void)
{
	return calloc(1, sizeof(struct live_rates));
}

void live_rates_close(struct live_rates *rates)
{
	free(rates);
}

void live_rates_restart(struct live_rates *rates)
{
	memset(rates, 0, sizeof(*rates));
}

static void weigh(struct live_rates *rates)
{
	for (uint32_t i = 0; i < rates->waiting; i++)
		rates->count[rates->event[i].id] += rates->ring[rates->event[i].ring].weight;
	rates->waiting = 0;
}

void live_rates_event(struct live_rates *rates, const struct ktread_event *event)
{
	if (!rates->based || event->ring >= KTRX_MAX_RINGS || event->id > KTRX_EVENT_MAX)
		return;
	if (rates->waiting == UNWEIGHED)
		weigh(rates);
	rates->event[rates->waiting].ring = (uint16_t)event->ring;
	rates->event[rates->waiting++].id = event->id;
}

static void settle_ring(struct ring *ring, const struct ktread_ring *now, bool based)
{
	if (based && now->head >= ring->produced && now->decoded > ring->decoded)
		ring->weight = (double)(now->head - ring->produced) / (double)(now->decoded - ring->decoded);
	if (!based || ring->weight < 1)
		ring->weight = 1;
	ring->produced = now->head;
	ring->decoded = now->decoded;
}

void live_rates_settle(struct live_rates *rates, const struct ktread *trace)
{
	const uint32_t rings = ktread_info(trace)->rings;

	for (uint32_t n = 0; n < rings && n < KTRX_MAX_RINGS; n++)
		settle_ring(&rates->ring[n], ktread_ring(trace, n), rates->based);
	weigh(rates);
	rates->based = true;
}

static void offer(struct live_top top[LIVE_TOP], uint16_t id, double rate)
{
	uint32_t at = LIVE_TOP;

	while (at > 0 && rate > top[at - 1].rate)
		at--;
	if (at == LIVE_TOP)
		return;
	memmove(top + at + 1, top + at, (LIVE_TOP - 1 - at) * sizeof(*top));
	top[at] = (struct live_top){ id, rate };
}

double live_rates_end(struct live_rates *rates, double seconds, struct live_top top[LIVE_TOP])
{
	double sum = 0;

	weigh(rates);
	memset(top, 0, LIVE_TOP * sizeof(*top));
	for (uint32_t id = 0; id <= KTRX_EVENT_MAX && seconds > 0; id++) {
		if (rates->count[id] > 0)
			offer(top, (uint16_t)id, rates->count[id] / seconds);
		sum += rates->count[id];
		rates->count[id] = 0;
	}
	return seconds > 0 ? sum / seconds : 0;
}
