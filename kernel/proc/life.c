/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A trace follows its process: to children, through another program, to its end. */
#include "proc.h"

void ktrace_proc_fork(struct ktrace_proc *parent, struct ktrace_proc *child, uint32_t pid, uint32_t thread)
{
	unsigned long saved;

	if (!ktrace_proc_wants(parent, KTRACE_PROC_INHERIT))
		return;
	saved = ktrace_proc_lock();
	if ((parent->facilities & KTRACE_PROC_INHERIT) && parent->sink) {
		ktrace_proc_hold(parent->sink);
		child->sink = parent->sink;
		child->facilities = parent->facilities;
		child->pid = pid;
		ktrace_proc_born(child, parent->pid, KTRX_PROC_CTOR_FORK, thread);
	}
	ktrace_proc_unlock(saved);
}

void ktrace_proc_renamed(struct ktrace_proc *process)
{
	unsigned long saved;

	if (!ktrace_proc_wants(process, UINT32_MAX))
		return;
	saved = ktrace_proc_lock();
	process->named = 0;
	ktrace_proc_unlock(saved);
}

/*
 * What it did is in the file before anybody learns that it is not traced any more. Short lock held, which is
 * given up.
 */
static void forget_written(struct ktrace_proc *process, struct ktrace_proc_thread *thread,
			   unsigned long saved)
{
	struct ktrace_proc_sink *sink = process->sink;

	if (sink)
		ktrace_proc_hold(sink);
	ktrace_proc_forget(process);
	ktrace_proc_unlock(saved);
	if (!sink)
		return;
	ktrace_proc_drain(sink, thread);
	ktrace_proc_sink_release(sink, thread);
}

/* Whoever traces it without rights of his own must not see by that what the program may see. */
static void drop_privileged(struct ktrace_proc *process, struct ktrace_proc_thread *thread)
{
	unsigned long saved = ktrace_proc_lock();

	if (process->facilities & KTRACE_PROC_ROOT)
		ktrace_proc_unlock(saved);
	else
		forget_written(process, thread, saved);
}

void ktrace_proc_exec(struct ktrace_proc *process, struct ktrace_proc_thread *thread, int gains)
{
	const struct ktrace_proc_kernel *kernel = ktrace_proc_state.kernel;
	char name[KTRACE_PROC_NAME_MAX];
	struct ktrace_proc_draft draft;
	unsigned long saved;
	uint64_t fixed;

	if (!ktrace_proc_wants(process, UINT32_MAX))
		return;
	if (gains)
		drop_privileged(process, thread);
	ktrace_proc_renamed(process);
	if (!ktrace_proc_wants(process, KTRACE_PROC_FACILITY(KTRX_PROC_PROCCTOR)) || thread->busy)
		return;
	saved = kernel->table_lock();
	fixed = ktrace_proc_parent_pid(process) | (uint64_t)KTRX_PROC_CTOR_EXEC << 32;
	kernel->table_unlock(saved);
	saved = ktrace_proc_lock();
	kernel->name(process, name, sizeof(name));
	ktrace_proc_unlock(saved);
	ktrace_proc_draft(&draft, KTRX_PROC_PROCCTOR, 0, &fixed, sizeof(fixed));
	draft.text = name;
	draft.text_size = ktrace_length(name, sizeof(name));
	ktrace_proc_record(process, thread, &draft);
}

void ktrace_proc_exit(struct ktrace_proc *process, struct ktrace_proc_thread *thread, uint32_t status,
		      int signaled)
{
	uint64_t fixed = status | (uint64_t)(signaled != 0) << 32;
	struct ktrace_proc_draft draft;
	unsigned long saved;

	if (!ktrace_proc_state.kernel)
		return;
	ktrace_proc_draft(&draft, KTRX_PROC_PROCDTOR, 0, &fixed, sizeof(fixed));
	if (ktrace_proc_wants(process, KTRACE_PROC_FACILITY(KTRX_PROC_PROCDTOR)))
		ktrace_proc_record(process, thread, &draft);
	saved = ktrace_proc_lock();
	process->ended = 1;
	forget_written(process, thread, saved);
}
