/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Sinks: found, held, closed. */
#include "proc.h"

struct ktrace_proc_state ktrace_proc_state;

int ktrace_proc_init(const struct ktrace_proc_kernel *kernel)
{
	if (!kernel || kernel->size != sizeof(*kernel) || !kernel->lock || !kernel->unlock ||
	    !kernel->table_lock || !kernel->table_unlock || !kernel->next || !kernel->parent ||
	    !kernel->identity || !kernel->name || !kernel->copy_in)
		return KTRACE_ERROR_ARGUMENT;
	if (ktrace_proc_state.kernel)
		return KTRACE_ERROR_STATE;
	ktrace_proc_state.kernel = kernel;
	return KTRACE_OK;
}

/* ---- References -------------------------------------------------------------------------------- */

void ktrace_proc_hold(struct ktrace_proc_sink *sink)
{
	sink->references++;
}

void ktrace_proc_drop(struct ktrace_proc_sink *sink)
{
	if (--sink->references > 0)
		return;
	sink->next_idle = ktrace_proc_state.idle;
	ktrace_proc_state.idle = sink;
}

void ktrace_proc_end(struct ktrace_proc_sink *sink, uint32_t reason)
{
	if (sink->state == KTRACE_PROC_SINK_ENDED)
		return;
	sink->state = KTRACE_PROC_SINK_ENDED;
	sink->reason = reason;
}

struct ktrace_proc_sink *ktrace_proc_sink_find(const void *file)
{
	struct ktrace_proc_sink *sink;
	unsigned long saved;

	if (!ktrace_proc_state.kernel)
		return KTRACE_NULL;
	saved = ktrace_proc_lock();
	for (sink = ktrace_proc_state.sinks; sink; sink = sink->next)
		if (sink->file == file && sink->state == KTRACE_PROC_SINK_OPEN && sink->references > 0)
			break;
	if (sink)
		ktrace_proc_hold(sink);
	ktrace_proc_unlock(saved);
	return sink;
}

/* ---- The end ----------------------------------------------------------------------------------- */

static void unlink_sink(struct ktrace_proc_sink *sink)
{
	struct ktrace_proc_sink **link = &ktrace_proc_state.sinks;

	while (*link != sink)
		link = &(*link)->next;
	*link = sink->next;
}

void ktrace_proc_set_state(struct ktrace_proc_sink *sink, uint32_t state)
{
	unsigned long saved = ktrace_proc_lock();

	if (state == KTRACE_PROC_SINK_CLOSED)
		unlink_sink(sink);
	else
		ktrace_proc_hold(sink);
	sink->state = state;
	ktrace_proc_unlock(saved);
}

/* Nobody can find it any more, and nobody has it. */
static void close_sink(struct ktrace_proc_sink *sink)
{
	unsigned long saved = ktrace_proc_lock();

	ktrace_proc_end(sink, KTRX_PROC_ENDED_CLOSED);
	ktrace_proc_unlock(saved);
	sink->operations->lock(sink);
	ktrace_proc_drain_locked(sink);
	sink->operations->unlock(sink);
	ktrace_proc_set_state(sink, KTRACE_PROC_SINK_CLOSED);
	if (sink->operations->close)
		sink->operations->close(sink);
}

void ktrace_proc_close_idle(struct ktrace_proc_thread *thread)
{
	for (;;) {
		unsigned long saved = ktrace_proc_lock();
		struct ktrace_proc_sink *sink = ktrace_proc_state.idle;

		if (sink)
			ktrace_proc_state.idle = sink->next_idle;
		ktrace_proc_unlock(saved);
		if (!sink)
			return;
		ktrace_proc_enter(thread);
		close_sink(sink);
		ktrace_proc_leave(thread);
	}
}

void ktrace_proc_sink_release(struct ktrace_proc_sink *sink, struct ktrace_proc_thread *thread)
{
	unsigned long saved = ktrace_proc_lock();

	ktrace_proc_drop(sink);
	ktrace_proc_unlock(saved);
	ktrace_proc_close_idle(thread);
}

/* The first sink from here on that somebody refers to, with a reference more. */
static struct ktrace_proc_sink *hold_first(struct ktrace_proc_sink *sink)
{
	while (sink && sink->references == 0)
		sink = sink->next;
	if (sink)
		ktrace_proc_hold(sink);
	return sink;
}

void ktrace_proc_flush(struct ktrace_proc_thread *thread)
{
	struct ktrace_proc_sink *sink;
	unsigned long saved;

	if (!ktrace_proc_state.kernel)
		return;
	saved = ktrace_proc_lock();
	sink = hold_first(ktrace_proc_state.sinks);
	ktrace_proc_unlock(saved);
	while (sink) {
		struct ktrace_proc_sink *next;

		ktrace_proc_drain(sink, thread);
		saved = ktrace_proc_lock();
		next = hold_first(sink->next);
		ktrace_proc_unlock(saved);
		ktrace_proc_sink_release(sink, thread);
		sink = next;
	}
}
