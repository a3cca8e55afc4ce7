/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Creates, finds, references, locks and destroys contexts.
 *
 * A new context reserves its target first. It checks that the target is free and reserves it in a single
 * step. Then the memory of the context is allocated. The creator holds the context's control lock from the
 * start, and the context can be found by its ident only when it is complete.
 */
#include "../base/bytes.h"
#include "hwt.h"

#define KTRACE_QUEUE_DEFAULT 65536u
#define KTRACE_QUEUE_MAX     (KTRX_U32(1) << 30)
#define KTRACE_PAGE	     4096u

/* ---- References to contexts -------------------------------------------------------------------- */

void ktrace_hwt_hold(struct ktrace_hwt_context *context)
{
	context->references++;
}

struct ktrace_hwt_context *ktrace_hwt_hold_process(struct ktrace_hwt_process *process)
{
	unsigned long saved = ktrace_hwt_lock();
	struct ktrace_hwt_context *context = process->context;

	if (context)
		ktrace_hwt_hold(context);
	ktrace_hwt_unlock(saved);
	return context;
}

struct ktrace_hwt_context *ktrace_hwt_get(uint32_t ident)
{
	struct ktrace_hwt_context *context;
	unsigned long saved;

	if (!ktrace_hwt_kernel())
		return KTRACE_NULL;
	saved = ktrace_hwt_lock();
	context = ktrace_hwt_state.contexts;
	while (context && (context->ident != ident || !context->owner))
		context = context->next;
	if (context)
		ktrace_hwt_hold(context);
	ktrace_hwt_unlock(saved);
	return context;
}

void ktrace_hwt_put(struct ktrace_hwt_context *context)
{
	const struct ktrace_hwt_kernel *kernel = ktrace_hwt_kernel();
	unsigned long saved = ktrace_hwt_lock();
	uint32_t left = --context->references;

	ktrace_hwt_unlock(saved);
	if (left)
		return;
	while (context->first) {
		struct ktrace_hwt_unit *unit = context->first;

		context->first = unit->next;
		ktrace_hwt_unit_free(unit);
	}
	kernel->free(context->queue.bytes, context->queue.size);
	kernel->free(context, sizeof(*context));
}

/* ---- The control lock -------------------------------------------------------------------------- */

int ktrace_hwt_control_lock(struct ktrace_hwt_context *context)
{
	for (;;) {
		unsigned long saved = ktrace_hwt_lock();
		uint32_t seen = context->changes;
		int locked = context->locked, ended = context->ended;

		if (!locked && !ended)
			context->locked = 1;
		ktrace_hwt_unlock(saved);
		if (ended)
			return KTRACE_ERROR_STATE;
		if (!locked)
			return KTRACE_OK;
		ktrace_hwt_kernel()->sleep(&context->changes, seen, KTRX_U64_MAX);
	}
}

void ktrace_hwt_control_unlock(struct ktrace_hwt_context *context)
{
	unsigned long saved = ktrace_hwt_lock();

	context->locked = 0;
	ktrace_hwt_changed(context);
	ktrace_hwt_unlock(saved);
	ktrace_hwt_wake(context);
}

/* ---- Checking a request ------------------------------------------------------------------------ */

static int any_cpu(const struct ktrace_hwt_request *request)
{
	uint64_t any = 0;

	for (uint32_t i = 0; i < KTRACE_HWT_CPUS_MAX / 64; i++)
		any |= request->cpus[i];
	return any != 0;
}

static int is_valid(const struct ktrace_hwt_request *request)
{
	if (!request || request->size != sizeof(*request) || request->reserved != 0)
		return 0;
	if (request->buffer_size == 0 || request->buffer_size % KTRACE_PAGE != 0 ||
	    request->buffer_size > KTRACE_HWT_BUFFER_MAX)
		return 0;
	if (request->queue_size != 0 &&
	    (request->queue_size < KTRACE_HWT_QUEUE_MIN || request->queue_size > KTRACE_QUEUE_MAX ||
	     request->queue_size % 8 != 0))
		return 0;
	switch (request->mode) {
	case KTRX_HWT_MODE_THREAD:
		return !any_cpu(request);
	case KTRX_HWT_MODE_CPU:
		return any_cpu(request) && request->pid == 0;
	default:
		return 0;
	}
}

static int has_cpu(const uint64_t *set, uint32_t cpu)
{
	return set[cpu / 64] >> cpu % 64 & 1;
}

static void look(void *nothing)
{
	(void)nothing;
}

/* Checks that all requested CPUs exist. */
static int check_cpus(const struct ktrace_hwt_request *request)
{
	for (uint32_t cpu = 0; cpu < KTRACE_HWT_CPUS_MAX; cpu++)
		if (has_cpu(request->cpus, cpu) &&
		    (cpu >= ktrace_hwt_kernel()->cpus || ktrace_hwt_kernel()->on_cpu(cpu, look, KTRACE_NULL)))
			return KTRACE_ERROR_DEVICE;
	return KTRACE_OK;
}

/* ---- Reserving the target ---------------------------------------------------------------------- */

static int is_named(const struct ktrace_hwt_backend *backend, const struct ktrace_hwt_request *request)
{
	struct ktrace_span name;

	if (!(backend->modes >> request->mode & 1))
		return 0;
	name.text = request->backend;
	name.length = ktrace_length(name.text, KTRACE_HWT_BACKEND_MAX);
	return name.length == 0 || ktrace_span_is(name, backend->name);
}

/*
 * Returns nonzero if two contexts need the same hardware. A CPU's trace unit serves one context at a time.
 * Threads may run on any CPU, so a context in thread mode collides with every context in CPU mode of the same
 * backend.
 */
static int collide(const struct ktrace_hwt_context *context, const struct ktrace_hwt_context *other)
{
	if (context->backend != other->backend)
		return 0;
	if (context->mode != other->mode)
		return 1;
	for (uint32_t i = 0; i < KTRACE_HWT_CPUS_MAX / 64; i++)
		if (context->cpus[i] & other->cpus[i])
			return 1;
	return 0;
}

/* Requires: the table lock and the spinlock are held. */
static int take_process(struct ktrace_hwt_context *context, struct ktrace_hwt_process *process)
{
	if (process->ended)
		return KTRACE_ERROR_NO_PROCESS;
	if (process->context)
		return KTRACE_ERROR_EXIST;
	process->context = context;
	context->process = process;
	return KTRACE_OK;
}

static void enter(struct ktrace_hwt_context *context)
{
	const struct ktrace_hwt_context *other;

	do {
		if (++ktrace_hwt_state.last_ident == 0)
			++ktrace_hwt_state.last_ident;
		other = ktrace_hwt_state.contexts;
		while (other && other->ident != ktrace_hwt_state.last_ident)
			other = other->next;
	} while (other);
	context->ident = ktrace_hwt_state.last_ident;
	context->next = ktrace_hwt_state.contexts;
	ktrace_hwt_state.contexts = context;
}

/*
 * Reserves backend and target.
 * Requires: the table lock and the spinlock are held, and the caller may trace the target.
 */
static int take(struct ktrace_hwt_context *context, const struct ktrace_hwt_request *request,
		struct ktrace_hwt_process *process)
{
	int error = KTRACE_OK;

	context->backend = ktrace_hwt_state.backends;
	while (context->backend && !is_named(context->backend, request))
		context->backend = context->backend->next;
	if (!context->backend)
		return KTRACE_ERROR_DEVICE;
	for (const struct ktrace_hwt_context *other = ktrace_hwt_state.contexts; other; other = other->next)
		if (collide(context, other))
			return KTRACE_ERROR_EXIST;
	if (process)
		error = take_process(context, process);
	if (!error)
		enter(context);
	return error;
}

static int take_target(struct ktrace_hwt_context *context, struct ktrace_hwt_process *caller,
		       const struct ktrace_hwt_request *request)
{
	const struct ktrace_hwt_kernel *kernel = ktrace_hwt_kernel();
	unsigned long table = kernel->table_lock(), saved;
	struct ktrace_proc_identity who, target;
	struct ktrace_hwt_process *process = KTRACE_NULL;
	int error = KTRACE_OK;

	kernel->identity(caller, &who);
	context->superuser = who.euid == 0;
	if (context->mode == KTRX_HWT_MODE_THREAD) {
		process = kernel->process(request->pid);
		if (process) {
			kernel->identity(process, &target);
			context->target = target.pid;
			if (!ktrace_proc_may_trace(&who, &target, 0))
				error = KTRACE_ERROR_PERMISSION;
		} else {
			error = KTRACE_ERROR_NO_PROCESS;
		}
	} else if (who.euid != 0 || who.jail != 0) {
		error = KTRACE_ERROR_PERMISSION;
	}
	if (!error) {
		saved = ktrace_hwt_lock();
		error = take(context, request, process);
		ktrace_hwt_unlock(saved);
	}
	kernel->table_unlock(table);
	return error;
}

/* ---- Making a context -------------------------------------------------------------------------- */

/* Requires: the table lock is held, and so is the control lock, which protects context->path. */
static void say_image(struct ktrace_hwt_context *context, uint32_t type, const struct ktrx_hwt_image *image)
{
	struct ktrace_proc_pending pending;
	unsigned long saved;
	uint64_t fixed[4];

	ktrace_hwt_pending_image(&pending, (uint16_t)type, fixed, context, image, context->path);
	pending.thread = 0;
	saved = ktrace_hwt_lock();
	ktrace_hwt_append_or_lose(context, &pending);
	ktrace_hwt_unlock(saved);
}

/*
 * Records the mappings that were made before the context existed. The table stays locked for the whole loop.
 * Otherwise, when a mapping is removed, a later mapping could get a lower number, which the loop has already
 * passed. Later mappings are recorded by the hooks, after these records.
 */
static void say_images(struct ktrace_hwt_context *context)
{
	const struct ktrace_hwt_kernel *kernel = ktrace_hwt_kernel();
	unsigned long table = kernel->table_lock();
	int is_there = context->mode == KTRX_HWT_MODE_CPU || context->process;

	for (uint32_t n = 0; is_there && kernel->image; n++) {
		struct ktrx_hwt_image image;
		uint32_t type =
			kernel->image(context->process, n, &image, context->path, sizeof(context->path));

		if (!type)
			break;
		say_image(context, type, &image);
	}
	kernel->table_unlock(table);
}

static int make_cpus(struct ktrace_hwt_context *context)
{
	for (uint32_t cpu = 0; cpu < ktrace_hwt_kernel()->cpus; cpu++) {
		struct ktrace_hwt_unit *unit;
		unsigned long saved;
		int error;

		if (!has_cpu(context->cpus, cpu))
			continue;
		error = ktrace_hwt_unit_make(context, cpu, &unit);
		if (error)
			return error;
		saved = ktrace_hwt_lock();
		ktrace_hwt_unit_attach(unit, KTRACE_NULL);
		ktrace_hwt_unlock(saved);
	}
	return KTRACE_OK;
}

static int make(struct ktrace_hwt_context *context)
{
	int error = ktrace_hwt_default(context);

	if (error)
		return error;
	say_images(context);
	return context->mode == KTRX_HWT_MODE_CPU ? make_cpus(context) : ktrace_hwt_adopt(context);
}

static struct ktrace_hwt_context *new_context(const struct ktrace_hwt_request *request)
{
	const struct ktrace_hwt_kernel *kernel = ktrace_hwt_kernel();
	struct ktrace_hwt_context *context = kernel->alloc(sizeof(*context));

	if (!context)
		return KTRACE_NULL;
	context->queue.size = request->queue_size ? request->queue_size : KTRACE_QUEUE_DEFAULT;
	context->queue.bytes = kernel->alloc(context->queue.size);
	if (!context->queue.bytes) {
		kernel->free(context, sizeof(*context));
		return KTRACE_NULL;
	}
	context->mode = request->mode;
	context->references = 1;
	context->locked = 1;
	context->last = &context->first;
	context->buffer_size = request->buffer_size;
	ktrace_copy(context->cpus, request->cpus, sizeof(context->cpus));
	/*
	 * this record is appended before the target is reserved, because hooks of the target may append
	 * records after that
	 */
	ktrace_hwt_append_head(context);
	return context;
}

int ktrace_hwt_alloc(struct ktrace_hwt_owner *owner, struct ktrace_hwt_process *caller,
		     const struct ktrace_hwt_request *request, uint32_t *ident)
{
	struct ktrace_hwt_context *context;
	unsigned long saved;
	int error;

	if (!KTRACE_HWT_HOOKS)
		return KTRACE_ERROR_LEFT_OUT;
	if (!ktrace_hwt_kernel())
		return KTRACE_ERROR_STATE;
	if (!is_valid(request))
		return KTRACE_ERROR_ARGUMENT;
	error = check_cpus(request);
	if (error)
		return error;
	context = new_context(request);
	if (!context)
		return KTRACE_ERROR_MEMORY;
	error = take_target(context, caller, request);
	if (error) {
		ktrace_hwt_put(context);
		return error;
	}
	error = make(context);
	if (error) {
		ktrace_hwt_end(context);
		return error;
	}
	saved = ktrace_hwt_lock();
	context->owner = owner;
	context->next_owned = owner->first;
	owner->first = context;
	*ident = context->ident;
	ktrace_hwt_unlock(saved);
	ktrace_hwt_control_unlock(context);
	return KTRACE_OK;
}

/* ---- Ending a context -------------------------------------------------------------------------- */

/*
 * Clears the link from the process to the context last: while this link is set, hooks of ending threads wait
 * for the context.
 */
void ktrace_hwt_detach(struct ktrace_hwt_context *context)
{
	unsigned long saved;

	for (struct ktrace_hwt_unit *unit = context->first; unit; unit = unit->next)
		ktrace_hwt_unit_detach(unit);
	saved = ktrace_hwt_lock();
	if (context->process)
		context->process->context = KTRACE_NULL;
	context->process = KTRACE_NULL;
	ktrace_hwt_changed(context);
	ktrace_hwt_unlock(saved);
	ktrace_hwt_wake(context);
}

/*
 * Removes the context from its owner, so that the context can no longer be found by its ident.
 * Requires: the spinlock is held.
 */
static void disown(struct ktrace_hwt_context *context)
{
	struct ktrace_hwt_context **link;

	if (!context->owner)
		return;
	link = &context->owner->first;
	while (*link != context)
		link = &(*link)->next_owned;
	*link = context->next_owned;
	context->owner = KTRACE_NULL;
}

/*
 * Removes the context from the list of contexts, so that other contexts may use its CPUs.
 * Requires: the spinlock is held.
 */
static void unlink_context(struct ktrace_hwt_context *context)
{
	struct ktrace_hwt_context **link = &ktrace_hwt_state.contexts;

	while (*link != context)
		link = &(*link)->next;
	*link = context->next;
}

/*
 * Marks the context as ended first, so that threads do not wait for its owner any more. The control lock is
 * never released again: threads that wait for the lock return with an error. The context keeps its CPUs until
 * all units are off, because the hardware cannot serve two contexts.
 */
void ktrace_hwt_end(struct ktrace_hwt_context *context)
{
	unsigned long saved = ktrace_hwt_lock();

	disown(context);
	context->ended = 1;
	context->running = 0;
	ktrace_hwt_changed(context);
	ktrace_hwt_unlock(saved);
	ktrace_hwt_wake(context);
	ktrace_hwt_detach(context);
	saved = ktrace_hwt_lock();
	unlink_context(context);
	ktrace_hwt_unlock(saved);
	ktrace_hwt_put(context);
}

void ktrace_hwt_release(struct ktrace_hwt_context *context)
{
	if (ktrace_hwt_control_lock(context) == KTRACE_OK)
		ktrace_hwt_end(context);
}

void ktrace_hwt_owner_exit(struct ktrace_hwt_owner *owner)
{
	if (!ktrace_hwt_kernel())
		return;
	for (;;) {
		unsigned long saved = ktrace_hwt_lock();
		struct ktrace_hwt_context *context = owner->first;

		if (context)
			ktrace_hwt_hold(context);
		ktrace_hwt_unlock(saved);
		if (!context)
			return;
		ktrace_hwt_release(context);
		ktrace_hwt_put(context);
	}
}
