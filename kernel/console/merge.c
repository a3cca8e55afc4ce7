/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * One cursor for each ring. A cursor has no room for a payload, so it reads each record twice: first for the
 * timestamp, and again when the merge returns the record. If the record was overwritten between the two
 * reads, the cursor moves on to an older record.
 */
#include "line.h"

#include "ktrace/clock.h"

#include "../core/reader.h"
#include "../core/state.h"

/* Converts a timestamp to CPU 0's time, if the offset of the CPU's clock is known. */
static uint64_t common_stamp(const struct ktrace_walk_record *record)
{
	return record->stamp + (uint64_t)ktrace_clock_offset(record->cpu);
}

/*
 * Reads the cursor's next record, and sets the position of the walk just after that record. A newer record
 * that was still being written is never returned: it must not appear later, after older records of other
 * rings.
 */
static void peek(struct ktrace_merge *merge, struct ktrace_merge_cursor *cursor)
{
	cursor->is_pending = ktrace_walk_previous(&cursor->walk, &merge->peeked);
	cursor->index = merge->peeked.index;
	cursor->stamp = common_stamp(&merge->peeked);
	if (cursor->is_pending)
		cursor->walk.head = cursor->index + 1;
}

/*
 * Returns false for a ring whose entry in the ring table is damaged, because its slots could be at any
 * address.
 */
static bool is_sound(const struct ktrx_ring *ring)
{
	return ring->base && ring->shift >= 9 && ring->shift <= 30 &&
	       ring->mask == (KTRX_U32(1) << ring->shift) - 1;
}

void ktrace_merge_start(struct ktrace_merge *merge, uint32_t cpu)
{
	uint32_t rings = 0;
	const struct ktrx_ring *ring;

	ktrace_attach();
	ring = ktrace_root_rings(&ktrace_root, &rings);
	merge->rings = 0;
	merge->overwritten = 0;
	merge->unreadable = 0;
	for (uint32_t i = 0; i < rings && i < KTRACE_RING_ROWS; i++) {
		struct ktrace_merge_cursor *cursor = &merge->cursor[merge->rings];

		if (!is_sound(&ring[i]) ||
		    (cpu != KTRACE_MERGE_ALL && ring[i].kind == KTRX_RING_PER_CPU && ring[i].cpu != cpu))
			continue;
		ktrace_walk_start_newest(&cursor->walk, &ring[i]);
		peek(merge, cursor);
		merge->rings++;
	}
}

static struct ktrace_merge_cursor *newest_cursor(struct ktrace_merge *merge)
{
	struct ktrace_merge_cursor *found = NULL;

	for (uint32_t i = 0; i < merge->rings; i++) {
		struct ktrace_merge_cursor *cursor = &merge->cursor[i];

		if (cursor->is_pending && (!found || (int64_t)(cursor->stamp - found->stamp) >= 0))
			found = cursor;
	}
	return found;
}

/*
 * Reads the cursor's record. Returns false if that record has been overwritten, or is not readable. The
 * cursor then points to the next older record that is readable, which is taken later, in the order of its
 * timestamp.
 */
static bool take_next(struct ktrace_merge_cursor *cursor, struct ktrace_walk_record *record)
{
	if (!ktrace_walk_previous(&cursor->walk, record))
		return false;
	if (record->index == cursor->index) {
		record->stamp = cursor->stamp;
		return true;
	}
	cursor->walk.head = record->index + 1;
	return false;
}

static void add_up(struct ktrace_merge *merge)
{
	merge->overwritten = 0;
	merge->unreadable = 0;
	for (uint32_t i = 0; i < merge->rings; i++) {
		merge->overwritten += merge->cursor[i].walk.overwritten;
		merge->unreadable += merge->cursor[i].walk.unreadable;
	}
}

bool ktrace_merge_next(struct ktrace_merge *merge, struct ktrace_walk_record *record)
{
	struct ktrace_merge_cursor *cursor;
	bool taken = false;

	while (!taken && (cursor = newest_cursor(merge)) != NULL) {
		taken = take_next(cursor, record);
		peek(merge, cursor);
	}
	if (!taken)
		add_up(merge);
	return taken;
}
