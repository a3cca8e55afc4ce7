/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/core/core.h"
#include "test/fake/machine.h"

extern uint8_t __start_ktrace_events[];
extern uint8_t __stop_ktrace_events[];

struct fake_machine fake;
_Alignas(4096) unsigned char fake_memory[1 << 20];

static struct {
	int64_t passed;
	int64_t at;
	void (*handler)(void);
} points;

static void point(void)
{
	void (*handler)(void) = points.handler;

	if (points.passed++ != points.at || !handler)
		return;
	points.handler = NULL;
	handler();
}

void fake_at(int64_t n, void (*handler)(void))
{
	points.passed = 0;
	points.at = n;
	points.handler = handler;
}

int64_t fake_points(void)
{
	return points.passed;
}

uint64_t fake_clock(void)
{
	point();
	fake.clock += fake.step;
	return fake.clock + (fake.cpu < KTRACE_MAX_CPUS ? fake.ahead[fake.cpu] : 0);
}

uint32_t fake_cpu(void)
{
	return fake.cpu;
}

uint32_t fake_thread(void)
{
	point();
	fake.thread_reads++;
	fake.unpinned_reads += fake.pins == 0;
	return fake.thread;
}

unsigned long fake_pin(void)
{
	return fake.pins++;
}

void fake_unpin(unsigned long pinned)
{
	fake.pins = (uint32_t)pinned;
}

uintptr_t fake_stack_end(uintptr_t here)
{
	(void)here;
	return fake.stack_end;
}

uint64_t *fake_reserve_word(void)
{
	return &fake.word[fake.cpu];
}

uint64_t fake_add(uint64_t *word, uint64_t n)
{
	uint64_t before;

	point();
	before = *word;
	*word = before + n;
	point();
	return before;
}

int fake_swap(uint64_t *word, uint64_t expected, uint64_t desired)
{
	int same;

	point();
	same = *word == expected;
	if (same)
		*word = desired;
	return same;
}

void fake_publish(uint64_t *word, uint64_t value)
{
	point();
	*word = value;
	point();
}

void fake_barrier(void)
{
	point();
}

/* If *copy is NULL, sets *copy to a saved copy of the data. Otherwise restores the data from *copy. */
static void save_or_restore(void *data, size_t size, void **copy)
{
	if (!*copy) {
		*copy = malloc(size);
		assert_non_null(*copy);
		memcpy(*copy, data, size);
	} else {
		memcpy(data, *copy, size);
	}
}

int fake_reset(void **state)
{
	static void *copies[6];

	(void)state;
	save_or_restore(&ktrace_state, sizeof(ktrace_state), &copies[0]);
	save_or_restore(&ktrace_root, sizeof(ktrace_root), &copies[1]);
	save_or_restore(ktrace_ring, sizeof(ktrace_ring[0]) * KTRACE_RING_ROWS, &copies[2]);
	save_or_restore(ktrace_boot_slot, sizeof(ktrace_boot_slot), &copies[3]);
	save_or_restore(__start_ktrace_events, (size_t)(__stop_ktrace_events - __start_ktrace_events),
			&copies[4]);
	save_or_restore(&ktrace_mailbox, sizeof(ktrace_mailbox), &copies[5]);
	memset(&fake, 0, sizeof(fake));
	fake.clock = UINT64_C(0x123456789a);
	fake.step = 10;
	fake_at(-1, NULL);
	return 0;
}

void fake_boot(uint32_t slots, uint32_t policy, uint32_t counters)
{
	const struct ktrace_memory memory = { fake_memory, sizeof(fake_memory) };
	const struct ktrace_config config = {
		.size = sizeof(config),
		.cpus = FAKE_CPUS,
		.slots = slots,
		.policy = policy,
		.threads = 4,
		.holders = fake.holders ? fake.holders : FAKE_HOLDERS,
		.counters = counters,
		.blocks = 1,
		.memory = &memory,
		.kernel = "fake",
		.folds = fake.folds,
		.rare_slots = fake.rare_slots,
	};

	memset(fake_memory, 0xa5, sizeof(fake_memory));
	assert_int_equal(ktrace_init(&config), KTRACE_OK);
	for (fake.cpu = 0; fake.cpu < FAKE_CPUS; fake.cpu++)
		assert_int_equal(ktrace_cpu_online(fake.cpu), KTRACE_OK);
	fake.cpu = 0;
}

struct ktrx_event *fake_event(const char *name)
{
	for (struct ktrx_event *event = ktrace_event_first(); event; event = ktrace_event_next(event)) {
		const char *group = (const char *)(event + 1);
		char full[64];

		snprintf(full, sizeof(full), "%s.%s", group, group + strlen(group) + 1);
		if (strcmp(full, name) == 0)
			return event;
	}
	fail_msg("no event %s", name);
	return NULL;
}

struct ktrx_place *fake_place(uint32_t id)
{
	for (struct ktrx_place *place = ktrace_place_first(); place; place = ktrace_place_next(place))
		if (place->id == id && place->event != 0)
			return place;
	return NULL;
}

uint32_t fake_event_of(uint32_t id)
{
	const struct ktrx_place *place = fake_place(id);

	return place ? place->event : id;
}
