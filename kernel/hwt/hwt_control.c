/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Requests of the owner: configure, start and stop; report positions of units. */
#include "hwt.h"

#define KTRACE_ALL_FLAGS                                                                                \
	(KTRACE_HWT_TIME | KTRACE_HWT_MTC | KTRACE_HWT_CYCLES | KTRACE_HWT_SPACE | KTRACE_HWT_RETURNS | \
	 KTRACE_HWT_STOP | KTRACE_HWT_JITTER | KTRACE_HWT_LOADS | KTRACE_HWT_STORES | KTRACE_HWT_BRANCHES)
#define KTRACE_ALL_PAUSES (KTRACE_HWT_PAUSE_EXEC | KTRACE_HWT_PAUSE_MMAP)

/* ---- Configuration, the control lock held ------------------------------------------------------ */

/* A process is traced in user mode only: what the kernel does for it must not be visible to the owner. */
static int settle_level(const struct ktrace_hwt_context *context, struct ktrace_hwt_config *config)
{
	uint32_t most =
		context->mode == KTRX_HWT_MODE_THREAD ? KTRX_HWT_USER : KTRX_HWT_USER | KTRX_HWT_KERNEL_LEVEL;

	if (config->level == 0)
		config->level = context->mode == KTRX_HWT_MODE_THREAD ? KTRX_HWT_USER : KTRX_HWT_KERNEL_LEVEL;
	return config->level & ~(most & context->backend->levels) ? KTRACE_ERROR_ARGUMENT : KTRACE_OK;
}

static int settle_ranges(const struct ktrace_hwt_context *context, struct ktrace_hwt_config *config,
			 uint32_t *left_out)
{
	if (config->ranges > KTRACE_HWT_RANGES_MAX)
		return KTRACE_ERROR_ARGUMENT;
	for (uint32_t i = 0; i < config->ranges; i++)
		if (config->range[i].start >= config->range[i].end)
			return KTRACE_ERROR_ARGUMENT;
	*left_out = 0;
	if (config->ranges > context->backend->ranges) {
		*left_out = config->ranges - context->backend->ranges;
		config->ranges = context->backend->ranges;
	}
	return KTRACE_OK;
}

static int configure_units(struct ktrace_hwt_context *context, const struct ktrace_hwt_config *config)
{
	int error = KTRACE_OK;

	for (struct ktrace_hwt_unit *unit = context->first; unit && !error; unit = unit->next)
		error = ktrace_hwt_unit_configure(unit, config);
	return error;
}

/*
 * If a unit refuses the configuration, earlier units may already have the new configuration. All units are
 * configured again before they start.
 */
static int configure(struct ktrace_hwt_context *context, const struct ktrace_hwt_config *config,
		     uint32_t *left_out)
{
	struct ktrace_hwt_config wanted;
	unsigned long saved;
	int error;

	ktrace_copy(&wanted, config, sizeof(wanted));
	if (context->mode == KTRX_HWT_MODE_THREAD)
		/* an error is ignored here, because starting the context then fails, too */
		ktrace_hwt_find_space(context, &wanted.space);
	error = settle_level(context, &wanted);
	if (!error)
		error = settle_ranges(context, &wanted, left_out);
	if (!error)
		error = configure_units(context, &wanted);
	if (error)
		return error;
	/* the lock is needed because a reader may be making a record of the configuration */
	saved = ktrace_hwt_lock();
	ktrace_copy(&context->config, &wanted, sizeof(wanted));
	ktrace_hwt_unlock(saved);
	return KTRACE_OK;
}

int ktrace_hwt_default(struct ktrace_hwt_context *context)
{
	return settle_level(context, &context->config);
}

int ktrace_hwt_configure(struct ktrace_hwt_context *context, const struct ktrace_hwt_config *config,
			 const struct ktrace_hwt_pausing *pausing, uint32_t *left_out)
{
	int error;

	if (config->flags & ~KTRACE_ALL_FLAGS || (pausing && pausing->pauses & ~KTRACE_ALL_PAUSES))
		return KTRACE_ERROR_ARGUMENT;
	error = ktrace_hwt_control_lock(context);
	if (error)
		return error;
	error = context->running ? KTRACE_ERROR_STATE : configure(context, config, left_out);
	if (!error) {
		context->pausing.pauses = pausing ? pausing->pauses : 0;
		context->pausing.timeout_ms = pausing ? pausing->timeout_ms : 0;
	}
	ktrace_hwt_control_unlock(context);
	return error;
}

int ktrace_hwt_find_space(const struct ktrace_hwt_context *context, uint64_t *space)
{
	unsigned long table = ktrace_hwt_kernel()->table_lock();
	int error = context->process ? KTRACE_OK : KTRACE_ERROR_NO_PROCESS;

	if (!error)
		*space = ktrace_hwt_kernel()->space(context->process);
	ktrace_hwt_kernel()->table_unlock(table);
	return error;
}

void ktrace_hwt_follow_space(struct ktrace_hwt_context *context)
{
	uint64_t space;

	if (ktrace_hwt_find_space(context, &space) || space == context->config.space)
		return;
	context->config.space = space;
	for (struct ktrace_hwt_unit *unit = context->first; unit; unit = unit->next)
		if (ktrace_hwt_unit_configure(unit, &context->config))
			ktrace_hwt_unit_lose(unit);
}

/* ---- Start and stop, the control lock held ----------------------------------------------------- */

static void halt(struct ktrace_hwt_context *context)
{
	unsigned long saved = ktrace_hwt_lock();

	context->running = 0;
	ktrace_hwt_unlock(saved);
	for (struct ktrace_hwt_unit *unit = context->first; unit; unit = unit->next)
		ktrace_hwt_unit_quiesce(unit);
	saved = ktrace_hwt_lock();
	ktrace_hwt_say_clock(context);
	for (struct ktrace_hwt_unit *unit = context->first; unit; unit = unit->next)
		if (unit->reported != unit->position)
			ktrace_hwt_say_fill(unit);
	ktrace_hwt_changed(context);
	ktrace_hwt_unlock(saved);
}

struct beginning {
	struct ktrace_hwt_unit *unit;
	int error;
};

static void begin_here(void *argument)
{
	struct beginning *beginning = argument;
	uint32_t cpu = ktrace_hwt_kernel()->cpu();
	unsigned long saved = ktrace_hwt_lock();
	int claimed = ktrace_hwt_unit_claim(beginning->unit, cpu);

	ktrace_hwt_unlock(saved);
	beginning->error = claimed ? ktrace_hwt_unit_begin(beginning->unit, cpu) : KTRACE_OK;
}

static int begin_cpus(struct ktrace_hwt_context *context)
{
	struct beginning beginning;

	for (beginning.unit = context->first; beginning.unit; beginning.unit = beginning.unit->next) {
		int error = ktrace_hwt_kernel()->on_cpu(beginning.unit->index, begin_here, &beginning);

		if (!error)
			error = beginning.error;
		if (error)
			return error;
	}
	return KTRACE_OK;
}

static int prepare(struct ktrace_hwt_context *context)
{
	int error = KTRACE_OK;

	if (context->running)
		return KTRACE_ERROR_STATE;
	if (context->mode == KTRX_HWT_MODE_THREAD) {
		error = ktrace_hwt_find_space(context, &context->config.space);
		if (!error)
			error = ktrace_hwt_adopt(context);
	}
	return error ? error : configure_units(context, &context->config);
}

int ktrace_hwt_start(struct ktrace_hwt_context *context)
{
	int error = ktrace_hwt_control_lock(context);
	unsigned long saved;

	if (error)
		return error;
	error = prepare(context);
	if (!error) {
		saved = ktrace_hwt_lock();
		ktrace_hwt_say_context(context);
		ktrace_hwt_say_clock(context);
		context->running = 1;
		ktrace_hwt_unlock(saved);
		if (context->mode == KTRX_HWT_MODE_CPU)
			error = begin_cpus(context);
		if (error)
			halt(context);
	}
	ktrace_hwt_control_unlock(context);
	return error;
}

int ktrace_hwt_stop(struct ktrace_hwt_context *context)
{
	int error = ktrace_hwt_control_lock(context);

	if (error)
		return error;
	if (context->running)
		halt(context);
	else
		error = KTRACE_ERROR_STATE;
	ktrace_hwt_control_unlock(context);
	return error;
}

/* ---- Positions of buffers --------------------------------------------------------------------- */

/* Positions of buffers, for the owner: how many bytes were written, and how many the owner has taken. */

/*
 * Maximum number of attempts to reach a unit on its CPU: the unit may be disabled there, and enabled on
 * another CPU, before each attempt.
 */
#define KTRACE_TRIES 16u

/* An operation that must run on the CPU on which the unit is enabled. */
struct visit {
	struct ktrace_hwt_unit *unit;
	struct ktrace_hwt_place *place;
	int error;
	int done;
};

/* Requires: the spinlock is held, or the caller runs on the unit's CPU. */
static void copy_place(const struct ktrace_hwt_unit *unit, struct ktrace_hwt_place *place)
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
	copy_place(unit, visit->place);
	visit->done = 1;
}

/*
 * Reads the stored position of a unit. Returns nonzero if the unit is disabled, so that the position is up to
 * date.
 * Requires: the spinlock is held.
 */
static int read_now(struct visit *visit)
{
	copy_place(visit->unit, visit->place);
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
 * Runs an operation on this CPU if the unit is not enabled, otherwise on the CPU on which it is enabled.
 * Returns BUSY if, in each attempt, the unit was disabled or moved to another CPU before the operation could
 * run.
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

/*
 * Requires: the control lock is held, so that the backend is not configured or served by another caller at
 * the same time.
 */
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
