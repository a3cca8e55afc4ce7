/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Rows of places that record an event, see struct ktrx_place. A row is joined when it is known where its
 * event's row is: for all rows together when they are numbered, or else when the place records for the first
 * time.
 */
#ifndef KTRACE_CORE_PLACE_H
#define KTRACE_CORE_PLACE_H

#include "state.h"

/* The places' rows of this image: NULL ends. */
KTRACE_HIDDEN struct ktrx_place *ktrace_place_first(void);
KTRACE_HIDDEN struct ktrx_place *ktrace_place_next(struct ktrx_place *place);

/*
 * Joins the places whose addresses lead to an event's row. They get the ids that follow those of events,
 * while there are free ids. To be called again after the kernel has relocated itself. Any context.
 */
KTRACE_HIDDEN void ktrace_places_join(void);

/*
 * Joins a place that is not joined yet: its records bear the event's id. Requires: the event has an id. Any
 * context.
 */
KTRACE_HIDDEN void ktrace_place_join(struct ktrx_place *place, const struct ktrx_event *event);

/* Lets the records of a place that was just joined go the way that those of its event go. Any context. */
KTRACE_HIDDEN void ktrace_place_follow(struct ktrx_place *place, const struct ktrx_event *event);

/* Sends the place's records through the slow path, or lets them take the fast one. */
KTRACE_HIDDEN void ktrace_place_set_slow(struct ktrx_place *place, int is_slow);

/* What records of the place bear: its own id or its event's; 0: it is not joined. */
static inline uint32_t ktrace_place_number(const struct ktrx_place *place)
{
	return *(const volatile uint32_t *)&place->header >> 16 & KTRX_EVENT_MAX;
}

/* The row of the place's event; NULL: it is not joined. */
static inline struct ktrx_event *ktrace_place_event(struct ktrx_place *place)
{
	const int32_t offset = *(volatile int32_t *)&place->offset;

	return offset ? (struct ktrx_event *)(void *)((uint8_t *)place + offset) : KTRACE_NULL;
}

#endif
