/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "analyze/flows.h"

/* A send replaces an earlier send that has the same key, or a key with the same hash. */
static struct flows_open *find(struct flows *flows, uint64_t key)
{
	return &flows->open[key * UINT64_C(0x9e3779b97f4a7c15) >> 54];
}

_Static_assert(FLOWS_OPEN == UINT64_C(1) << (64 - 54), "a place for every hash");

static struct flows_step start(struct flows *flows, uint64_t key, uint8_t kind, const char *name)
{
	struct flows_open *open = find(flows, key);

	*open = (struct flows_open){ .key = key, .id = ++flows->ids, .kind = kind };
	return (struct flows_step){ .id = flows->ids, .place = (uint16_t)(open - flows->open), .name = name };
}

static struct flows_step arrive(struct flows *flows, uint64_t key, uint8_t kind, const char *name)
{
	struct flows_open *open = find(flows, key);
	struct flows_step step = { .name = name, .ends = true };

	if (open->id > flows->cut && open->key == key && open->kind == kind) {
		step.id = open->id;
		open->id = 0;
	}
	return step;
}

/* Identifies a signal by its number and its receiver. Returns false if either is unknown. */
static bool signal_key(const struct wellknown *known, const struct ktread_event *event, uint64_t *key)
{
	uint32_t thread = event->thread;
	uint64_t number;

	if (!wellknown_number(known, event, WELLKNOWN_NUMBER, &number))
		return false;
	wellknown_thread(known, event, WELLKNOWN_THREAD, &thread);
	*key = (uint64_t)thread << 32 | (uint32_t)number;
	return thread != 0;
}

struct flows_step flows_take(struct flows *flows, const struct ktread_event *event,
			     const struct wellknown *known)
{
	uint64_t key;

	switch (known->kind) {
	case WELLKNOWN_NET_TX:
	case WELLKNOWN_NET_RX:
		if (!wellknown_number(known, event, WELLKNOWN_OBJECT, &key))
			break;
		return known->kind == WELLKNOWN_NET_TX ? start(flows, key, WELLKNOWN_NET_TX, "packet")
						       : arrive(flows, key, WELLKNOWN_NET_TX, "packet");
	case WELLKNOWN_SIGNAL_SEND:
	case WELLKNOWN_SIGNAL_DELIVER:
		if (!signal_key(known, event, &key))
			break;
		return known->kind == WELLKNOWN_SIGNAL_SEND
			       ? start(flows, key, WELLKNOWN_SIGNAL_SEND, "signal")
			       : arrive(flows, key, WELLKNOWN_SIGNAL_SEND, "signal");
	default:
		break;
	}
	return (struct flows_step){ .id = 0 };
}

void flows_forget(struct flows *flows, const struct flows_step *step)
{
	if (flows->open[step->place].id == step->id)
		flows->open[step->place].id = 0;
}

void flows_gap(struct flows *flows)
{
	flows->cut = flows->ids;
}
