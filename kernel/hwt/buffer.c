/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Buffers as their owner sees them: how far they are written, and how far they have been taken. */
#include "hwt.h"

/* How often a unit is looked for where it was enabled a moment ago. */
#define KTRACE_TRIES 16u

/* What is to be done with a unit on the CPU that has it enabled. */
struct visit {
	struct ktrace_hwt_unit *unit;
	struct ktrace_hwt_place *place;
	int error;
	int done;
};

/* Short lock held, or on its CPU. */
static void tell(const struct ktrace_hwt_unit *unit, struct ktrace_hwt_place *place)
{
	place->unit = unit->index;
	place->tid = unit->tid;
	place->position = unit->position;
	place->wraps = unit->wraps;
	place->lost = unit->lost;
	place->enabled = unit->enabled != 0;
	place->full = unit->full;
}

static void read_here(void *argument)
{
	struct visit *visit = argument;
	struct ktrace_hwt_unit *unit = visit->unit;
	struct ktrace_hwt_backend *backend = unit->context->backend;

	if (unit->enabled != ktrace_hwt_kernel()->cpu() + 1)
		return;
	visit->error = backend->operations->read(backend, unit);
	tell(unit, visit->place);
	visit->done = 1;
}

/* Short lock held; nonzero: it is up to date. */
static int read_now(struct visit *visit)
{
	tell(visit->unit, visit->place);
	return visit->unit->enabled == 0;
}

static void service(struct ktrace_hwt_unit *unit)
{
	struct ktrace_hwt_backend *backend = unit->context->backend;

	if (backend->operations->service)
		backend->operations->service(backend, unit);
}

static void service_here(void *argument)
{
	struct visit *visit = argument;
	struct ktrace_hwt_unit *unit = visit->unit;
	uint32_t cpu = ktrace_hwt_kernel()->cpu();
	unsigned long saved;
	int claimed;

	if (unit->enabled != cpu + 1)
		return;
	ktrace_hwt_unit_end(unit, cpu);
	service(unit);
	saved = ktrace_hwt_lock();
	claimed = ktrace_hwt_unit_claim(unit, cpu);
	ktrace_hwt_unlock(saved);
	if (claimed)
		visit->error = ktrace_hwt_unit_begin(unit, cpu);
	visit->done = 1;
}

static int service_now(struct visit *visit)
{
	if (visit->unit->enabled)
		return 0;
	service(visit->unit);
	return 1;
}

/*
 * Does it here if no CPU has the unit enabled, else there. A thread may be switched meanwhile: BUSY if it
 * always was.
 */
static int do_visit(struct visit *visit, int (*now)(struct visit *visit), void (*here)(void *visit))
{
	visit->done = 0;
	visit->error = KTRACE_OK;
	for (uint32_t tries = KTRACE_TRIES; tries > 0; tries--) {
		unsigned long saved = ktrace_hwt_lock();
		uint32_t enabled = visit->unit->enabled;
		int done = now(visit);

		ktrace_hwt_unlock(saved);
		if (done)
			return KTRACE_OK;
		if (ktrace_hwt_kernel()->on_cpu(enabled - 1, here, visit))
			return KTRACE_ERROR_DEVICE;
		if (visit->done)
			return visit->error;
	}
	return KTRACE_ERROR_BUSY;
}

static struct ktrace_hwt_unit *find(struct ktrace_hwt_context *context, uint32_t index)
{
	unsigned long saved = ktrace_hwt_lock();
	struct ktrace_hwt_unit *unit = ktrace_hwt_unit_find(context, index);

	ktrace_hwt_unlock(saved);
	return unit;
}

int ktrace_hwt_position(struct ktrace_hwt_context *context, uint32_t unit, struct ktrace_hwt_place *place)
{
	struct visit visit;

	visit.unit = find(context, unit);
	visit.place = place;
	return visit.unit ? do_visit(&visit, read_now, read_here) : KTRACE_ERROR_ARGUMENT;
}

/* Control lock held: the backend must not be asked for a configuration, or by another reader, meanwhile. */
static int serve(struct ktrace_hwt_context *context, struct ktrace_hwt_unit *unit, uint64_t position)
{
	struct ktrace_hwt_place place;
	struct visit visit;
	unsigned long saved;
	int error = ktrace_hwt_position(context, unit->index, &place);

	if (error)
		return error;
	if (position > place.position)
		return KTRACE_ERROR_ARGUMENT;
	saved = ktrace_hwt_lock();
	if (unit->served < position)
		unit->served = position;
	ktrace_hwt_unlock(saved);
	visit.unit = unit;
	visit.place = KTRACE_NULL;
	return do_visit(&visit, service_now, service_here);
}

int ktrace_hwt_service(struct ktrace_hwt_context *context, uint32_t index, uint64_t position)
{
	struct ktrace_hwt_unit *unit = find(context, index);
	int error = unit ? ktrace_hwt_control_lock(context) : KTRACE_ERROR_ARGUMENT;

	if (error)
		return error;
	error = serve(context, unit, position);
	ktrace_hwt_control_unlock(context);
	return error;
}

const struct ktrace_hwt_buffer *ktrace_hwt_unit_buffer(struct ktrace_hwt_context *context, uint32_t index)
{
	struct ktrace_hwt_unit *unit = find(context, index);

	return unit ? &unit->buffer : KTRACE_NULL;
}
