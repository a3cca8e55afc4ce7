/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The data of the core, and attaching. When the first event fires, event descriptors get their ids, the root
 * gets values that are known only at run time, and places are joined to their events.
 *
 * Any context may be the first to attach. Several CPUs may attach at the same time, and an interrupt may
 * attach while the interrupted code attaches. A CPU may also be delayed until long after all other CPUs have
 * attached. Therefore no context waits: each context that finds the data incomplete does all of the work.
 * Each value is either the same for all writers, or is written by a compare-and-swap that succeeds only once.
 * Attaching never overwrites a value that ktrace_init() or ktrace_states_update() may have changed since.
 *
 * All addresses are computed relative to the code, because attaching may run before the kernel relocates
 * itself. It runs again after the relocation.
 */
#include "core.h"

/*
 * The data of the core. The data that a writer of the boot ring needs is complete at link time, and contains
 * no addresses. Addresses are filled in at run time, so that a reader is not misled by a copy of the image
 * that was moved or never ran.
 */

KTRACE_IN_DATA struct ktrace_slot ktrace_boot_slot[KTRACE_BOOT_SLOTS] = { { { 0 } } };

/*
 * If ktrace_init() does not use the entry of a CPU, the entry stays zero, and its reserve word selects ring
 * 0.
 */
KTRACE_IN_DATA struct ktrx_ring ktrace_ring[KTRACE_RING_ROWS] __attribute__((__aligned__(64))) = {
	{
		.mask = KTRACE_BOOT_SLOTS - 1,
		.shift = KTRACE_BOOT_SHIFT,
		.length = sizeof(ktrace_boot_slot),
		.extents = 1,
		.kind = KTRX_RING_SHARED,
		.cpu = KTRX_NO_CPU,
		.policy = KTRX_POLICY_OVERWRITE,
	},
};

KTRACE_IN_DATA struct ktrace_state ktrace_state = { .state = KTRACE_STATE };

KTRACE_IN_DATA struct ktrx_root ktrace_root __attribute__((__aligned__(64))) = {
	.magic = { 'K', 'T', 'R', 'X' },
	.version = KTRX2_VERSION,
	.cpus = 1,
	.slots = KTRACE_BOOT_SLOTS,
	.slot_size = KTRX_SLOT_SIZE,
	.slot_format = KTRX_SLOTS_CHECKED,
	.tag = { 'k', 't', 'r', 'a', 'c', 'e', '2', '\n' },
	.root_size = sizeof(struct ktrx_root),
	.sections = KTRX_SECTIONS,
	.machine = KTRACE_ARCH_MACHINE,
	.table = __builtin_offsetof(struct ktrx_root, section),
	.section[KTRX_SECTION_RINGS - 1] = { .length = sizeof(struct ktrx_ring) },
};

/* ---- attaching -------------------------------------------------------------------------------- */

extern KTRACE_HIDDEN uint64_t __start_ktrace_events[];
extern KTRACE_HIDDEN uint64_t __stop_ktrace_events[];

/*
 * Skips each descriptor of another kind as a whole, because a part of its strings could look like a
 * descriptor.
 */
void *ktrace_descriptor_from(uint64_t *at, uint16_t magic)
{
	while (at < __stop_ktrace_events) {
		const uint16_t *words =
			(const uint16_t *)(void *)at; /* words[0] is the magic, words[1] the size */
		const int is_descriptor = words[0] == KTRX_EVENT_MAGIC || words[0] == KTRX_PLACE_MAGIC;

		if (words[0] == magic)
			return at;
		at += is_descriptor && words[1] >= 8 ? words[1] / 8 : 1;
	}
	return KTRACE_NULL;
}

struct ktrx_event *ktrace_event_first(void)
{
	return ktrace_descriptor_from(__start_ktrace_events, KTRX_EVENT_MAGIC);
}

struct ktrx_event *ktrace_event_next(struct ktrx_event *event)
{
	return ktrace_descriptor_from((uint64_t *)(void *)event + event->size / 8, KTRX_EVENT_MAGIC);
}

/*
 * Stores the id in the header, but only if the header still has its value from link time. Otherwise another
 * context has stored the id, and later changes of the header must not be lost.
 */
static void header_number(struct ktrx_event *event, uint32_t id)
{
	uint64_t *word = (uint64_t *)(void *)&event->header;
	uint64_t linked = *(volatile ktrace_u64_any *)word;

	if ((uint32_t)linked == KTRACE_HEADER_SLOW)
		ktrace_arch_compare_swap(word, linked, linked | KTRX_KIND_SINGLE | id << 16);
}

static void descriptors_number(void)
{
	uint32_t id = 0;

	for (struct ktrx_event *event = ktrace_event_first(); event && id < KTRX_EVENT_MAX;
	     event = ktrace_event_next(event)) {
		*(volatile uint16_t *)&event->id = (uint16_t)++id;
		header_number(event, id);
	}
	*(volatile uint32_t *)&ktrace_state.events = id;
	ktrace_places_join();
}

/* Makes a nonce. It is never 0, because 0 means that there is no nonce. */
static uint64_t nonce_make(void)
{
	uint64_t mixed = (ktrace_arch_clock() ^ (uintptr_t)&mixed) * KTRX_U64(0x9e3779b97f4a7c15);

	return (mixed ^ mixed >> 29) | KTRX_U64(1) << 63;
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

/* Changes flags of the root. The flags are one half of a 64-bit word; the other half stays unchanged. */
void ktrace_root_flags(uint32_t set, uint32_t clear)
{
	uint64_t *word = (uint64_t *)(void *)&ktrace_root.slot_size, old, changed;

	KTRX_STATIC_ASSERT(__builtin_offsetof(struct ktrx_root, flags) ==
				   __builtin_offsetof(struct ktrx_root, slot_size) + 4,
			   "the flags are the upper half of a word");
	do {
		old = *(volatile ktrace_u64_any *)word;
		changed = (old & ~((uint64_t)clear << 32)) | (uint64_t)set << 32;
	} while (changed != old && !ktrace_arch_compare_swap(word, old, changed));
}

/* Sets all members of a section's entry except the length. */
static void section_place(uint32_t type, uint32_t entry_size, const volatile void *data)
{
	struct ktrx_section *section = &ktrace_root.section[type - 1];

	section->type = type;
	section->where = KTRX_WHERE_VIRTUAL;
	section->entry_size = (uint16_t)entry_size;
	section->extents = 1;
	section->index = 0;
	section->address = (uintptr_t)data;
}

void ktrace_section_set(uint32_t type, uint32_t entry_size, const volatile void *data, uint64_t length)
{
	if (!data || length == 0)
		return;
	section_place(type, entry_size, data);
	ktrace_root.section[type - 1].length = length;
}

static void boot_ring_place(void)
{
	ktrace_ring[0].base = (uintptr_t)ktrace_boot_slot;
	ktrace_ring[0].address = (uintptr_t)ktrace_boot_slot;
	ktrace_ring[0].where = KTRX_WHERE_VIRTUAL;
	ktrace_ring[0].head = (uintptr_t)&ktrace_ring[0].word;
}

/*
 * Sets the addresses in the root. Does not set the length of the ring table, which is set at link time, and
 * again by ktrace_init().
 */
static void root_place(void)
{
	uint64_t size = (uintptr_t)__stop_ktrace_events - (uintptr_t)__start_ktrace_events;

	boot_ring_place();
	section_place(KTRX_SECTION_RINGS, sizeof(struct ktrx_ring), ktrace_ring);
	ktrace_section_set(KTRX_SECTION_EVENTS, 0, __start_ktrace_events, size);
	ktrace_settings_place();
	ktrace_mailbox_place();
	ktrace_arch_store_barrier();
	*(volatile uint64_t *)&ktrace_root.self = (uintptr_t)&ktrace_root;
	*(volatile uint32_t *)&ktrace_root.checksum = ktrx_root_checksum(&ktrace_root);
}

/* Sets the members of the root that differ from boot to boot. The first context to store a value wins. */
static void boot_identify(void)
{
	uint64_t first;

	if (*(volatile uint64_t *)&ktrace_root.nonce == 0)
		ktrace_arch_compare_swap(&ktrace_root.nonce, 0, nonce_make());
	ktrace_arch_compare_swap(&ktrace_root.frequency, 0, ktrace_arch_frequency());
	first = (*(volatile uint64_t *)&ktrace_root.nonce & 0xff) << KTRACE_BOOT_SHIFT;
	ktrace_arch_compare_swap(&ktrace_ring[0].first, 0, first);
	ktrace_arch_compare_swap(&ktrace_ring[0].word, 0, first);
}

/* Changes the nonce except its low byte, from which the first indices of the rings were computed. */
void ktrace_nonce_change(void)
{
	ktrace_root_open();
	ktrace_root.nonce += 0x100;
	ktrace_root.checksum = ktrx_root_checksum(&ktrace_root);
	ktrace_mailbox_place();
	ktrace_root_close();
}

static int is_attached(void)
{
	return __atomic_load_n(&ktrace_state.attached, __ATOMIC_ACQUIRE) &&
	       __atomic_load_n(&ktrace_root.self, __ATOMIC_ACQUIRE) == (uintptr_t)&ktrace_root;
}

void ktrace_attach(void)
{
	if (is_attached())
		return;
	if (!*(volatile uint32_t *)&ktrace_state.attached) {
		descriptors_number();
		boot_identify();
	}
	if (!ktrace_state.initialised)
		root_place();
	ktrace_arch_store_barrier();
	*(volatile uint32_t *)&ktrace_state.attached = 1;
}

/* ---- joining places to their events ----------------------------------------------------------- */

/*
 * Places that record an event, see struct ktrx_place. A place is joined as soon as its event descriptor can
 * be located: usually when all descriptors are numbered, otherwise when the place records for the first time.
 *
 * A place contains the address of its event descriptor. That address differs from the run-time address if the
 * kernel runs at another address than it was linked for, or has not relocated itself yet. The start of the
 * event table is stored in the same way, in linked_start. In all of these cases the difference of the two
 * addresses is correct, unless both are still 0.
 *
 * Several contexts may join places at the same time, and one of them may be delayed. All of them store the
 * same values. A word that other functions also change is changed by a compare-and-swap.
 */

/*
 * Volatile, because otherwise compilers would replace the stored address by one that is computed relative to
 * the code.
 */
static volatile KTRACE_IN_DATA uintptr_t linked_start = (uintptr_t)__start_ktrace_events;

struct ktrx_place *ktrace_place_first(void)
{
	return ktrace_descriptor_from(__start_ktrace_events, KTRX_PLACE_MAGIC);
}

struct ktrx_place *ktrace_place_next(struct ktrx_place *place)
{
	return ktrace_descriptor_from((uint64_t *)(void *)place + place->size / 8, KTRX_PLACE_MAGIC);
}

/* Returns the event descriptor that the place refers to; NULL if its address is not known yet. */
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

/* Joins a place to its event: changes the header and the offset together. */
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

/*
 * Stores the event before the place's id is in use, so that a reader that finds the id also finds the event.
 */
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
