/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The backend `coresight`. Enabling starts the components in this order: the memory controller at the end of
 * the path, then the links, then the trace unit. Disabling stops them in the opposite order, and flushes the
 * data that is still in the components:
 *
 *	init        checks the description, finds paths, reads the features of components
 *	unit_init   builds a scatter list, if an ETR writes into the buffer
 *	configure   computes register values, from the features of all trace units
 *	enable      end, links, trace unit
 *	disable     trace unit, flush and stop of the end, links
 */
#include "coresight.h"

static struct ktrace_coresight *all_of(const struct ktrace_hwt_backend *backend)
{
	return (struct ktrace_coresight *)(uintptr_t)backend->access;
}

static void lock(struct ktrace_coresight *all)
{
	while (!ktrace_arch_compare_swap(&all->lock, 0, 1))
		;
	/* accesses after this line cannot be moved to before the lock was taken */
	ktrace_arch_clock_fence();
}

static void unlock(struct ktrace_coresight *all)
{
	ktrace_arch_publish(&all->lock, 0);
}

/* Returns the trace unit of that CPU; NULL if the CPU has none. */
static struct ktrace_coresight_component *etm_of(struct ktrace_coresight *all, uint32_t cpu)
{
	for (uint32_t i = 0; i < all->components; i++)
		if (all->component[i].type == KTRACE_CORESIGHT_ETM4 && all->component[i].cpu == cpu)
			return &all->component[i];
	return KTRACE_NULL;
}

static struct ktrace_coresight_component *end_of(struct ktrace_coresight *all,
						 const struct ktrace_coresight_component *etm)
{
	return &all->component[etm->own.path[etm->own.hops - 1].component];
}

/* ---- Initialisation of the backend ------------------------------------------------------------- */

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Removes the features that this trace unit does not have from the common features. */
static void intersect(struct ktrace_coresight_found *found, const struct ktrace_coresight_component *etm)
{
	const uint32_t *idr = etm->own.idr;

	found->pairs = smaller(found->pairs, KTRACE_IDR4_PAIRS(idr[4]));
	found->context_comparators = smaller(found->context_comparators, KTRACE_IDR4_CIDC(idr[4]));
	found->vmid_comparators = smaller(found->vmid_comparators, KTRACE_IDR4_VMIDC(idr[4]));
	found->contexts &= KTRACE_IDR2_CIDSIZE(idr[2]) != 0;
	found->vmids &= KTRACE_IDR2_VMIDSIZE(idr[2]) >= 4 && KTRACE_IDR2_VMIDOPT(idr[2]) != 0;
	found->timestamps &= KTRACE_IDR0_TSSIZE(idr[0]) != 0;
	found->cycles &= (idr[0] & KTRACE_IDR0_CCI) != 0;
	found->returns &= (idr[0] & KTRACE_IDR0_RETSTACK) != 0;
	if (KTRACE_IDR3_CCITMIN(idr[3]) > found->cycle_least)
		found->cycle_least = KTRACE_IDR3_CCITMIN(idr[3]);
}

static const char *find_features(struct ktrace_coresight *all, struct ktrace_coresight_found *found)
{
	found->first = all->components;
	found->pairs = found->context_comparators = found->vmid_comparators = KTRX_U32_MAX;
	found->contexts = found->vmids = found->timestamps = found->cycles = found->returns = 1;
	found->cycle_least = 1;
	found->scatters = 1;
	for (uint32_t i = 0; i < all->components; i++) {
		struct ktrace_coresight_component *one = &all->component[i];
		const char *why = KTRACE_NULL;

		if (one->type == KTRACE_CORESIGHT_ETM4) {
			why = ktrace_coresight_etm_find(all, one);
			intersect(found, one);
			if (found->first == all->components)
				found->first = i;
		} else if (one->type == KTRACE_CORESIGHT_ETF || one->type == KTRACE_CORESIGHT_ETR) {
			why = ktrace_coresight_tmc_find(all, one);
			found->scatters &= one->type == KTRACE_CORESIGHT_ETF || one->own.scatters;
		}
		if (why)
			return why;
	}
	found->collected = all->component[found->first].own.collected;
	return KTRACE_NULL;
}

/*
 * Returns true if threads can be traced. Threads are switched in and out, so the trace of a thread must be
 * able to continue where it stopped.
 */
static int supports_threads(struct ktrace_coresight *all)
{
	for (uint32_t i = 0; i < all->components; i++)
		if (all->component[i].type == KTRACE_CORESIGHT_ETM4 && !all->component[i].own.collected &&
		    !(end_of(all, &all->component[i])->flags & KTRACE_CORESIGHT_RESTORE))
			return 0;
	return 1;
}

static int coresight_init(struct ktrace_hwt_backend *backend)
{
	struct ktrace_coresight *all = all_of(backend);
	struct ktrace_coresight_found *found = ktrace_coresight_found(backend);
	const char *why = ktrace_coresight_graph(all);

	if (!why)
		why = find_features(all, found);
	backend->why = why;
	if (why)
		return KTRACE_ERROR_DEVICE;
	backend->ranges = smaller(found->pairs, KTRACE_HWT_RANGES_MAX);
	backend->modes = 1u << KTRX_HWT_MODE_CPU;
	if (supports_threads(all))
		backend->modes |= 1u << KTRX_HWT_MODE_THREAD;
	return KTRACE_OK;
}

static void coresight_deinit(struct ktrace_hwt_backend *backend)
{
	backend->ranges = 0;
}

static int coresight_cpu_init(struct ktrace_hwt_backend *backend, uint32_t cpu)
{
	return etm_of(all_of(backend), cpu) ? KTRACE_OK : KTRACE_ERROR_DEVICE;
}

/* ---- Making and configuring a unit ------------------------------------------------------------- */

static int coresight_unit_init(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit)
{
	const struct ktrace_coresight_found *found = ktrace_coresight_found(backend);
	uint64_t size = 0;

	for (uint32_t i = 0; i < unit->buffer.pieces; i++)
		size += unit->buffer.piece[i].size;
	if (size == 0 || size != unit->buffer.size)
		return KTRACE_ERROR_ARGUMENT;
	if (found->collected)
		return unit->buffer.base ? KTRACE_OK : KTRACE_ERROR_MEMORY;
	return ktrace_coresight_etr_lend(found, unit);
}

static void coresight_unit_free(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit)
{
	(void)backend;
	ktrace_coresight_request(unit)->configr = 0;
}

/*
 * Checks the configuration. A unit can stop when its buffer is full only if the CPU copies the trace into the
 * buffer. An ETR that writes into the buffer itself always wraps around.
 */
static int coresight_configure(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit,
			       const struct ktrace_hwt_config *config)
{
	const struct ktrace_coresight_found *found = ktrace_coresight_found(backend);

	if ((config->flags & KTRACE_HWT_STOP) && !found->collected)
		return KTRACE_ERROR_ARGUMENT;
	return ktrace_coresight_etm_configure(all_of(backend), found, unit, config);
}

/* ---- Operations on the CPU that is traced ------------------------------------------------------ */

/*
 * Starts the component at the end of the trace for this unit; if the component is already in use for other
 * units, adds this unit.
 * Requires: the lock is held.
 */
static int begin_end(struct ktrace_coresight *all, struct ktrace_coresight_component *etm,
		     struct ktrace_hwt_unit *unit)
{
	struct ktrace_coresight_component *end = end_of(all, etm);
	int error = KTRACE_OK;

	if (etm->own.unit || (!etm->own.collected && end->own.unit))
		return KTRACE_ERROR_BUSY;
	if (!etm->own.collected)
		error = ktrace_coresight_etr_start(all, end, unit);
	else if (end->own.users == 0)
		error = ktrace_coresight_collect_start(all, end);
	if (error)
		return error;
	end->own.users++;
	if (!etm->own.collected)
		end->own.unit = unit;
	etm->own.unit = unit;
	return KTRACE_OK;
}

/*
 * Stops the component at the end of the trace for this unit. Afterwards the unit's bytes are in its buffer.
 * Requires: the lock is held.
 */
static int finish_end(struct ktrace_coresight *all, struct ktrace_coresight_component *etm,
		      struct ktrace_hwt_unit *unit)
{
	struct ktrace_coresight_component *end = end_of(all, etm);
	int error;

	end->own.users--;
	if (etm->own.collected) {
		error = ktrace_coresight_collect(all, end);
	} else {
		error = ktrace_coresight_etr_stop(all, end, unit);
		end->own.unit = KTRACE_NULL;
	}
	etm->own.unit = KTRACE_NULL;
	return error;
}

static int coresight_enable(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit, uint32_t cpu)
{
	struct ktrace_coresight *all = all_of(backend);
	struct ktrace_coresight_component *etm = etm_of(all, cpu);
	int error;

	if (!etm)
		return KTRACE_ERROR_DEVICE;
	lock(all);
	error = begin_end(all, etm, unit);
	if (!error) {
		error = ktrace_coresight_links_open(all, etm);
		if (!error) {
			error = ktrace_coresight_etm_start(all, etm, ktrace_coresight_request(unit));
			if (error)
				ktrace_coresight_links_shut(all, etm);
		}
		if (error)
			finish_end(all, etm, unit);
	}
	unlock(all);
	return error;
}

/*
 * Stops the component at the end of this CPU's trace, and then the links that lead there. Components that
 * other CPUs use as well continue for those CPUs.
 */
static int leave(struct ktrace_coresight *all, struct ktrace_coresight_component *etm,
		 struct ktrace_hwt_unit *unit)
{
	int error, later;

	lock(all);
	error = finish_end(all, etm, unit);
	later = ktrace_coresight_links_shut(all, etm);
	unlock(all);
	return error ? error : later;
}

static int coresight_disable(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit, uint32_t cpu)
{
	struct ktrace_coresight *all = all_of(backend);
	struct ktrace_coresight_component *etm = etm_of(all, cpu);
	int error, later;

	if (!etm || etm->own.unit != unit)
		return KTRACE_ERROR_DEVICE;
	error = ktrace_coresight_etm_stop(all, etm);
	later = leave(all, etm, unit);
	return error ? error : later;
}

/*
 * The trace unit is lost together with its CPU. But its ETR must be stopped, because it would continue to
 * write into a buffer that will be freed.
 */
static void coresight_abandon(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit, uint32_t cpu)
{
	struct ktrace_coresight *all = all_of(backend);
	struct ktrace_coresight_component *etm = etm_of(all, cpu);

	if (etm && etm->own.unit == unit)
		leave(all, etm, unit); /* errors do not matter: the caller counts a loss anyway */
}

static int coresight_read(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit)
{
	struct ktrace_coresight *all = all_of(backend);
	struct ktrace_coresight_component *etm;
	int error = KTRACE_OK;

	if (unit->enabled == 0)
		return KTRACE_OK;
	lock(all);
	etm = etm_of(all, unit->enabled - 1);
	if (etm && etm->own.unit == unit)
		error = etm->own.collected ? ktrace_coresight_collect(all, end_of(all, etm))
					   : ktrace_coresight_etr_read(all, end_of(all, etm), unit);
	unlock(all);
	return error;
}

static int coresight_service(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit)
{
	(void)backend;
	if (unit->position < unit->served + unit->buffer.size)
		unit->full = 0;
	return KTRACE_OK;
}

/* ---- Register dumps and data for decoders ------------------------------------------------------ */

static size_t coresight_describe(struct ktrace_hwt_backend *backend, const struct ktrace_hwt_config *config,
				 void *to, size_t room)
{
	struct ktrace_coresight *all = all_of(backend);
	const struct ktrace_coresight_found *found = ktrace_coresight_found(backend);
	const struct ktrace_coresight_component *etm = &all->component[found->first];
	struct ktrx_hwt_etm4 *etm4 = to;

	if (room < sizeof(*etm4))
		return 0;
	etm4->configr = ktrace_coresight_etm_configr(all, found, config);
	etm4->traceidr = etm->own.trace_id;
	etm4->idr0 = etm->own.idr[0];
	etm4->idr1 = etm->own.idr[1];
	etm4->idr2 = etm->own.idr[2];
	etm4->idr8 = etm->own.idr[8];
	etm4->idr9 = etm->own.idr[9];
	etm4->idr10 = etm->own.idr[10];
	etm4->idr11 = etm->own.idr[11];
	etm4->idr12 = etm->own.idr[12];
	etm4->idr13 = etm->own.idr[13];
	etm4->formatted = !found->collected;
	etm4->devarch = etm->own.devarch;
	etm4->reserved = 0;
	return sizeof(*etm4);
}

static void dump_tmc(const struct ktrace_coresight *all, const struct ktrace_coresight_component *tmc,
		     void (*print)(void *to, const char *name, uint64_t value), void *to)
{
	print(to, "tmc", tmc->base);
	print(to, "STS", ktrace_coresight_read(all, tmc, KTRACE_TMC_STS));
	print(to, "CTL", ktrace_coresight_read(all, tmc, KTRACE_TMC_CTL));
	print(to, "MODE", ktrace_coresight_read(all, tmc, KTRACE_TMC_MODE));
	print(to, "FFCR", ktrace_coresight_read(all, tmc, KTRACE_TMC_FFCR));
	print(to, "RWP", ktrace_coresight_read(all, tmc, KTRACE_TMC_RWP));
}

static void coresight_dump(struct ktrace_hwt_backend *backend,
			   void (*print)(void *to, const char *name, uint64_t value), void *to)
{
	struct ktrace_coresight *all = all_of(backend);

	lock(all);
	for (uint32_t i = 0; i < all->components; i++) {
		const struct ktrace_coresight_component *one = &all->component[i];

		if (one->type == KTRACE_CORESIGHT_ETM4) {
			print(to, "etm", one->base);
			print(to, "TRCPRGCTLR", ktrace_coresight_read(all, one, KTRACE_TRCPRGCTLR));
			print(to, "TRCSTATR", ktrace_coresight_read(all, one, KTRACE_TRCSTATR));
			print(to, "TRCCONFIGR", ktrace_coresight_read(all, one, KTRACE_TRCCONFIGR));
			print(to, "TRCVICTLR", ktrace_coresight_read(all, one, KTRACE_TRCVICTLR));
		} else if (one->type == KTRACE_CORESIGHT_ETF || one->type == KTRACE_CORESIGHT_ETR) {
			dump_tmc(all, one, print, to);
		}
	}
	unlock(all);
}

static const struct ktrace_hwt_backend_operations operations = {
	.init = coresight_init,
	.deinit = coresight_deinit,
	.cpu_init = coresight_cpu_init,
	.unit_init = coresight_unit_init,
	.unit_free = coresight_unit_free,
	.configure = coresight_configure,
	.enable = coresight_enable,
	.disable = coresight_disable,
	.abandon = coresight_abandon,
	.read = coresight_read,
	.service = coresight_service,
	.describe = coresight_describe,
	.dump = coresight_dump,
};

void ktrace_hwt_coresight_make(struct ktrace_hwt_backend *backend, struct ktrace_coresight *coresight)
{
	backend->name = "coresight";
	backend->kind = KTRX_HWT_BACKEND_CORESIGHT;
	backend->encoding = KTRX_HWT_ENCODING_ETM4;
	backend->modes = 1u << KTRX_HWT_MODE_CPU;
	backend->levels = KTRX_HWT_USER | KTRX_HWT_KERNEL_LEVEL;
	backend->operations = &operations;
	backend->access = coresight;
}
