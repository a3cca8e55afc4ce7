/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Rows of places that record an event, see struct ktrx_place. A row is joined when it is known where its
 * event's row is: for all rows together when they are numbered, or else when the place records for the first
 * time.
 *
 * A place's row holds the address of its event's row. That is another one than at run time if the kernel runs
 * elsewhere than it was linked for, or has not relocated itself yet. The table's start is stored in the same
 * way. The difference of the two is right in all of these cases, unless both are still 0.
 *
 * Several contexts may run this at the same time, and one of them may be delayed. All of them store the same
 * values, and a word that other functions change, too, is changed by a swap.
 */
#include "core.h"

extern KTRACE_HIDDEN uint64_t __start_ktrace_events[];
extern KTRACE_HIDDEN uint64_t __stop_ktrace_events[];

/* Volatile: compilers would form the address relative to the code. */
static volatile KTRACE_IN_DATA uintptr_t linked_start = (uintptr_t)__start_ktrace_events;

struct ktrx_place *ktrace_place_first(void)
{
	return ktrace_row_from(__start_ktrace_events, KTRX_PLACE_MAGIC);
}

struct ktrx_place *ktrace_place_next(struct ktrx_place *place)
{
	return ktrace_row_from((uint64_t *)(void *)place + place->size / 8, KTRX_PLACE_MAGIC);
}

/* NULL: not known yet. */
static struct ktrx_event *linked_event(const struct ktrx_place *place)
{
	const uintptr_t start = (uintptr_t)__start_ktrace_events, stop = (uintptr_t)__stop_ktrace_events;
	const uintptr_t linked = linked_start;
	uintptr_t found = start + ((uintptr_t)place->address - linked);
	struct ktrx_event *event = (struct ktrx_event *)found;

	if (linked == 0 || place->address == 0 || found < start || found % 8 != 0 ||
	    found > stop - sizeof(*event))
		return KTRACE_NULL;
	return event->magic == KTRX_EVENT_MAGIC ? event : KTRACE_NULL;
}

/* Changes header and offset together. */
static void place_set(struct ktrx_place *place, const struct ktrx_event *event, uint32_t number)
{
	const uint32_t offset = (uint32_t)((uintptr_t)event - (uintptr_t)place);
	uint64_t *word = (uint64_t *)(void *)&place->header, old, joined;

	do {
		old = *(volatile ktrace_u64_any *)word;
		joined =
			(old & KTRACE_HEADER_SLOW) | KTRX_KIND_SINGLE | number << 16 | (uint64_t)offset << 32;
	} while (!ktrace_arch_compare_swap(word, old, joined));
}

void ktrace_place_join(struct ktrx_place *place, const struct ktrx_event *event)
{
	place_set(place, event, event->id);
}

/* Readers that find an id find the event, too. */
static void join(struct ktrx_place *place, const struct ktrx_event *event, uint32_t id)
{
	if (id > KTRX_EVENT_MAX) {
		place_set(place, event, event->id);
		return;
	}
	*(volatile uint16_t *)&place->id = (uint16_t)id;
	*(volatile uint16_t *)&place->event = event->id;
	ktrace_root_flags(KTRX_FLAG_PLACES, 0);
	ktrace_arch_store_barrier();
	place_set(place, event, id);
}

void ktrace_places_join(void)
{
	uint32_t id = ktrace_state.events;

	for (struct ktrx_place *place = ktrace_place_first(); place; place = ktrace_place_next(place)) {
		const struct ktrx_event *event = linked_event(place);

		if (event && event->id != 0)
			join(place, event, ++id);
	}
}

void ktrace_place_set_slow(struct ktrx_place *place, int is_slow)
{
	uint64_t *word = (uint64_t *)(void *)&place->header, old, set;

	do {
		old = *(volatile ktrace_u64_any *)word;
		set = (old & ~(uint64_t)KTRACE_HEADER_SLOW) | (is_slow ? KTRACE_HEADER_SLOW : 0);
	} while (set != old && !ktrace_arch_compare_swap(word, old, set));
}
