/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Trace units of the ETMv4 architecture, and memory-mapped ETEs, which are compatible. A unit is programmed
 * only while it is disabled and idle: unlock it, clear TRCPRGCTLR.EN, wait for TRCSTATR.IDLE, write all
 * relevant registers, set EN, and wait until it is not idle. Only code on the unit's CPU does this, so no
 * lock is needed.
 *
 * A configuration is computed once for all CPUs, from the features that all units have. Exception levels and
 * registers that a certain unit lacks are left out when that unit is started.
 */
#include "coresight.h"

#define KTRACE_SYNC_LEAST   8u /* the shortest and the longest period, as exponents of two */
#define KTRACE_SYNC_MOST    20u
#define KTRACE_SYNC_DEFAULT 12u
#define KTRACE_CYCLES_MOST  0xfffu

/* Masks of exception levels, with the bits of IDR3_LEVELS: secure EL0 to 3, then non-secure EL0 to 3. */
#define KTRACE_LEVELS_USER 0x11u
#define KTRACE_LEVELS_EL1  0x22u
#define KTRACE_LEVELS_EL2  0x44u

/* ---- Features of a trace unit ------------------------------------------------------------------ */

static int unlock(const struct ktrace_coresight *all, const struct ktrace_coresight_component *etm)
{
	ktrace_coresight_unlock(all, etm);
	ktrace_coresight_write(all, etm, KTRACE_TRCOSLAR, 0);
	(all->access->barrier)();
	return ktrace_coresight_poll(all, etm, KTRACE_TRCOSLSR, KTRACE_OSLSR_OSLK, 0);
}

const char *ktrace_coresight_etm_find(const struct ktrace_coresight *all,
				      struct ktrace_coresight_component *etm)
{
	uint32_t major;

	if (unlock(all, etm))
		return "a trace unit stays locked";
	for (uint32_t i = 0; i < 8; i++)
		etm->own.idr[i] = ktrace_coresight_read(all, etm, KTRACE_TRCIDR0 + 4 * i);
	for (uint32_t i = 8; i < 14; i++)
		etm->own.idr[i] = ktrace_coresight_read(all, etm, KTRACE_TRCIDR8 + 4 * (i - 8));
	major = KTRACE_IDR1_MAJOR(etm->own.idr[1]);
	etm->own.devarch = major == KTRACE_MAJOR_ETE ? ktrace_coresight_read(all, etm, KTRACE_TRCDEVARCH) : 0;
	if (major != KTRACE_MAJOR_ETM4 && KTRACE_DEVARCH_TYPE(etm->own.devarch) != KTRACE_DEVARCH_ETE)
		return "a trace unit is neither an ETMv4 nor an ETE";
	return KTRACE_NULL;
}

/* ---- Computing register values ----------------------------------------------------------------- */

static uint32_t sync_exponent(uint32_t bytes)
{
	uint32_t exponent = KTRACE_SYNC_LEAST;

	if (bytes == 0)
		return KTRACE_SYNC_DEFAULT;
	while (exponent < KTRACE_SYNC_MOST && KTRX_U32(1) << exponent < bytes)
		exponent++;
	return exponent;
}

/* At EL2 the architecture calls the kernel's context id a virtual context id. */
static uint32_t context_bits(const struct ktrace_coresight *all, const struct ktrace_coresight_found *found)
{
	if (all->kernel_at_el2)
		return found->vmids ? KTRACE_CONFIGR_VMID | KTRACE_CONFIGR_VMIDOPT : 0;
	return found->contexts ? KTRACE_CONFIGR_CID : 0;
}

uint32_t ktrace_coresight_etm_configr(const struct ktrace_coresight *all,
				      const struct ktrace_coresight_found *found,
				      const struct ktrace_hwt_config *config)
{
	uint32_t configr = KTRACE_CONFIGR_RES1 | context_bits(all, found);

	if (config->flags & KTRACE_HWT_TIME)
		configr |= KTRACE_CONFIGR_TS;
	if (config->flags & KTRACE_HWT_CYCLES)
		configr |= KTRACE_CONFIGR_CCI;
	if (found->returns && !(config->flags & KTRACE_HWT_RETURNS))
		configr |= KTRACE_CONFIGR_RS;
	return configr;
}

static uint32_t levels_of(const struct ktrace_coresight *all, const struct ktrace_hwt_unit *unit,
			  const struct ktrace_hwt_config *config)
{
	uint32_t level = config->level, levels = 0;

	if (level == 0)
		level = unit->mode == KTRX_HWT_MODE_THREAD ? KTRX_HWT_USER : KTRX_HWT_KERNEL_LEVEL;
	if (level & KTRX_HWT_USER)
		levels |= KTRACE_LEVELS_USER;
	if (level & KTRX_HWT_KERNEL_LEVEL)
		levels |= all->kernel_at_el2 ? KTRACE_LEVELS_EL2 : KTRACE_LEVELS_EL1;
	return levels;
}

/* Returns true if the configuration needs features that the units lack. */
static int exceeds_features(const struct ktrace_coresight *all, const struct ktrace_coresight_found *found,
			    const struct ktrace_hwt_config *config)
{
	const uint32_t known =
		KTRACE_HWT_TIME | KTRACE_HWT_CYCLES | KTRACE_HWT_SPACE | KTRACE_HWT_RETURNS | KTRACE_HWT_STOP;
	uint32_t comparators = all->kernel_at_el2 ? found->vmid_comparators : found->context_comparators;

	return (config->flags & ~known) != 0 ||
	       (config->level & ~(uint32_t)(KTRX_HWT_USER | KTRX_HWT_KERNEL_LEVEL)) != 0 ||
	       config->ranges > KTRACE_HWT_RANGES_MAX || config->ranges > found->pairs ||
	       ((config->flags & KTRACE_HWT_TIME) && !found->timestamps) ||
	       ((config->flags & KTRACE_HWT_CYCLES) && !found->cycles) ||
	       config->cycle_threshold > KTRACE_CYCLES_MOST ||
	       ((config->flags & KTRACE_HWT_SPACE) &&
		(comparators == 0 || found->pairs == 0 || config->space == 0)) ||
	       config->interval != 0 || config->latency != 0 || config->events != 0 ||
	       config->interrupt_every != 0;
}

/*
 * Sets the address ranges. A pair of comparators matches all addresses from the first to the last, inclusive.
 * A context can be compared only together with an address. So if the configuration has no ranges, one range
 * that covers all addresses is set.
 */
static int set_ranges(const struct ktrace_coresight *all, struct ktrace_coresight_request *request,
		      const struct ktrace_hwt_config *config)
{
	request->ranges = config->ranges;
	for (uint32_t i = 0; i < config->ranges; i++) {
		if (config->range[i].start >= config->range[i].end)
			return KTRACE_ERROR_ARGUMENT;
		request->first[i] = config->range[i].start;
		request->last[i] = config->range[i].end - 1;
	}
	request->acatr = 0;
	if (!(config->flags & KTRACE_HWT_SPACE))
		return KTRACE_OK;
	request->acatr = all->kernel_at_el2 ? KTRACE_ACATR_VMID : KTRACE_ACATR_CONTEXT;
	request->context = config->space;
	if (config->ranges == 0) {
		request->ranges = 1;
		request->first[0] = 0;
		request->last[0] = KTRX_U64_MAX;
	}
	return KTRACE_OK;
}

int ktrace_coresight_etm_configure(const struct ktrace_coresight *all,
				   const struct ktrace_coresight_found *found, struct ktrace_hwt_unit *unit,
				   const struct ktrace_hwt_config *config)
{
	struct ktrace_coresight_request *request = ktrace_coresight_request(unit);

	if (exceeds_features(all, found, config))
		return KTRACE_ERROR_ARGUMENT;
	request->configr = ktrace_coresight_etm_configr(all, found, config);
	request->syncpr = sync_exponent(config->psb_period);
	request->ccctlr =
		config->cycle_threshold > found->cycle_least ? config->cycle_threshold : found->cycle_least;
	request->levels = levels_of(all, unit, config);
	request->stops = config->flags & KTRACE_HWT_STOP;
	return set_ranges(all, request, config);
}

/* ---- Writing the registers of a trace unit ----------------------------------------------------- */

static void write_wide(const struct ktrace_coresight *all, const struct ktrace_coresight_component *etm,
		       uint32_t offset, uint64_t value)
{
	ktrace_coresight_write(all, etm, offset, (uint32_t)value);
	ktrace_coresight_write(all, etm, offset + 4, (uint32_t)(value >> 32));
}

/* Returns those exception levels of the unit that are not to be traced. */
static uint32_t excluded(const struct ktrace_coresight_component *etm,
			 const struct ktrace_coresight_request *request)
{
	return KTRACE_IDR3_LEVELS(etm->own.idr[3]) & ~request->levels;
}

static void program_trace(const struct ktrace_coresight *all, const struct ktrace_coresight_component *etm,
			  const struct ktrace_coresight_request *request)
{
	const uint32_t *idr = etm->own.idr;

	ktrace_coresight_write(all, etm, KTRACE_TRCCONFIGR, request->configr);
	ktrace_coresight_write(all, etm, KTRACE_TRCEVENTCTL0R, 0);
	ktrace_coresight_write(all, etm, KTRACE_TRCEVENTCTL1R, 0);
	if (idr[3] & KTRACE_IDR3_STALLCTL)
		ktrace_coresight_write(all, etm, KTRACE_TRCSTALLCTLR, 0);
	if (KTRACE_IDR0_TSSIZE(idr[0]))
		ktrace_coresight_write(all, etm, KTRACE_TRCTSCTLR, 0);
	if (!(idr[3] & KTRACE_IDR3_SYNCPR))
		ktrace_coresight_write(all, etm, KTRACE_TRCSYNCPR, request->syncpr);
	if (idr[0] & KTRACE_IDR0_CCI)
		ktrace_coresight_write(all, etm, KTRACE_TRCCCCTLR, request->ccctlr);
	ktrace_coresight_write(all, etm, KTRACE_TRCTRACEIDR, etm->own.trace_id);
}

static void program_filter(const struct ktrace_coresight *all, const struct ktrace_coresight_component *etm,
			   const struct ktrace_coresight_request *request)
{
	uint32_t levels = excluded(etm, request);

	ktrace_coresight_write(all, etm, KTRACE_TRCVICTLR,
			       KTRACE_VICTLR_ALWAYS | KTRACE_VICTLR_SSSTATUS | levels << KTRACE_VICTLR_LEVEL);
	ktrace_coresight_write(all, etm, KTRACE_TRCVIIECTLR, (1u << request->ranges) - 1);
	ktrace_coresight_write(all, etm, KTRACE_TRCVISSCTLR, 0);
	for (uint32_t i = 0; i < request->ranges; i++) {
		write_wide(all, etm, KTRACE_TRCACVR(2 * i), request->first[i]);
		write_wide(all, etm, KTRACE_TRCACVR(2 * i + 1), request->last[i]);
		write_wide(all, etm, KTRACE_TRCACATR(2 * i), request->acatr | levels << KTRACE_ACATR_LEVEL);
		write_wide(all, etm, KTRACE_TRCACATR(2 * i + 1),
			   request->acatr | levels << KTRACE_ACATR_LEVEL);
	}
	if (request->acatr & KTRACE_ACATR_CONTEXT) {
		write_wide(all, etm, KTRACE_TRCCIDCVR(0), request->context & KTRX_U32_MAX);
		ktrace_coresight_write(all, etm, KTRACE_TRCCIDCCTLR0, 0);
	}
	if (request->acatr & KTRACE_ACATR_VMID) {
		write_wide(all, etm, KTRACE_TRCVMIDCVR(0), request->context & KTRX_U32_MAX);
		ktrace_coresight_write(all, etm, KTRACE_TRCVMIDCCTLR0, 0);
	}
}

static int disable(const struct ktrace_coresight *all, const struct ktrace_coresight_component *etm)
{
	ktrace_coresight_write(all, etm, KTRACE_TRCPRGCTLR, 0);
	(all->access->barrier)();
	return ktrace_coresight_poll(all, etm, KTRACE_TRCSTATR, KTRACE_STATR_IDLE, KTRACE_STATR_IDLE);
}

int ktrace_coresight_etm_start(const struct ktrace_coresight *all,
			       const struct ktrace_coresight_component *etm,
			       const struct ktrace_coresight_request *request)
{
	int error = unlock(all, etm);

	if (error)
		return error;
	ktrace_coresight_write(all, etm, KTRACE_TRCPDCR, KTRACE_PDCR_PU);
	error = disable(all, etm);
	if (error)
		return error;
	program_trace(all, etm, request);
	program_filter(all, etm, request);
	(all->access->barrier)();
	ktrace_coresight_write(all, etm, KTRACE_TRCPRGCTLR, KTRACE_PRGCTLR_EN);
	(all->access->barrier)();
	error = ktrace_coresight_poll(all, etm, KTRACE_TRCSTATR, KTRACE_STATR_IDLE, 0);
	if (error)
		disable(all, etm);
	return error;
}

int ktrace_coresight_etm_stop(const struct ktrace_coresight *all,
			      const struct ktrace_coresight_component *etm)
{
	int error;

	(all->access->barrier)();
	error = disable(all, etm);
	ktrace_coresight_write(all, etm, KTRACE_TRCPDCR, 0);
	return error;
}
