/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Computes the registers of SPE from a configuration. Every member of a configuration is either applied or
 * refused. No filter is enabled with an empty selection; the manual requires this.
 */
#include "spe.h"

#define KTRACE_TYPES (KTRACE_HWT_LOADS | KTRACE_HWT_STORES | KTRACE_HWT_BRANCHES)
#define KTRACE_FLAGS (KTRACE_HWT_TIME | KTRACE_HWT_STOP | KTRACE_HWT_JITTER | KTRACE_TYPES)

#define KTRACE_INTERVAL_DEFAULT 4096u

/*
 * Returns the shortest interval, from PMSIDR_EL1.Interval; 0 if the manual does not define the register's
 * value.
 */
static uint32_t least_interval(const struct ktrace_hwt_spe *spe)
{
	static const uint16_t least[16] = { 256, 0, 512, 768, 1024, 1536, 2048, 3072, 4096 };

	return least[KTRACE_SPE_PMSIDR_INTERVAL(spe->id)];
}

static uint32_t most_latency(const struct ktrace_hwt_spe *spe)
{
	return KTRACE_SPE_PMSIDR_COUNT_SIZE(spe->id) >= KTRACE_SPE_PMSIDR_COUNT_16 ? 0xffff : 0xfff;
}

/*
 * Returns the events that this version of SPE can use for filters: the events of the architecture, and the
 * implementation-defined events.
 */
static uint64_t known_events(const struct ktrace_hwt_spe *spe)
{
	uint64_t events = KTRX_U64(0xffff0000ff00f0aa);

	if (spe->version >= 2)
		events |= KTRX_U64(1) << 11 | KTRX_U64(1) << 17 | KTRX_U64(1) << 18;
	if (spe->version >= 3)
		events |= KTRX_U64(1) << 6;
	return events;
}

static int has_unused_options(const struct ktrace_hwt_config *config)
{
	return config->flags & ~KTRACE_FLAGS || config->ranges || config->psb_period || config->mtc_period ||
	       config->cycle_threshold;
}

static int exceeds_features(const struct ktrace_hwt_spe *spe, const struct ktrace_hwt_config *config)
{
	return (config->events && !(spe->id & KTRACE_SPE_PMSIDR_EVENT)) ||
	       config->events & ~known_events(spe) ||
	       (config->flags & KTRACE_TYPES && !(spe->id & KTRACE_SPE_PMSIDR_TYPE)) ||
	       (config->latency && !(spe->id & KTRACE_SPE_PMSIDR_LATENCY)) ||
	       config->latency > most_latency(spe);
}

/* Returns ARGUMENT if the requested interval is shorter than the shortest one that the hardware supports. */
static int configure_interval(const struct ktrace_hwt_spe *spe, struct ktrace_hwt_spe_unit *own,
			      const struct ktrace_hwt_config *config)
{
	uint64_t interval = config->interval ? config->interval : KTRACE_INTERVAL_DEFAULT;
	uint64_t units = (interval + KTRACE_SPE_PMSIRR_UNIT / 2) / KTRACE_SPE_PMSIRR_UNIT;

	if (interval < least_interval(spe))
		return KTRACE_ERROR_ARGUMENT;
	if (units == 0)
		units = 1;
	if (units > KTRACE_SPE_PMSIRR_UNITS_MOST)
		units = KTRACE_SPE_PMSIRR_UNITS_MOST;
	own->interval = units << KTRACE_SPE_PMSIRR_UNITS_SHIFT;
	if (config->flags & KTRACE_HWT_JITTER)
		own->interval |= KTRACE_SPE_PMSIRR_RANDOM;
	own->counter = 0; /* 0: when sampling begins, the hardware loads the counter from `interval` */
	return KTRACE_OK;
}

static int configure_portions(struct ktrace_hwt_unit *unit, const struct ktrace_hwt_config *config)
{
	struct ktrace_hwt_spe_unit *own = ktrace_hwt_spe_unit(unit);
	uint64_t half = unit->buffer.size / 2 / KTRACE_SPE_PAGE * KTRACE_SPE_PAGE;

	if (config->interrupt_every % KTRACE_SPE_PAGE || config->interrupt_every > unit->buffer.size)
		return KTRACE_ERROR_ARGUMENT;
	own->stops = config->flags & KTRACE_HWT_STOP;
	if (config->interrupt_every)
		own->portion = config->interrupt_every;
	else
		own->portion = half ? half : unit->buffer.size;
	return KTRACE_OK;
}

static uint64_t control(const struct ktrace_hwt_config *config)
{
	uint64_t value = KTRACE_SPE_PMSCR_CONTEXT;

	if (config->level & KTRX_HWT_USER)
		value |= KTRACE_SPE_PMSCR_USER;
	if (config->level & KTRX_HWT_KERNEL_LEVEL)
		value |= KTRACE_SPE_PMSCR_KERNEL;
	if (config->flags & KTRACE_HWT_TIME)
		value |= KTRACE_SPE_PMSCR_TIME;
	return value;
}

static uint64_t filters(const struct ktrace_hwt_config *config)
{
	uint64_t value = 0;

	if (config->events)
		value |= KTRACE_SPE_PMSFCR_EVENT;
	if (config->latency)
		value |= KTRACE_SPE_PMSFCR_LATENCY;
	if (config->flags & KTRACE_TYPES)
		value |= KTRACE_SPE_PMSFCR_TYPE;
	if (config->flags & KTRACE_HWT_BRANCHES)
		value |= KTRACE_SPE_PMSFCR_BRANCHES;
	if (config->flags & KTRACE_HWT_LOADS)
		value |= KTRACE_SPE_PMSFCR_LOADS;
	if (config->flags & KTRACE_HWT_STORES)
		value |= KTRACE_SPE_PMSFCR_STORES;
	return value;
}

int ktrace_hwt_spe_config(const struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit,
			  const struct ktrace_hwt_config *config)
{
	const struct ktrace_hwt_spe *spe = (const struct ktrace_hwt_spe *)backend->state;
	struct ktrace_hwt_spe_unit *own = ktrace_hwt_spe_unit(unit);

	if (!config->level || config->level & ~(uint32_t)backend->levels || has_unused_options(config) ||
	    exceeds_features(spe, config) || configure_interval(spe, own, config) ||
	    configure_portions(unit, config))
		return KTRACE_ERROR_ARGUMENT;
	own->filters = filters(config);
	own->events = config->events;
	own->latency = config->latency;
	own->control = control(config);
	return KTRACE_OK;
}
