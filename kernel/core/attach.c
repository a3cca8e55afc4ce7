/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Attaching: when the first event fires, the rows get their ids and the root gets what only run time knows.
 * Any context may be the first; one that comes while another is at it waits for a moment.
 *
 * All addresses are formed relative to the code: this may run before the kernel relocates itself, and runs
 * once more after it did.
 */
#include "state.h"

/* Looks at the flag before an event is given up: about a millisecond. */
#define ATTACH_PATIENCE (UINT32_C(1) << 20)

extern KTRACE_HIDDEN uint64_t __start_ktrace_events[];
extern KTRACE_HIDDEN uint64_t __stop_ktrace_events[];

static struct ktrx_event *row_from(uint64_t *at)
{
	for (; at < __stop_ktrace_events; at++) {
		struct ktrx_event *event = (struct ktrx_event *)(void *)at;

		if (event->magic == KTRX_EVENT_MAGIC)
			return event;
	}
	return KTRACE_NULL;
}

struct ktrx_event *ktrace_event_first(void)
{
	return row_from(__start_ktrace_events);
}

struct ktrx_event *ktrace_event_next(struct ktrx_event *event)
{
	return row_from((uint64_t *)(void *)event + event->size / 8);
}

static void rows_number(void)
{
	uint32_t id = 0;

	for (struct ktrx_event *event = ktrace_event_first(); event && id < KTRX_EVENT_MAX;
	     event = ktrace_event_next(event)) {
		event->id = (uint16_t)++id;
		event->header = KTRACE_HEADER_SLOW | KTRX_KIND_SINGLE | id << 16;
	}
	ktrace_state.events = id;
}

static uint64_t nonce_make(void)
{
	uint64_t mixed = (ktrace_arch_clock() ^ (uintptr_t)&mixed) * UINT64_C(0x9e3779b97f4a7c15);

	return mixed ^ mixed >> 29 ^ 1;
}

void ktrace_root_open(void)
{
	*(volatile uint32_t *)&ktrace_root.sequence += 1;
	ktrace_arch_store_barrier();
}

void ktrace_root_close(void)
{
	ktrace_arch_store_barrier();
	*(volatile uint32_t *)&ktrace_root.sequence += 1;
}

void ktrace_section_set(uint32_t type, uint32_t entry_size, const volatile void *data, uint64_t length)
{
	struct ktrx_section *section = &ktrace_root.section[type - 1];

	if (!data || length == 0)
		return;
	section->type = type;
	section->where = KTRX_WHERE_VIRTUAL;
	section->entry_size = (uint16_t)entry_size;
	section->extents = 1;
	section->index = 0;
	section->address = (uintptr_t)data;
	section->length = length;
}

static void boot_ring_place(void)
{
	ktrace_ring[0].base = (uintptr_t)ktrace_boot_slot;
	ktrace_ring[0].address = (uintptr_t)ktrace_boot_slot;
	ktrace_ring[0].where = KTRX_WHERE_VIRTUAL;
	ktrace_ring[0].head = (uintptr_t)&ktrace_ring[0].word;
}

static void root_place(void)
{
	uint64_t rows = (uintptr_t)__stop_ktrace_events - (uintptr_t)__start_ktrace_events;

	ktrace_root_open();
	boot_ring_place();
	ktrace_root.self = (uintptr_t)&ktrace_root;
	ktrace_section_set(KTRX_SECTION_RINGS, sizeof(struct ktrx_ring), ktrace_ring,
			   sizeof(struct ktrx_ring));
	ktrace_section_set(KTRX_SECTION_EVENTS, 0, __start_ktrace_events, rows);
	ktrace_root.checksum = ktrx_root_checksum(&ktrace_root);
	ktrace_root_close();
}

static void attach_first(void)
{
	rows_number();
	ktrace_root.nonce = nonce_make();
	ktrace_root.frequency = ktrace_arch_frequency();
	ktrace_ring[0].first = (ktrace_root.nonce & 0xff) << KTRACE_BOOT_SHIFT;
	*(volatile uint64_t *)&ktrace_ring[0].word = ktrace_ring[0].first;
	root_place();
}

/*
 * Somebody else is at it. Another CPU will be done in a moment; a context that this one interrupted will not
 * be before this one returns, so patience ends, and the event counts as lost.
 */
static int attach_await(void)
{
	for (uint32_t n = 0; n < ATTACH_PATIENCE; n++)
		if (__atomic_load_n(&ktrace_state.attached, __ATOMIC_ACQUIRE))
			return 1;
	return 0;
}

int ktrace_attach(void)
{
	if (ktrace_state.attached) {
		if (ktrace_root.self != (uintptr_t)&ktrace_root && !ktrace_state.initialised)
			root_place();
		return 1;
	}
	if (ktrace_arch_fetch_add(&ktrace_state.attaching, 1) != 0)
		return attach_await();
	attach_first();
	ktrace_arch_store_barrier();
	*(volatile uint32_t *)&ktrace_state.attached = 1;
	return 1;
}

static void state_set(struct ktrx_event *event, uint8_t state)
{
	uint32_t slow = state & KTRX_STATE_SLOW ? KTRACE_HEADER_SLOW : 0;

	*(volatile uint32_t *)&event->header = (event->header & ~KTRACE_HEADER_SLOW) | slow;
	*(volatile uint8_t *)&event->state = state;
}

static uint8_t state_wanted(const struct ktrx_event *event)
{
	uint8_t state = *(const volatile uint32_t *)&ktrace_state.stopped ? KTRX_STATE_OFF : event->wanted;

	if (state == KTRX_STATE_OFF)
		return state;
	if (state != KTRX_STATE_RECORD || !ktrace_state.initialised ||
	    ktrace_ring[1].policy == KTRX_POLICY_STOP)
		state |= KTRX_STATE_SLOW;
	return state;
}

/*
 * Whoever sees that another change came in between goes over the rows again: the last change wins
 * everywhere.
 */
void ktrace_states_update(void)
{
	uint64_t changes = ktrace_arch_fetch_add(&ktrace_state.changes, 1) + 1;
	uint64_t seen;

	do {
		seen = changes;
		ktrace_arch_store_barrier();
		for (struct ktrx_event *event = ktrace_event_first(); event; event = ktrace_event_next(event))
			state_set(event, state_wanted(event));
		changes = __atomic_load_n(&ktrace_state.changes, __ATOMIC_ACQUIRE);
	} while (changes != seen);
}
