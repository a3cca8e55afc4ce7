/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The table by which Intel PT finds its output (ToPA): one entry a region, then one that leads back to the
 * first. A region is a power of two of pages, aligned to its size. Those whose end is a multiple of `every`,
 * and the last, interrupt. In a unit that stops, one more has STOP (and interrupts, so that somebody learns
 * of it): the one before the region in which the oldest byte is that nobody has taken.
 */
#include "pt.h"

static uint64_t *table(const struct ktrace_hwt_unit *unit)
{
	return unit->buffer.table;
}

/* The largest region that may begin there. */
static uint64_t region_size(uint64_t physical, uint64_t most)
{
	uint64_t size = KTRACE_PT_TOPA_REGION_MAX;

	while (size > most || physical & (size - 1))
		size /= 2;
	return size;
}

static uint64_t log2_pages(uint64_t size)
{
	return (uint64_t)__builtin_ctzll(size / KTRACE_PT_TOPA_PAGE);
}

static uint64_t interrupts_at(const struct ktrace_hwt_unit *unit, const struct ktrace_hwt_pt_unit *own,
			      uint64_t end)
{
	return own->every && (end % own->every == 0 || end == unit->buffer.size) ? KTRACE_PT_TOPA_INT : 0;
}

/* Bytes from there to where a region has to end. */
static uint64_t to_boundary(const struct ktrace_hwt_pt_unit *own, uint64_t at)
{
	return own->every ? own->every - at % own->every : UINT64_MAX;
}

/* The entries of one piece, which begins at *at in the buffer. */
static int lay_piece(struct ktrace_hwt_unit *unit, const struct ktrace_hwt_piece *piece, uint64_t *at)
{
	struct ktrace_hwt_pt_unit *own = ktrace_hwt_pt_unit(unit);
	uint64_t physical = piece->physical, left = piece->size;

	while (left) {
		uint64_t boundary = to_boundary(own, *at);
		uint64_t size = region_size(physical, left < boundary ? left : boundary);

		/* Room for this one and the one that leads back. */
		if ((own->entries + 2) * sizeof(uint64_t) > unit->buffer.table_size)
			return KTRACE_ERROR_MEMORY;
		*at += size;
		table(unit)[own->entries++] = physical | log2_pages(size) << KTRACE_PT_TOPA_SIZE_SHIFT |
					      interrupts_at(unit, own, *at);
		physical += size;
		left -= size;
	}
	return KTRACE_OK;
}

static int fits(const struct ktrace_hwt_pt *pt, uint64_t physical, uint64_t size)
{
	uint64_t end = UINT64_C(1) << pt->physical_bits;

	return size && physical % KTRACE_PT_TOPA_PAGE == 0 && size % KTRACE_PT_TOPA_PAGE == 0 &&
	       physical < end && size <= end - physical;
}

uint64_t ktrace_hwt_pt_region(const struct ktrace_hwt_unit *unit, const struct ktrace_hwt_pt_cursor *cursor)
{
	return KTRACE_PT_TOPA_REGION_SIZE(table(unit)[cursor->entry]);
}

static void step(struct ktrace_hwt_unit *unit, struct ktrace_hwt_pt_cursor *cursor)
{
	cursor->start += ktrace_hwt_pt_region(unit, cursor);
	if (++cursor->entry == ktrace_hwt_pt_unit(unit)->entries)
		cursor->entry = cursor->start = 0;
}

uint64_t ktrace_hwt_pt_find(struct ktrace_hwt_unit *unit, struct ktrace_hwt_pt_cursor *cursor,
			    uint64_t position)
{
	uint64_t place = position % unit->buffer.size;

	while (place < cursor->start || place - cursor->start >= ktrace_hwt_pt_region(unit, cursor))
		step(unit, cursor);
	return place - cursor->start;
}

int ktrace_hwt_pt_layout(const struct ktrace_hwt_pt *pt, struct ktrace_hwt_unit *unit)
{
	struct ktrace_hwt_pt_unit *own = ktrace_hwt_pt_unit(unit);
	const struct ktrace_hwt_buffer *buffer = &unit->buffer;
	uint64_t at = 0;

	own->entries = 0;
	if (!buffer->table || buffer->table_physical % KTRACE_PT_TOPA_PAGE || buffer->size == 0)
		return KTRACE_ERROR_ARGUMENT;
	for (uint32_t i = 0; i < buffer->pieces; i++) {
		if (!fits(pt, buffer->piece[i].physical, buffer->piece[i].size) ||
		    buffer->piece[i].size > buffer->size - at)
			return KTRACE_ERROR_ARGUMENT;
		int error = lay_piece(unit, &buffer->piece[i], &at);
		if (error)
			return error;
	}
	if (at != buffer->size || !fits(pt, buffer->table_physical, KTRACE_PT_TOPA_PAGE))
		return KTRACE_ERROR_ARGUMENT;
	if (own->entries > 1 && !pt->many_entries)
		return KTRACE_ERROR_ARGUMENT;
	table(unit)[own->entries] = buffer->table_physical | KTRACE_PT_TOPA_END;

	own->at.entry = own->at.start = 0;
	ktrace_hwt_pt_find(unit, &own->at, unit->position);
	own->served.entry = own->served.start = 0;
	own->stop.entry = own->stop.start = 0;
	own->limit = UINT64_MAX;
	if (own->stops)
		ktrace_hwt_pt_place_stop(unit);
	return KTRACE_OK;
}

int ktrace_hwt_pt_advance(struct ktrace_hwt_unit *unit, struct ktrace_hwt_pt_cursor *cursor, uint64_t entry)
{
	if (entry >= ktrace_hwt_pt_unit(unit)->entries)
		return KTRACE_ERROR_DEVICE;
	while (cursor->entry != entry)
		step(unit, cursor);
	return KTRACE_OK;
}

static void mark_stop(struct ktrace_hwt_unit *unit, uint64_t flags)
{
	struct ktrace_hwt_pt_unit *own = ktrace_hwt_pt_unit(unit);
	uint64_t end = own->stop.start + ktrace_hwt_pt_region(unit, &own->stop);
	uint64_t entry = table(unit)[own->stop.entry] & ~(KTRACE_PT_TOPA_STOP | KTRACE_PT_TOPA_INT);

	table(unit)[own->stop.entry] = entry | flags | interrupts_at(unit, own, end);
}

void ktrace_hwt_pt_place_stop(struct ktrace_hwt_unit *unit)
{
	struct ktrace_hwt_pt_unit *own = ktrace_hwt_pt_unit(unit);
	uint64_t last;

	own->limit = unit->served - ktrace_hwt_pt_find(unit, &own->served, unit->served) + unit->buffer.size;
	last = own->served.entry ? own->served.entry - 1 : own->entries - 1;
	mark_stop(unit, 0);
	while (own->stop.entry != last)
		step(unit, &own->stop);
	mark_stop(unit, KTRACE_PT_TOPA_STOP | (own->every ? KTRACE_PT_TOPA_INT : 0));
}
