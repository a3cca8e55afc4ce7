/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Records that carry the program's own memory. To read it takes time and may sleep, so it goes into the
 * sink's `copy` first, under the sink's lock, and from there into the ring, all at once.
 */
#include "proc.h"

/* The sink into which such records of the process go, held; NULL: none. */
static struct ktrace_proc_sink *claim(struct ktrace_proc *process, uint32_t type)
{
	unsigned long saved = ktrace_proc_lock();
	struct ktrace_proc_sink *sink = process->sink;

	if (sink &&
	    ((process->facilities & KTRACE_PROC_FACILITY(type)) == 0 || sink->state != KTRACE_PROC_SINK_OPEN))
		sink = KTRACE_NULL;
	if (sink)
		ktrace_proc_hold(sink);
	ktrace_proc_unlock(saved);
	return sink;
}

/* No more data than the sink is to have. Short lock held. */
static void fit(struct ktrace_proc_draft *draft, const struct ktrace_proc_sink *sink)
{
	if (draft->type != KTRX_PROC_GENIO || draft->data_size <= sink->data_max)
		return;
	draft->data_size = sink->data_max;
	draft->flags |= KTRX_PROC_CUT;
}

/*
 * Sink locked. The process may be traced into another one by now: there the record goes then, or is lost if
 * that is full, for its lock is not ours to take.
 */
static enum ktrace_proc_outcome put(struct ktrace_proc *process, struct ktrace_proc_sink *sink,
				    struct ktrace_proc_draft *draft)
{
	for (uint32_t tries = KTRACE_PROC_TRIES;; tries--) {
		unsigned long saved = ktrace_proc_lock();
		enum ktrace_proc_outcome outcome = KTRACE_PROC_NOT_TRACED;
		int last = tries == 0 || process->sink != sink;

		if (process->sink) {
			fit(draft, process->sink);
			outcome = ktrace_proc_put(process, draft);
		}
		if (outcome == KTRACE_PROC_FULL && last)
			ktrace_proc_lose(process->sink);
		ktrace_proc_unlock(saved);
		if (outcome != KTRACE_PROC_FULL || last)
			return outcome;
		ktrace_proc_drain_locked(sink);
	}
}

/* The draft with `size` bytes of the program's at an address; `must`: without them there is no record. */
static int record_copied(struct ktrace_proc *process, struct ktrace_proc_thread *thread,
			 struct ktrace_proc_draft *draft, uintptr_t address, uint64_t size, int must)
{
	struct ktrace_proc_sink *sink = thread->busy ? KTRACE_NULL : claim(process, draft->type);
	int error = KTRACE_OK;
	uint32_t most;

	if (!sink)
		return KTRACE_OK;
	ktrace_proc_enter(thread);
	sink->operations->lock(sink);
	most = must ? KTRACE_PROC_DATA_MAX : sink->data_max;
	draft->data = sink->copy;
	draft->data_size = size < most ? (uint32_t)size : most;
	if (draft->data_size &&
	    ktrace_proc_state.kernel->copy_in(sink->copy, address, draft->data_size) < 0) {
		draft->data_size = 0;
		error = KTRACE_ERROR_FAULT;
	}
	if (draft->data_size < size)
		draft->flags |= KTRX_PROC_CUT;
	if (!(must && error) && put(process, sink, draft) == KTRACE_PROC_FULL)
		error = KTRACE_ERROR_LOST;
	sink->operations->unlock(sink);
	ktrace_proc_drain_after(sink);
	ktrace_proc_leave(thread);
	ktrace_proc_sink_release(sink, thread);
	return error;
}

void ktrace_proc_record_genio(struct ktrace_proc *process, struct ktrace_proc_thread *thread, int32_t fd,
			      int write, uintptr_t address, uint64_t size)
{
	uint64_t fixed[2] = { (uint32_t)fd | (uint64_t)(write != 0) << 32, size };
	struct ktrace_proc_draft draft;

	ktrace_proc_draft(&draft, KTRX_PROC_GENIO, 0, fixed, sizeof(fixed));
	record_copied(process, thread, &draft, address, size, 0);
}

int ktrace_proc_user(struct ktrace_proc *process, struct ktrace_proc_thread *thread, uintptr_t address,
		     size_t size)
{
	struct ktrace_proc_draft draft;

	if (size > KTRX_PROC_USER_MAX)
		return KTRACE_ERROR_ARGUMENT;
	if (!ktrace_proc_wants(process, KTRACE_PROC_FACILITY(KTRX_PROC_USER)))
		return KTRACE_OK;
	ktrace_proc_draft(&draft, KTRX_PROC_USER, 0, KTRACE_NULL, 0);
	return record_copied(process, thread, &draft, address, size, 1);
}
