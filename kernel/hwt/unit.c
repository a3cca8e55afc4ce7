/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Initialises the library, keeps its list of backends, and makes units with their buffers. Also enables and
 * disables units on their CPUs.
 */
#include "hwt.h"

/* Bits of `disabled_by`: reasons why the unit must not be enabled. */
#define KTRACE_UNCONFIGURED 1u /* the unit is being configured, or its last configuration failed */
#define KTRACE_DETACHED	    2u /* the unit's thread or context has ended; the bit stays set */

struct ktrace_hwt_state ktrace_hwt_state;

static int is_complete(const struct ktrace_hwt_kernel *kernel)
{
	return kernel && kernel->size == sizeof(*kernel) && kernel->cpus > 0 &&
	       kernel->cpus <= KTRACE_HWT_CPUS_MAX && kernel->lock && kernel->unlock && kernel->table_lock &&
	       kernel->table_unlock && kernel->process && kernel->next_thread && kernel->identity &&
	       kernel->space && kernel->buffer_alloc && kernel->buffer_free && kernel->alloc &&
	       kernel->free && kernel->on_cpu && kernel->sleep && kernel->wake && kernel->now_ns &&
	       kernel->cpu;
}

int ktrace_hwt_init(const struct ktrace_hwt_kernel *kernel)
{
	if (!is_complete(kernel))
		return KTRACE_ERROR_ARGUMENT;
	if (ktrace_hwt_state.kernel)
		return KTRACE_ERROR_STATE;
	ktrace_hwt_state.here = kernel->alloc(kernel->cpus * sizeof(ktrace_hwt_state.here[0]));
	if (!ktrace_hwt_state.here)
		return KTRACE_ERROR_MEMORY;
	ktrace_hwt_state.kernel = kernel;
	return KTRACE_OK;
}

/*
 * Returns the address of the list pointer that points to the backend. If the backend is not in the list,
 * returns the address of the NULL pointer at the end of the list.
 * Requires: the spinlock is held.
 */
static struct ktrace_hwt_backend **link_of(const struct ktrace_hwt_backend *backend)
{
	struct ktrace_hwt_backend **link = &ktrace_hwt_state.backends;

	while (*link && *link != backend)
		link = &(*link)->next;
	return link;
}

int ktrace_hwt_add(struct ktrace_hwt_backend *backend)
{
	struct ktrace_hwt_backend **link;
	unsigned long saved;
	int error;

	if (!ktrace_hwt_state.kernel || backend->ready)
		return KTRACE_ERROR_STATE;
	ktrace_zero(backend->cpu_ready, sizeof(backend->cpu_ready));
	error = backend->operations->init(backend);
	if (error)
		return error;
	saved = ktrace_hwt_lock();
	link = link_of(backend);
	backend->ready = 1;
	backend->next = KTRACE_NULL;
	*link = backend;
	ktrace_hwt_unlock(saved);
	return KTRACE_OK;
}

/* Requires: the spinlock is held. */
static int is_used(const struct ktrace_hwt_backend *backend)
{
	const struct ktrace_hwt_context *context = ktrace_hwt_state.contexts;

	while (context && context->backend != backend)
		context = context->next;
	return context != KTRACE_NULL;
}

int ktrace_hwt_remove(struct ktrace_hwt_backend *backend)
{
	struct ktrace_hwt_backend **link;
	int error = KTRACE_OK;
	unsigned long saved;

	if (!ktrace_hwt_state.kernel)
		return KTRACE_ERROR_STATE;
	saved = ktrace_hwt_lock();
	link = link_of(backend);
	if (!*link)
		error = KTRACE_ERROR_ARGUMENT;
	else if (is_used(backend))
		error = KTRACE_ERROR_BUSY;
	else
		*link = backend->next;
	ktrace_hwt_unlock(saved);
	if (error)
		return error;
	backend->ready = 0;
	if (backend->operations->deinit)
		backend->operations->deinit(backend);
	return KTRACE_OK;
}

struct ktrace_hwt_backend *ktrace_hwt_next_backend(struct ktrace_hwt_backend *last)
{
	return last ? last->next : ktrace_hwt_state.backends;
}

/* ---- Printing of registers --------------------------------------------------------------------- */

struct dump {
	struct ktrace_hwt_backend *backend;
	void (*print)(void *to, const char *name, uint64_t value);
	void *to;
};

static void dump_here(void *argument)
{
	const struct dump *dump = argument;

	dump->backend->operations->dump(dump->backend, dump->print, dump->to);
}

int ktrace_hwt_dump(struct ktrace_hwt_backend *backend, uint32_t cpu,
		    void (*print)(void *to, const char *name, uint64_t value), void *to)
{
	struct dump dump;

	if (!backend->ready || !backend->operations->dump)
		return KTRACE_ERROR_DEVICE;
	dump.backend = backend;
	dump.print = print;
	dump.to = to;
	return ktrace_hwt_state.kernel->on_cpu(cpu, dump_here, &dump);
}

/* ---- Making and freeing units ------------------------------------------------------------------ */

static int lend_buffer(struct ktrace_hwt_context *context, struct ktrace_hwt_unit *unit)
{
	const struct ktrace_hwt_backend_operations *operations = context->backend->operations;
	int error = ktrace_hwt_kernel()->buffer_alloc(&unit->buffer, context->buffer_size);

	if (error)
		return error;
	error = operations->unit_init(context->backend, unit);
	if (!error) {
		error = operations->configure(context->backend, unit, &context->config);
		if (error)
			operations->unit_free(context->backend, unit);
	}
	if (error)
		ktrace_hwt_kernel()->buffer_free(&unit->buffer);
	return error;
}

int ktrace_hwt_unit_make(struct ktrace_hwt_context *context, uint32_t index, struct ktrace_hwt_unit **made)
{
	const struct ktrace_hwt_kernel *kernel = ktrace_hwt_kernel();
	struct ktrace_hwt_unit *unit = kernel->alloc(sizeof(*unit));
	int error;

	if (!unit)
		return KTRACE_ERROR_MEMORY;
	unit->context = context;
	unit->index = index;
	unit->mode = context->mode;
	error = lend_buffer(context, unit);
	if (error) {
		kernel->free(unit, sizeof(*unit));
		return error;
	}
	*made = unit;
	return KTRACE_OK;
}

void ktrace_hwt_unit_attach(struct ktrace_hwt_unit *unit, struct ktrace_hwt_thread *thread)
{
	struct ktrace_hwt_context *context = unit->context;

	unit->thread = thread;
	if (thread) {
		unit->tid = thread->tid;
		thread->unit = unit;
	}
	*context->last = unit;
	context->last = &unit->next;
	context->units++;
}

void ktrace_hwt_unit_free(struct ktrace_hwt_unit *unit)
{
	struct ktrace_hwt_backend *backend = unit->context->backend;

	backend->operations->unit_free(backend, unit);
	ktrace_hwt_kernel()->buffer_free(&unit->buffer);
	ktrace_hwt_kernel()->free(unit, sizeof(*unit));
}

struct ktrace_hwt_unit *ktrace_hwt_unit_find(struct ktrace_hwt_context *context, uint32_t index)
{
	struct ktrace_hwt_unit *unit = context->first;

	while (unit && unit->index != index)
		unit = unit->next;
	return unit;
}

/* ---- Enabling and disabling -------------------------------------------------------------------- */

int ktrace_hwt_unit_claim(struct ktrace_hwt_unit *unit, uint32_t cpu)
{
	if (!unit->context->running || unit->disabled_by || unit->full)
		return 0;
	/*
	 * the unit is still enabled: the CPU on which it is enabled has not switched away from the thread yet
	 */
	if (unit->enabled) {
		unit->lost += unit->enabled != cpu + 1;
		return 0;
	}
	unit->enabled = cpu + 1;
	return 1;
}

/* Requires: interrupts are off. */
static int switch_on(struct ktrace_hwt_unit *unit, uint32_t cpu)
{
	struct ktrace_hwt_backend *backend = unit->context->backend;
	int error = KTRACE_OK;

	if (!backend->cpu_ready[cpu] && backend->operations->cpu_init)
		error = backend->operations->cpu_init(backend, cpu);
	if (error)
		return error;
	backend->cpu_ready[cpu] = 1;
	error = backend->operations->enable(backend, unit, cpu);
	if (error)
		return error;
	unit->next_here = ktrace_hwt_state.here[cpu];
	ktrace_hwt_state.here[cpu] = unit;
	return KTRACE_OK;
}

/*
 * Counts a loss of trace data, because enabling or disabling the unit has failed. Requires: the spinlock is
 * held.
 */
static void fail(struct ktrace_hwt_unit *unit)
{
	unit->lost++;
	unit->enabled = 0;
}

int ktrace_hwt_unit_begin(struct ktrace_hwt_unit *unit, uint32_t cpu)
{
	int error = switch_on(unit, cpu);

	if (error) {
		unsigned long saved = ktrace_hwt_lock();

		fail(unit);
		ktrace_hwt_unlock(saved);
	}
	return error;
}

static void unlink_here(struct ktrace_hwt_unit *unit, uint32_t cpu)
{
	struct ktrace_hwt_unit **link = &ktrace_hwt_state.here[cpu];

	while (*link && *link != unit)
		link = &(*link)->next_here;
	if (*link)
		*link = unit->next_here;
}

void ktrace_hwt_unit_end(struct ktrace_hwt_unit *unit, uint32_t cpu)
{
	struct ktrace_hwt_backend *backend = unit->context->backend;
	int error = backend->operations->disable(backend, unit, cpu);
	unsigned long saved;

	unlink_here(unit, cpu);
	saved = ktrace_hwt_lock();
	if (error)
		fail(unit);
	unit->enabled = 0;
	ktrace_hwt_unlock(saved);
}

/* Holds the spinlock until the end, so that the thread stays on this CPU. */
void ktrace_hwt_unit_resume(struct ktrace_hwt_thread *thread)
{
	unsigned long saved = ktrace_hwt_lock();
	uint32_t cpu = ktrace_hwt_kernel()->cpu();
	struct ktrace_hwt_unit *unit = thread->unit;
	const struct ktrace_hwt_backend_operations *operations;

	if (unit && unit->enabled == cpu + 1) {
		operations = unit->context->backend->operations;
		if (operations->renew)
			operations->renew(unit->context->backend, unit);
	} else if (unit && ktrace_hwt_unit_claim(unit, cpu) && switch_on(unit, cpu)) {
		fail(unit);
	}
	ktrace_hwt_unlock(saved);
}

static void end_here(void *argument)
{
	struct ktrace_hwt_unit *unit = argument;
	uint32_t cpu = ktrace_hwt_kernel()->cpu();

	if (unit->enabled == cpu + 1)
		ktrace_hwt_unit_end(unit, cpu);
}

/*
 * Marks a unit as disabled because its CPU no longer runs. Trace data that the hardware had not yet stored is
 * lost.
 */
static void give_up(struct ktrace_hwt_unit *unit, uint32_t cpu)
{
	struct ktrace_hwt_backend *backend = unit->context->backend;
	unsigned long saved = ktrace_hwt_lock();

	if (unit->enabled == cpu + 1) {
		unlink_here(unit, cpu);
		backend->cpu_ready[cpu] = 0;
		if (backend->operations->abandon)
			backend->operations->abandon(backend, unit, cpu);
		fail(unit);
	}
	ktrace_hwt_unlock(saved);
}

void ktrace_hwt_unit_quiesce(struct ktrace_hwt_unit *unit)
{
	for (;;) {
		unsigned long saved = ktrace_hwt_lock();
		uint32_t enabled = unit->enabled;

		ktrace_hwt_unlock(saved);
		if (!enabled)
			return;
		if (ktrace_hwt_kernel()->on_cpu(enabled - 1, end_here, unit))
			give_up(unit, enabled - 1);
	}
}

static void set_disabled(struct ktrace_hwt_unit *unit, uint32_t more, uint32_t less)
{
	unsigned long saved = ktrace_hwt_lock();

	unit->disabled_by = (unit->disabled_by & ~less) | more;
	ktrace_hwt_unlock(saved);
}

int ktrace_hwt_unit_configure(struct ktrace_hwt_unit *unit, const struct ktrace_hwt_config *config)
{
	struct ktrace_hwt_backend *backend = unit->context->backend;
	int error;

	set_disabled(unit, KTRACE_UNCONFIGURED, 0);
	ktrace_hwt_unit_quiesce(unit);
	error = backend->operations->configure(backend, unit, config);
	if (!error)
		set_disabled(unit, 0, KTRACE_UNCONFIGURED);
	return error;
}

void ktrace_hwt_unit_lose(struct ktrace_hwt_unit *unit)
{
	unsigned long saved = ktrace_hwt_lock();

	unit->lost++;
	ktrace_hwt_unlock(saved);
}

void ktrace_hwt_unit_detach(struct ktrace_hwt_unit *unit)
{
	unsigned long saved;

	set_disabled(unit, KTRACE_DETACHED, 0);
	ktrace_hwt_unit_quiesce(unit);
	saved = ktrace_hwt_lock();
	if (unit->thread)
		unit->thread->unit = KTRACE_NULL;
	unit->thread = KTRACE_NULL;
	ktrace_hwt_unlock(saved);
}

/* ---- The trace unit's interrupt ---------------------------------------------------------------- */

int ktrace_hwt_interrupt(void)
{
	int any = 0;
	uint32_t cpu;

	if (!ktrace_hwt_kernel())
		return 0;
	cpu = ktrace_hwt_kernel()->cpu();
	for (struct ktrace_hwt_unit *unit = ktrace_hwt_state.here[cpu]; unit; unit = unit->next_here) {
		struct ktrace_hwt_context *context = unit->context;
		unsigned long saved;

		if (!context->backend->operations->interrupt ||
		    !context->backend->operations->interrupt(context->backend, unit, cpu))
			continue;
		any = 1;
		saved = ktrace_hwt_lock();
		ktrace_hwt_say_fill(unit);
		ktrace_hwt_unlock(saved);
		ktrace_hwt_wake(context);
	}
	return any;
}
