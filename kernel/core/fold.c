/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The table in which repetitions of an event are counted instead of recorded. An entry belongs to a CPU, and
 * only the context that holds the entry may change it. A nested context, or a thread that has migrated, may
 * find that another context holds the entry. It then does not wait, but records as usual. So every event is
 * either recorded or counted.
 *
 * Records are compared byte by byte, not by a hash, so different records are never counted as repetitions.
 * The entry contains a copy of the record that is repeated, even long after the record itself has been
 * overwritten.
 *
 * An entry's `sequence` controls access. Bit 0 is set while the entry is held. Bit 1 is set if the entry must
 * become empty on release. The other bits count changes, for readers.
 */
#include "core.h"

#define KTRACE_HELD	 1u
#define KTRACE_FORGOTTEN 2u
#define KTRACE_CHANGE	 4u

void ktrace_fold_open(struct ktrx_fold *fold, uint32_t all, uint32_t rows)
{
	for (uint32_t i = 0; i < all; i++)
		fold[i].cpu = i / rows;
	ktrace_state.fold = fold;
	ktrace_state.folds = rows;
}

/* Takes the entry. Returns 0 if another context holds the entry. */
static int hold(struct ktrx_fold *fold)
{
	uint64_t sequence = *(volatile uint64_t *)&fold->sequence;

	if (sequence & (KTRACE_HELD | KTRACE_FORGOTTEN) ||
	    !ktrace_arch_compare_swap(&fold->sequence, sequence, sequence | KTRACE_HELD))
		return 0;
	__atomic_thread_fence(__ATOMIC_ACQ_REL);
	return 1;
}

static void empty(struct ktrx_fold *fold)
{
	*(volatile uint16_t *)&fold->event = 0;
	*(volatile uint64_t *)&fold->count = 0;
	*(volatile uint64_t *)&fold->last = 0;
}

void ktrace_fold_release(struct ktrx_fold *fold)
{
	uint64_t held = *(volatile uint64_t *)&fold->sequence;

	__atomic_thread_fence(__ATOMIC_ACQ_REL);
	if (!(held & KTRACE_FORGOTTEN) &&
	    ktrace_arch_compare_swap(&fold->sequence, held, held - KTRACE_HELD + KTRACE_CHANGE))
		return;
	empty(fold);
	ktrace_arch_publish(&fold->sequence,
			    (held & ~(uint64_t)(KTRACE_HELD | KTRACE_FORGOTTEN)) + KTRACE_CHANGE);
}

/*
 * Returns the entry that suits the event best. Another context may change the entry before the caller holds
 * it.
 */
static struct ktrx_fold *find(uint32_t cpu, uint16_t event)
{
	struct ktrx_fold *row = &ktrace_state.fold[cpu * ktrace_state.folds], *found = row;

	for (uint32_t i = 0; i < ktrace_state.folds; i++) {
		if (*(volatile uint16_t *)&row[i].event == event)
			return &row[i];
		if (*(volatile uint16_t *)&found->event != 0 &&
		    (*(volatile uint16_t *)&row[i].event == 0 || row[i].last < found->last))
			found = &row[i];
	}
	return found;
}

struct ktrx_fold *ktrace_fold_hold(uint32_t cpu, uint16_t event)
{
	struct ktrx_fold *fold;

	if (ktrace_state.folds == 0)
		return KTRACE_NULL;
	fold = find(cpu, event);
	return hold(fold) ? fold : KTRACE_NULL;
}

static uint32_t words_of(uint32_t bytes)
{
	return (bytes + 3) / 4;
}

int ktrace_fold_is(const struct ktrx_fold *fold, const struct ktrace_pending *pending)
{
	const uint32_t *kept = (const uint32_t *)(const void *)fold->payload;

	if (fold->event != pending->event || fold->second != pending->second ||
	    fold->bytes != pending->bytes || fold->ring != pending->ring || fold->place != pending->place)
		return 0;
	for (uint32_t i = 0; i < words_of(pending->bytes); i++)
		if (kept[i] != pending->payload[i])
			return 0;
	return 1;
}

void ktrace_fold_count(struct ktrx_fold *fold, uint64_t stamp)
{
	if (fold->count == 0)
		*(volatile uint64_t *)&fold->first = stamp;
	*(volatile uint64_t *)&fold->last = stamp;
	*(volatile uint64_t *)&fold->count += 1;
}

void ktrace_fold_set(struct ktrx_fold *fold, const struct ktrace_pending *pending, uint64_t stamp)
{
	volatile uint32_t *kept = (volatile uint32_t *)(void *)fold->payload;

	*(volatile uint64_t *)&fold->count = 0;
	*(volatile uint64_t *)&fold->last = stamp;
	*(volatile uint16_t *)&fold->event = pending->event;
	*(volatile uint16_t *)&fold->place = pending->place;
	*(volatile uint16_t *)&fold->bytes = (uint16_t)pending->bytes;
	*(volatile uint32_t *)&fold->second = pending->second;
	*(volatile uint32_t *)&fold->ring = pending->ring;
	for (uint32_t i = 0; i < words_of(pending->bytes); i++)
		kept[i] = pending->payload[i];
}

void ktrace_fold_clear(void)
{
	for (uint32_t i = 0; i < ktrace_state.cpus * ktrace_state.folds; i++) {
		struct ktrx_fold *fold = &ktrace_state.fold[i];
		uint64_t sequence;

		do {
			sequence = *(volatile uint64_t *)&fold->sequence;
		} while (!ktrace_arch_compare_swap(&fold->sequence, sequence,
						   sequence | KTRACE_HELD | KTRACE_FORGOTTEN));
		if (!(sequence & KTRACE_HELD))
			ktrace_fold_release(fold);
	}
}
