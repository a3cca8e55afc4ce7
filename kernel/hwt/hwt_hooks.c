/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The hooks that the kernel calls: thread switches, and processes that execute, map and unmap files. */
#include "hwt.h"

/* ---- Thread switches --------------------------------------------------------------------------- */

void ktrace_hwt_do_switch_in(struct ktrace_hwt_thread *thread)
{
	uint32_t cpu = ktrace_hwt_kernel()->cpu();
	unsigned long saved = ktrace_hwt_lock();
	struct ktrace_hwt_unit *unit = thread->unit;
	int claimed = unit && ktrace_hwt_unit_claim(unit, cpu);

	ktrace_hwt_unlock(saved);
	if (claimed)
		ktrace_hwt_unit_begin(unit, cpu);
}

void ktrace_hwt_do_switch_out(struct ktrace_hwt_thread *thread)
{
	uint32_t cpu = ktrace_hwt_kernel()->cpu();
	unsigned long saved = ktrace_hwt_lock();
	struct ktrace_hwt_unit *unit = thread->unit;
	int here = unit && unit->enabled == cpu + 1;

	ktrace_hwt_unlock(saved);
	if (here)
		ktrace_hwt_unit_end(unit, cpu);
}

/* ---- Programs and what they map ---------------------------------------------------------------- */

/*
 * Returns nonzero if tracing must end because the program has more rights than the owner of the context. From
 * the trace the owner could learn what only the program may access.
 */
static int is_out_of_reach(const struct ktrace_hwt_context *context, int gains)
{
	return gains && !context->superuser;
}

void ktrace_hwt_do_exec(struct ktrace_hwt_process *process, struct ktrace_hwt_thread *thread, uint64_t base,
			const char *path, int gains)
{
	struct ktrace_hwt_context *context = ktrace_hwt_hold_process(process);
	struct ktrace_proc_pending pending;
	struct ktrx_hwt_image image;
	uint64_t fixed[4];

	if (!context)
		return;
	if (ktrace_hwt_control_lock(context) == KTRACE_OK) {
		if (is_out_of_reach(context, gains))
			ktrace_hwt_detach(context);
		else
			ktrace_hwt_follow_space(context);
		ktrace_hwt_control_unlock(context);
	}
	image.address = base;
	image.size = 0;
	image.offset = 0;
	image.access = 4;
	if (!is_out_of_reach(context, gains)) {
		ktrace_hwt_pending_image(&pending, KTRX_HWT_EXECUTABLE, fixed, context, &image, path);
		pending.thread = thread->tid;
		ktrace_hwt_record(context, &pending, KTRACE_HWT_PAUSE_EXEC);
		ktrace_hwt_unit_resume(thread);
	}
	ktrace_hwt_put(context);
}

void ktrace_hwt_do_mmap(struct ktrace_hwt_process *process, struct ktrace_hwt_thread *thread,
			const struct ktrx_hwt_image *image, const char *path)
{
	struct ktrace_hwt_context *context = ktrace_hwt_hold_process(process);
	struct ktrace_proc_pending pending;
	uint64_t fixed[4];

	if (!context)
		return;
	ktrace_hwt_pending_image(&pending, KTRX_HWT_MMAP, fixed, context, image, path);
	pending.thread = thread->tid;
	ktrace_hwt_record(context, &pending, KTRACE_HWT_PAUSE_MMAP);
	ktrace_hwt_unit_resume(thread);
	ktrace_hwt_put(context);
}

void ktrace_hwt_do_munmap(struct ktrace_hwt_process *process, struct ktrace_hwt_thread *thread,
			  uint64_t address, uint64_t size)
{
	struct ktrace_hwt_context *context = ktrace_hwt_hold_process(process);
	struct ktrace_proc_pending pending;
	uint64_t fixed[3];

	if (!context)
		return;
	fixed[0] = address;
	fixed[1] = size;
	fixed[2] = (uint64_t)context->ident << 32;
	ktrace_proc_pending_init(&pending, KTRX_HWT_MUNMAP, 0, fixed, sizeof(fixed));
	pending.thread = thread->tid;
	ktrace_hwt_record(context, &pending, 0);
	ktrace_hwt_put(context);
}

/* ---- Units of threads ------------------------------------------------------------------------- */

/*
 * Thread mode: each thread of the process has a unit, from the moment when the thread is made or found until
 * it ends.
 */

/* ---- Units for existing threads ---------------------------------------------------------------- */

/*
 * Returns a thread of the process that has no unit; NULL if all threads have one. Requires: the table is
 * locked.
 */
static struct ktrace_hwt_thread *find_bare(const struct ktrace_hwt_context *context)
{
	const struct ktrace_hwt_kernel *kernel = ktrace_hwt_kernel();
	struct ktrace_hwt_thread *thread = KTRACE_NULL;

	if (!context->process)
		return KTRACE_NULL;
	do
		thread = kernel->next_thread(context->process, thread);
	while (thread && (thread->unit || thread->ended));
	return thread;
}

/* Requires: the spinlock is held. */
static void say_created(struct ktrace_hwt_context *context, const struct ktrace_hwt_thread *thread)
{
	struct ktrace_proc_pending pending;
	uint64_t fixed;

	ktrace_hwt_pending_thread(&pending, KTRX_HWT_THREAD_CREATE, &fixed, context, thread, KTRACE_NULL);
	ktrace_hwt_append_or_lose(context, &pending);
}

/* Gives the unit to a thread of the process that has none. Returns 0 if every thread has a unit. */
static int give(struct ktrace_hwt_context *context, struct ktrace_hwt_unit *unit)
{
	unsigned long table = ktrace_hwt_kernel()->table_lock(), saved = ktrace_hwt_lock();
	struct ktrace_hwt_thread *thread = find_bare(context);

	if (thread) {
		ktrace_hwt_unit_attach(unit, thread);
		say_created(context, thread);
	}
	ktrace_hwt_unlock(saved);
	ktrace_hwt_kernel()->table_unlock(table);
	return thread != KTRACE_NULL;
}

int ktrace_hwt_adopt(struct ktrace_hwt_context *context)
{
	for (;;) {
		unsigned long table = ktrace_hwt_kernel()->table_lock();
		int more = find_bare(context) != KTRACE_NULL;
		struct ktrace_hwt_unit *unit;
		int error;

		ktrace_hwt_kernel()->table_unlock(table);
		if (!more)
			return KTRACE_OK;
		error = ktrace_hwt_unit_make(context, context->units, &unit);
		if (error)
			return error;
		if (!give(context, unit)) {
			ktrace_hwt_unit_free(unit);
			return KTRACE_OK;
		}
	}
}

/* ---- Hooks about threads ----------------------------------------------------------------------- */

/* If there is no memory for a unit, the thread is recorded without a unit. */
void ktrace_hwt_do_thread_create(struct ktrace_hwt_process *process, struct ktrace_hwt_thread *thread)
{
	struct ktrace_hwt_context *context = ktrace_hwt_hold_process(process);
	struct ktrace_hwt_unit *unit = KTRACE_NULL;
	struct ktrace_proc_pending pending;
	unsigned long saved;
	uint64_t fixed;

	if (!context)
		return;
	if (ktrace_hwt_control_lock(context)) {
		ktrace_hwt_put(context);
		return;
	}
	if (!thread->unit && ktrace_hwt_unit_make(context, context->units, &unit) == KTRACE_OK) {
		saved = ktrace_hwt_lock();
		ktrace_hwt_unit_attach(unit, thread);
		ktrace_hwt_unlock(saved);
	}
	ktrace_hwt_pending_thread(&pending, KTRX_HWT_THREAD_CREATE, &fixed, context, thread, KTRACE_NULL);
	ktrace_hwt_control_unlock(context);
	ktrace_hwt_record(context, &pending, 0);
	ktrace_hwt_put(context);
}

void ktrace_hwt_do_thread_name(struct ktrace_hwt_process *process, struct ktrace_hwt_thread *thread,
			       const char *name)
{
	struct ktrace_hwt_context *context = ktrace_hwt_hold_process(process);
	struct ktrace_proc_pending pending;
	unsigned long saved;
	uint64_t fixed;

	if (!context)
		return;
	/* the lock is needed because the context may be ending, and may separate the thread from its unit */
	saved = ktrace_hwt_lock();
	ktrace_hwt_pending_thread(&pending, KTRX_HWT_THREAD_NAME, &fixed, context, thread, name);
	ktrace_hwt_unlock(saved);
	ktrace_hwt_record(context, &pending, 0);
	ktrace_hwt_put(context);
}

void ktrace_hwt_do_thread_exit(struct ktrace_hwt_process *process, struct ktrace_hwt_thread *thread)
{
	struct ktrace_hwt_context *context;
	struct ktrace_proc_pending pending;
	struct ktrace_hwt_unit *unit;
	unsigned long saved;
	uint64_t fixed[3];

	if (!ktrace_hwt_kernel())
		return;
	saved = ktrace_hwt_lock();
	thread->ended = 1;
	unit = thread->unit;
	context = process->context;
	if (context)
		ktrace_hwt_hold(context);
	ktrace_hwt_unlock(saved);
	if (!context)
		return;
	if (unit) {
		ktrace_hwt_unit_detach(unit);
		ktrace_hwt_pending_fill(&pending, fixed, unit);
		ktrace_hwt_record(context, &pending, 0);
	}
	ktrace_hwt_put(context);
}

void ktrace_hwt_do_exit(struct ktrace_hwt_process *process)
{
	struct ktrace_hwt_context *context;
	unsigned long saved;
	int locked;

	if (!ktrace_hwt_kernel())
		return;
	saved = ktrace_hwt_lock();
	process->ended = 1;
	ktrace_hwt_unlock(saved);
	context = ktrace_hwt_hold_process(process);
	if (!context)
		return;
	locked = ktrace_hwt_control_lock(context) == KTRACE_OK;
	ktrace_hwt_detach(context);
	if (locked)
		ktrace_hwt_control_unlock(context);
	ktrace_hwt_put(context);
}
