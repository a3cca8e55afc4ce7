/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The library's beginning, and the trace units that it knows. */
#include "hwt.h"

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

/* Where the list points to it, or its end. Short lock held. */
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

/* Short lock held. */
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

/* ---- Registers, for people --------------------------------------------------------------------- */

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
