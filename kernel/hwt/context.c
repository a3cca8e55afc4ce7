/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Contexts are found, held, locked, and end. */
#include "hwt.h"

/* ---- References -------------------------------------------------------------------------------- */

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
		ktrace_hwt_kernel()->sleep(&context->changes, seen, UINT64_MAX);
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

/* ---- The end ----------------------------------------------------------------------------------- */

/* The process's own link goes last: as long as it is there, threads that end wait for us in their hooks. */
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

/* Nobody finds it by its ident any more. Short lock held. */
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

/* Others may have its CPUs now. Short lock held. */
static void unlink_context(struct ktrace_hwt_context *context)
{
	struct ktrace_hwt_context **link = &ktrace_hwt_state.contexts;

	while (*link != context)
		link = &(*link)->next;
	*link = context->next;
}

/*
 * Ended first, so that nobody waits for it. The control lock is not given up any more: whoever waits for it
 * is told that there is nothing left to control. Its CPUs are its own until all units are off: the hardware
 * has no room for two.
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
