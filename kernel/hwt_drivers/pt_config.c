/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Computes the registers of Intel PT from a configuration, and the table of regions from a buffer. Every
 * member of a configuration is either applied or refused. Members that only other backends support are
 * refused. So are periods of packets that the configuration does not enable. A period is rounded down to a
 * period that CPUID lists; a period that is shorter than all periods that CPUID lists is rounded up to the
 * shortest of them.
 */
#include "pt.h"

#define KTRACE_FLAGS                                                                                    \
	(KTRACE_HWT_TIME | KTRACE_HWT_MTC | KTRACE_HWT_CYCLES | KTRACE_HWT_SPACE | KTRACE_HWT_RETURNS | \
	 KTRACE_HWT_STOP)

#define KTRACE_PSB_DEFAULT KTRX_U64(4096)
#define KTRACE_PSB_UNIT	   KTRX_U64(2048) /* unit of periods, and the shortest period, in bytes */
#define KTRACE_MTC_DEFAULT KTRX_U64(256)

/*
 * Returns an exponent. If bit n of `values` is set, the exponent n is possible. The result is the largest
 * possible exponent that is at most log2(period). If all possible exponents are above log2(period), the
 * result is the smallest possible exponent.
 */
static uint64_t choose(uint64_t values, uint64_t period)
{
	uint64_t exponent = 63u - (uint64_t)__builtin_clzll(period);
	uint64_t below = values & ((KTRX_U64(2) << exponent) - 1);

	return below ? 63u - (uint64_t)__builtin_clzll(below) : (uint64_t)__builtin_ctzll(values);
}

static uint64_t mtc_field(const struct ktrace_hwt_pt *pt, const struct ktrace_hwt_config *config)
{
	return choose(pt->mtc_periods, config->mtc_period ? config->mtc_period : KTRACE_MTC_DEFAULT);
}

uint8_t ktrace_hwt_pt_mtc_frequency(const struct ktrace_hwt_pt *pt, const struct ktrace_hwt_config *config)
{
	return config->flags & KTRACE_HWT_MTC && pt->mtc ? (uint8_t)mtc_field(pt, config) : 0;
}

/*
 * Returns the value for CYCThresh: n suppresses CYC packets for 2^(n - 1) cycles, 0 suppresses none. The CPU
 * supports the value n if bit n is set in the map that CPUID returns.
 */
static uint64_t cycle_field(const struct ktrace_hwt_pt *pt, const struct ktrace_hwt_config *config)
{
	uint64_t thresholds = pt->cycle_thresholds >> 1;

	return thresholds ? 1 + choose(thresholds, config->cycle_threshold ? config->cycle_threshold : 1) : 0;
}

static uint64_t psb_field(const struct ktrace_hwt_pt *pt, const struct ktrace_hwt_config *config)
{
	uint64_t period = config->psb_period ? config->psb_period : KTRACE_PSB_DEFAULT;

	return choose(pt->psb_periods, period < KTRACE_PSB_UNIT ? 1 : period / KTRACE_PSB_UNIT);
}

/*
 * Returns true if the configuration has members for another backend, a period for packets that the
 * configuration disables, or a period of PSB packets although the CPU has a fixed one.
 */
static int has_unused_options(const struct ktrace_hwt_pt *pt, const struct ktrace_hwt_config *config)
{
	return config->flags & ~KTRACE_FLAGS || config->interval || config->latency || config->events ||
	       (config->mtc_period && !(config->flags & KTRACE_HWT_MTC)) ||
	       (config->cycle_threshold && !(config->flags & KTRACE_HWT_CYCLES)) ||
	       (config->psb_period && !(pt->psb_and_cycles && pt->psb_periods));
}

static int exceeds_features(const struct ktrace_hwt_pt *pt, const struct ktrace_hwt_config *config)
{
	uint64_t space_end = KTRX_U64(1) << pt->physical_bits;

	return (config->flags & KTRACE_HWT_MTC && !(pt->mtc && pt->mtc_periods)) ||
	       (config->flags & KTRACE_HWT_CYCLES && !pt->psb_and_cycles) ||
	       (config->flags & KTRACE_HWT_SPACE &&
		!(pt->cr3_filter && config->space && config->space < space_end));
}

/*
 * Sets the interrupts. Without interrupts it is unknown how often the hardware has wrapped, so the unit must
 * stop when its buffer is full. It must also stop when its buffer is full if the table has a single region
 * and the buffer cannot be padded, because it is not mapped.
 */
static int configure_interrupts(const struct ktrace_hwt_pt *pt, struct ktrace_hwt_unit *unit,
				const struct ktrace_hwt_config *config)
{
	struct ktrace_hwt_pt_unit *own = ktrace_hwt_pt_unit(unit);
	uint64_t size = unit->buffer.size, half = size / 2 / KTRACE_PT_TOPA_PAGE * KTRACE_PT_TOPA_PAGE;

	own->stops = config->flags & KTRACE_HWT_STOP;
	own->alone = !pt->many_entries && !own->stops;
	own->every = 0;
	if (config->interrupt_every % KTRACE_PT_TOPA_PAGE || config->interrupt_every > size)
		return KTRACE_ERROR_ARGUMENT;
	if (!pt->interrupts)
		return own->stops && !config->interrupt_every ? KTRACE_OK : KTRACE_ERROR_ARGUMENT;
	if (own->alone && !unit->buffer.base)
		return KTRACE_ERROR_ARGUMENT;
	if (config->interrupt_every)
		own->every = config->interrupt_every;
	else
		own->every = pt->many_entries && half ? half : size;
	return KTRACE_OK;
}

static int canonical(const struct ktrace_hwt_pt *pt, uint64_t address)
{
	uint64_t high = address >> (pt->linear_bits - 1);

	return high == 0 || high == KTRX_U64_MAX >> (pt->linear_bits - 1);
}

static int configure_ranges(const struct ktrace_hwt_backend *backend, struct ktrace_hwt_pt_unit *own,
			    const struct ktrace_hwt_pt *pt, const struct ktrace_hwt_config *config)
{
	if (config->ranges > backend->ranges)
		return KTRACE_ERROR_ARGUMENT;
	own->ranges = config->ranges;
	for (uint32_t i = 0; i < config->ranges; i++) {
		own->first[i] = config->range[i].start;
		own->last[i] = config->range[i].end - 1;
		if (config->range[i].start >= config->range[i].end || !canonical(pt, own->first[i]) ||
		    !canonical(pt, own->last[i]))
			return KTRACE_ERROR_ARGUMENT;
		own->control |= KTRACE_PT_CTL_RANGE_ONLY(i);
	}
	return KTRACE_OK;
}

static uint64_t control(const struct ktrace_hwt_pt *pt, const struct ktrace_hwt_config *config)
{
	uint64_t value = KTRACE_PT_CTL_TRACE | KTRACE_PT_CTL_TOPA | KTRACE_PT_CTL_BRANCH;

	if (config->level & KTRX_HWT_USER)
		value |= KTRACE_PT_CTL_USER;
	if (config->level & KTRX_HWT_KERNEL_LEVEL)
		value |= KTRACE_PT_CTL_OS;
	if (config->flags & KTRACE_HWT_TIME)
		value |= KTRACE_PT_CTL_TSC;
	if (config->flags & KTRACE_HWT_RETURNS)
		value |= KTRACE_PT_CTL_NO_RET;
	if (config->flags & KTRACE_HWT_SPACE)
		value |= KTRACE_PT_CTL_CR3_FILTER;
	if (config->flags & KTRACE_HWT_MTC)
		value |= KTRACE_PT_CTL_MTC | mtc_field(pt, config) << KTRACE_PT_CTL_MTC_SHIFT;
	if (config->flags & KTRACE_HWT_CYCLES)
		value |= KTRACE_PT_CTL_CYC | cycle_field(pt, config) << KTRACE_PT_CTL_CYC_SHIFT;
	if (pt->psb_and_cycles && pt->psb_periods)
		value |= psb_field(pt, config) << KTRACE_PT_CTL_PSB_SHIFT;
	return value;
}

int ktrace_hwt_pt_config(const struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit,
			 const struct ktrace_hwt_config *config)
{
	const struct ktrace_hwt_pt *pt = (const struct ktrace_hwt_pt *)backend->state;
	struct ktrace_hwt_pt_unit *own = ktrace_hwt_pt_unit(unit);

	if (!config->level || config->level & ~(uint32_t)backend->levels || has_unused_options(pt, config) ||
	    exceeds_features(pt, config))
		return KTRACE_ERROR_ARGUMENT;
	own->control = control(pt, config);
	own->cr3 = config->space & ~KTRACE_PT_CR3_RESERVED;
	if (configure_interrupts(pt, unit, config))
		return KTRACE_ERROR_ARGUMENT;
	return configure_ranges(backend, own, pt, config);
}

/* ---- The table of regions --------------------------------------------------------------------- */

/*
 * The output table of Intel PT (ToPA): one entry for each region, then an entry that leads back to the first.
 * The size of a region is a power of two pages, and the region is aligned to it. A region causes an interrupt
 * if its end is a multiple of `every` or the end of the buffer. In a unit that stops when full, one more
 * region has STOP and causes an interrupt: the region before the one with the oldest byte that the reader has
 * not taken yet.
 */

static uint64_t *table(const struct ktrace_hwt_unit *unit)
{
	return unit->buffer.table;
}

/* Returns the size of the largest region that may begin at the address and has at most `most` bytes. */
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

/* Returns the number of bytes from offset `at` to the next offset at which a region must end. */
static uint64_t to_boundary(const struct ktrace_hwt_pt_unit *own, uint64_t at)
{
	return own->every ? own->every - at % own->every : KTRX_U64_MAX;
}

/* Makes the table entries for the regions of one piece, which begins at offset *at of the buffer. */
static int lay_piece(struct ktrace_hwt_unit *unit, const struct ktrace_hwt_piece *piece, uint64_t *at)
{
	struct ktrace_hwt_pt_unit *own = ktrace_hwt_pt_unit(unit);
	uint64_t physical = piece->physical, left = piece->size;

	while (left) {
		uint64_t boundary = to_boundary(own, *at);
		uint64_t size = region_size(physical, left < boundary ? left : boundary);

		/* There must be room for this entry and for the last entry, which leads back to the first. */
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
	uint64_t end = KTRX_U64(1) << pt->physical_bits;

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
	own->limit = KTRX_U64_MAX;
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
