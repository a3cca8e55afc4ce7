/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Memory that holds the trace of several CPUs: an ETF's own, which is read word by word through a register,
 * or a store that an ETR writes. The formatter has mixed their bytes in frames of 16, and says in them whose
 * they are: this takes them apart again and puts each unit's bytes into its buffer. The formatter begins with
 * nobody's bytes each time that it is started, and so does this. The lock is held.
 */
#include "coresight.h"

#define KTRACE_FRAME 16u

struct sorter {
	struct ktrace_coresight *all;
	const struct ktrace_coresight_component *end;
	struct ktrace_hwt_unit *unit; /* of the trace id that has been told last; NULL: nobody's */
	uint64_t at, left;	      /* bytes: the next one in the store, and how many there are still */
};

/* The unit whose trace with that id ends here. */
static struct ktrace_hwt_unit *unit_of(const struct sorter *sorter, uint32_t id)
{
	const struct ktrace_coresight *all = sorter->all;

	for (uint32_t i = 0; i < all->components; i++) {
		const struct ktrace_coresight_component *etm = &all->component[i];

		if (etm->type == KTRACE_CORESIGHT_ETM4 && etm->own.trace_id == id && etm->own.unit &&
		    &all->component[etm->own.path[etm->own.hops - 1].component] == sorter->end)
			return etm->own.unit;
	}
	return KTRACE_NULL;
}

static void put(struct ktrace_hwt_unit *unit, uint8_t byte)
{
	if (!unit)
		return;
	if (ktrace_coresight_request(unit)->stops && unit->position >= unit->served + unit->buffer.size) {
		if (!unit->full)
			unit->lost++;
		unit->full = 1;
		return;
	}
	((uint8_t *)unit->buffer.base)[unit->position++ % unit->buffer.size] = byte;
}

/*
 * Bytes 0, 2, … 14 with bit 0 set are ids; bit 0 of those that are data is in byte 15, a bit each. With an id
 * that bit says that one more byte belongs to the id before.
 */
static void sort(struct sorter *sorter, const uint8_t frame[KTRACE_FRAME])
{
	for (uint32_t i = 0; i < KTRACE_FRAME - 1; i += 2) {
		uint8_t last = frame[KTRACE_FRAME - 1] >> (i / 2) & 1;
		struct ktrace_hwt_unit *before = sorter->unit;

		if (frame[i] & 1) {
			sorter->unit = unit_of(sorter, frame[i] >> 1);
			if (!last)
				before = sorter->unit;
		} else {
			put(before, frame[i] | last);
		}
		if (i + 1 < KTRACE_FRAME - 1)
			put(before, frame[i + 1]);
	}
}

/* Nonzero: it is empty. */
static int next_word(struct sorter *sorter, uint8_t bytes[4])
{
	const struct ktrace_hwt_buffer *store = sorter->end->store;
	uint32_t word;

	if (sorter->left == 0)
		return 1;
	sorter->left -= 4;
	if (store) {
		word = *(const volatile uint32_t *)((const uint8_t *)store->base + sorter->at);
		sorter->at = (sorter->at + 4) % store->size;
	} else {
		word = ktrace_coresight_read(sorter->all, sorter->end, KTRACE_TMC_RRD);
		if (word == KTRACE_RRD_EMPTY)
			return 1;
	}
	for (uint32_t i = 0; i < 4; i++)
		bytes[i] = (uint8_t)(word >> 8 * i);
	return 0;
}

static void empty(struct sorter *sorter)
{
	uint8_t frame[KTRACE_FRAME];
	uint32_t filled = 0;

	while (!next_word(sorter, frame + filled)) {
		filled += 4;
		if (filled == KTRACE_FRAME) {
			sort(sorter, frame);
			filled = 0;
		}
	}
}

/* How much there is to be sorted. Stopped. */
static int look(struct sorter *sorter)
{
	if (sorter->end->store)
		return ktrace_coresight_etr_stored(sorter->all, sorter->end, &sorter->at, &sorter->left);
	sorter->left = (uint64_t)ktrace_coresight_read(sorter->all, sorter->end, KTRACE_TMC_RSZ) * 4;
	return KTRACE_OK;
}

/* For all that trace into it: the counts are right, and what has wrapped away before it was read is lost. */
static void account(const struct sorter *sorter, uint32_t status)
{
	for (uint32_t id = 0; id < 0x80; id++) {
		struct ktrace_hwt_unit *unit = unit_of(sorter, id);

		if (!unit)
			continue;
		ktrace_coresight_wraps(unit);
		unit->lost += (status & KTRACE_STS_FULL) != 0;
	}
}

int ktrace_coresight_collect_start(struct ktrace_coresight *all, const struct ktrace_coresight_component *end)
{
	return end->store ? ktrace_coresight_etr_start_store(all, end) : ktrace_coresight_etf_start(all, end);
}

int ktrace_coresight_collect(struct ktrace_coresight *all, const struct ktrace_coresight_component *end)
{
	struct sorter sorter;
	int error = ktrace_coresight_tmc_stop(all, end), off;

	sorter.all = all;
	sorter.end = end;
	sorter.unit = KTRACE_NULL;
	sorter.at = 0;
	sorter.left = 0;
	if (!error)
		error = look(&sorter);
	if (!error) {
		uint32_t status = ktrace_coresight_read(all, end, KTRACE_TMC_STS);

		empty(&sorter);
		account(&sorter, status);
	}
	off = ktrace_coresight_tmc_off(all, end);
	if (!error)
		error = off;
	if (!error && end->own.users > 0)
		error = ktrace_coresight_collect_start(all, end);
	return error;
}
