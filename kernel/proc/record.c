/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* From a draft to the sink of the process that it is about. */
#include "proc.h"
#include "ring.h"

/* How often room is made before a record counts as lost: others may take it in the meantime. */
#define TRIES 4u

/* Tells the sink, ahead of what follows, how the process is called. */
static enum ktrace_proc_outcome put_name(struct ktrace_proc *process, uint32_t thread)
{
	uint64_t name[KTRACE_PROC_NAME_MAX / 8];
	struct ktrace_proc_draft draft;
	enum ktrace_proc_outcome outcome;

	if (process->sink->format != KTRACE_PROC_FORMAT_KTRX) {
		process->named = 1;
		return KTRACE_PROC_RECORDED;
	}
	ktrace_proc_state.kernel->name(process, (char *)name, sizeof(name));
	ktrace_proc_draft(&draft, KTRX_PROC_NAME, 0, KTRACE_NULL, 0);
	draft.thread = thread;
	draft.text = (const char *)name;
	draft.text_size = ktrace_proc_length(draft.text, sizeof(name));
	outcome = ktrace_proc_compose(process->sink, process, &draft);
	if (outcome == KTRACE_PROC_RECORDED)
		process->named = 1;
	return outcome;
}

enum ktrace_proc_outcome ktrace_proc_put(struct ktrace_proc *process, const struct ktrace_proc_draft *draft)
{
	struct ktrace_proc_sink *sink = process->sink;

	if (!sink || !(process->facilities & KTRACE_PROC_FACILITY(draft->type)) ||
	    sink->state != KTRACE_PROC_SINK_OPEN)
		return KTRACE_PROC_NOT_TRACED;
	if (KTRACE_UNLIKELY(!process->named)) {
		enum ktrace_proc_outcome outcome = put_name(process, draft->thread);

		if (outcome != KTRACE_PROC_RECORDED)
			return outcome;
	}
	return ktrace_proc_compose(sink, process, draft);
}

void ktrace_proc_lose(struct ktrace_proc_sink *sink)
{
	sink->lost++;
	if (sink->lost_now != UINT32_MAX)
		sink->lost_now++;
}

/* Is there something to be written now, or somebody to be told that the sink has ended? */
static int is_due(const struct ktrace_proc_sink *sink)
{
	return ktrace_proc_waiting(sink) >= sink->drain_at ||
	       KTRACE_UNLIKELY(sink->state == KTRACE_PROC_SINK_ENDED && !sink->cleared);
}

/* Once; `last`: what does not fit is lost. *due, if not NULL, is held and to be drained. */
KTRACE_INLINE enum ktrace_proc_outcome attempt(struct ktrace_proc *process,
					       const struct ktrace_proc_draft *draft, int last, int returns,
					       struct ktrace_proc_sink **due)
{
	unsigned long saved = ktrace_proc_lock();
	enum ktrace_proc_outcome outcome = ktrace_proc_put(process, draft);
	struct ktrace_proc_sink *sink = process->sink;

	*due = KTRACE_NULL;
	if (KTRACE_UNLIKELY(outcome == KTRACE_PROC_FULL)) {
		if (last)
			ktrace_proc_lose(sink);
		else
			*due = sink;
	} else if (returns && sink && KTRACE_UNLIKELY(is_due(sink))) {
		*due = sink;
	}
	if (KTRACE_UNLIKELY(*due))
		ktrace_proc_hold(*due);
	ktrace_proc_unlock(saved);
	return outcome;
}

KTRACE_INLINE enum ktrace_proc_outcome record(struct ktrace_proc *process, struct ktrace_proc_thread *thread,
					      const struct ktrace_proc_draft *draft, int returns)
{
	uint32_t tries = draft->flags & KTRX_PROC_QUEUED ? 0 : TRIES;

	for (;; tries--) {
		struct ktrace_proc_sink *due;
		enum ktrace_proc_outcome outcome = attempt(process, draft, tries == 0, returns, &due);

		if (KTRACE_UNLIKELY(due)) {
			ktrace_proc_drain(due, thread);
			ktrace_proc_sink_release(due, thread);
		}
		if (KTRACE_LIKELY(outcome != KTRACE_PROC_FULL) || tries == 0)
			return outcome;
	}
}

enum ktrace_proc_outcome ktrace_proc_record(struct ktrace_proc *process, struct ktrace_proc_thread *thread,
					    const struct ktrace_proc_draft *draft)
{
	return record(process, thread, draft, 0);
}

enum ktrace_proc_outcome ktrace_proc_record_return(struct ktrace_proc *process,
						   struct ktrace_proc_thread *thread,
						   const struct ktrace_proc_draft *draft)
{
	return record(process, thread, draft, 1);
}
