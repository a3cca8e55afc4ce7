/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * An ETF that keeps the trace of several CPUs in its own memory is emptied word by word through a register. Its formatter
 * has mixed their bytes in frames of 16, and says in them whose they are: this takes them apart again and puts each unit's
 * bytes into its buffer. The formatter begins with nobody's bytes each time that it is started, and so does this. The lock
 * is held.
 */
#include "coresight.h"

#define FRAME 16u

/* Of the trace id that has been told last. */
struct sorter {
	struct ktrace_coresight *all;
	const struct ktrace_coresight_component *etf;
	struct ktrace_hwt_unit *unit; /* NULL: nobody's */
};

/* The unit whose trace with that id ends in this ETF. */
static struct ktrace_hwt_unit *unit_of(const struct sorter *sorter, uint32_t id)
{
	const struct ktrace_coresight *all = sorter->all;

	for (uint32_t i = 0; i < all->components; i++) {
		const struct ktrace_coresight_component *etm = &all->component[i];

		if (etm->type == KTRACE_CORESIGHT_ETM4 && etm->own.trace_id == id && etm->own.unit &&
		    &all->component[etm->own.path[etm->own.hops - 1].component] == sorter->etf)
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
 * Bytes 0, 2, … 14 with bit 0 set are ids; bit 0 of those that are data is in byte 15, a bit each. With an id that bit says
 * that one more byte belongs to the id before.
 */
static void sort(struct sorter *sorter, const uint8_t frame[FRAME])
{
	for (uint32_t i = 0; i < FRAME - 1; i += 2) {
		uint8_t last = frame[FRAME - 1] >> (i / 2) & 1;
		struct ktrace_hwt_unit *before = sorter->unit;

		if (frame[i] & 1) {
			sorter->unit = unit_of(sorter, frame[i] >> 1);
			if (!last)
				before = sorter->unit;
		} else {
			put(before, frame[i] | last);
		}
		if (i + 1 < FRAME - 1)
			put(before, frame[i + 1]);
	}
}

/* Nonzero: there is no whole frame any more. */
static int next_frame(const struct sorter *sorter, uint8_t frame[FRAME])
{
	for (uint32_t i = 0; i < FRAME; i += 4) {
		uint32_t word = ktrace_coresight_read(sorter->all, sorter->etf, TMC_RRD);

		if (word == RRD_EMPTY)
			return 1;
		for (uint32_t byte = 0; byte < 4; byte++)
			frame[i + byte] = (uint8_t)(word >> 8 * byte);
	}
	return 0;
}

static void empty(struct sorter *sorter)
{
	uint32_t frames = ktrace_coresight_read(sorter->all, sorter->etf, TMC_RSZ) / (FRAME / 4);
	uint8_t frame[FRAME];

	while (frames-- > 0 && !next_frame(sorter, frame))
		sort(sorter, frame);
}

/* For all that trace into it: the counts are right, and what has wrapped away before it was read is lost. */
static void account(const struct sorter *sorter, uint32_t status)
{
	for (uint32_t id = 0; id < 0x80; id++) {
		struct ktrace_hwt_unit *unit = unit_of(sorter, id);

		if (!unit)
			continue;
		ktrace_coresight_wraps(unit);
		unit->lost += (status & STS_FULL) != 0;
	}
}

int ktrace_coresight_collect(struct ktrace_coresight *all, struct ktrace_coresight_component *etf)
{
	struct sorter sorter;
	int error = ktrace_coresight_tmc_stop(all, etf), off;

	sorter.all = all;
	sorter.etf = etf;
	sorter.unit = KTRACE_NULL;
	if (!error) {
		uint32_t status = ktrace_coresight_read(all, etf, TMC_STS);

		empty(&sorter);
		account(&sorter, status);
	}
	off = ktrace_coresight_tmc_off(all, etf);
	if (!error)
		error = off;
	if (!error && etf->own.users > 0)
		error = ktrace_coresight_etf_start(all, etf);
	return error;
}
