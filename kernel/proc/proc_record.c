/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Puts a pending record into the sink of its process. */
#include "proc.h"

/*
 * Reads the clock under the spinlock, so that records in the ring are ordered by timestamp, as far as the
 * clocks of CPUs agree.
 */
KTRACE_FIELD_INLINE enum ktrace_proc_outcome compose_ktrx(struct ktrace_proc_sink *sink,
							  const struct ktrace_proc *process,
							  const struct ktrace_proc_pending *pending)
{
	uint32_t payload = ktrace_proc_payload(pending), size = ktrace_proc_size(payload);
	enum ktrace_proc_outcome outcome;
	volatile uint64_t *words;
	uint8_t *record;

	outcome = ktrace_proc_make_room(sink, size, &record);
	if (outcome != KTRACE_PROC_RECORDED)
		return outcome;
	words = (volatile uint64_t *)record;
	ktrace_proc_head(words, pending, process->pid, sink->lost_now);
	sink->lost_now = 0;
	if (payload % 8 != 0)
		words[size / 8 - 1] = 0;
	ktrace_proc_put_payload(record + sizeof(struct ktrx_proc_record), pending);
	return KTRACE_PROC_RECORDED;
}

KTRACE_FIELD_INLINE enum ktrace_proc_outcome compose(struct ktrace_proc_sink *sink,
						     const struct ktrace_proc *process,
						     const struct ktrace_proc_pending *pending)
{
	if (KTRACE_LIKELY(sink->format == KTRACE_PROC_FORMAT_KTRX))
		return compose_ktrx(sink, process, pending);
	return ktrace_proc_dragonfly(sink, process, pending);
}

enum ktrace_proc_outcome ktrace_proc_compose(struct ktrace_proc_sink *sink, const struct ktrace_proc *process,
					     const struct ktrace_proc_pending *pending)
{
	return compose(sink, process, pending);
}

uint32_t ktrace_proc_record_size(const struct ktrace_proc_sink *sink, uint32_t at)
{
	/* a record begins with the size of its payload in both formats */
	const volatile uint8_t *size = sink->ring + at;
	uint32_t payload =
		size[0] | (uint32_t)size[1] << 8 | (uint32_t)size[2] << 16 | (uint32_t)size[3] << 24;

	if (sink->format == KTRACE_PROC_FORMAT_KTRX)
		return ktrace_proc_size(payload);
	return KTRACE_PROC_DRAGONFLY_HEAD + payload;
}

/* Records the name of the process. Called before the next record of the process is made. */
KTRACE_OUT_OF_LINE KTRACE_COLD enum ktrace_proc_outcome put_name(struct ktrace_proc *process, uint32_t thread)
{
	uint64_t name[KTRACE_PROC_NAME_MAX / 8];
	struct ktrace_proc_pending pending;
	enum ktrace_proc_outcome outcome;

	if (process->sink->format != KTRACE_PROC_FORMAT_KTRX) {
		process->named = 1;
		return KTRACE_PROC_RECORDED;
	}
	ktrace_proc_state.kernel->name(process, (char *)name, sizeof(name));
	ktrace_proc_pending_init(&pending, KTRX_PROC_NAME, 0, KTRACE_NULL, 0);
	pending.thread = thread;
	pending.text = (const char *)name;
	pending.text_size = ktrace_length(pending.text, sizeof(name));
	outcome = ktrace_proc_compose(process->sink, process, &pending);
	if (outcome == KTRACE_PROC_RECORDED)
		process->named = 1;
	return outcome;
}

KTRACE_FIELD_INLINE enum ktrace_proc_outcome put(struct ktrace_proc *process,
						 const struct ktrace_proc_pending *pending)
{
	struct ktrace_proc_sink *sink = process->sink;

	if (!sink || !(process->facilities & KTRACE_PROC_FACILITY(pending->type)) ||
	    sink->state != KTRACE_PROC_SINK_OPEN)
		return KTRACE_PROC_NOT_TRACED;
	if (KTRACE_UNLIKELY(!process->named)) {
		enum ktrace_proc_outcome outcome = put_name(process, pending->thread);

		if (outcome != KTRACE_PROC_RECORDED)
			return outcome;
	}
	return compose(sink, process, pending);
}

enum ktrace_proc_outcome ktrace_proc_put(struct ktrace_proc *process,
					 const struct ktrace_proc_pending *pending)
{
	return put(process, pending);
}

void ktrace_proc_lose(struct ktrace_proc_sink *sink)
{
	sink->lost++;
	if (sink->lost_now != KTRX_U32_MAX)
		sink->lost_now++;
}

/*
 * Returns nonzero if the ring must be written to the file now, or if processes must be released because the
 * sink has ended.
 */
static int is_due(const struct ktrace_proc_sink *sink)
{
	return ktrace_proc_waiting(sink) >= sink->drain_at ||
	       KTRACE_UNLIKELY(sink->state == KTRACE_PROC_SINK_ENDED && !sink->cleared);
}

/*
 * Tries once to record. If `last` is nonzero and there is no room, the record is lost. If a sink must be
 * written to its file now, stores it in *due and takes a reference for the caller; otherwise stores NULL.
 */
KTRACE_FIELD_INLINE enum ktrace_proc_outcome attempt(struct ktrace_proc *process,
						     const struct ktrace_proc_pending *pending, int last,
						     int returns, struct ktrace_proc_sink **due)
{
	unsigned long saved = ktrace_proc_lock();
	enum ktrace_proc_outcome outcome = put(process, pending);
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

KTRACE_FIELD_INLINE enum ktrace_proc_outcome record(struct ktrace_proc *process,
						    struct ktrace_proc_thread *thread,
						    const struct ktrace_proc_pending *pending, int returns)
{
	uint32_t tries = pending->flags & KTRX_PROC_QUEUED ? 0 : KTRACE_PROC_TRIES;

	for (;; tries--) {
		struct ktrace_proc_sink *due;
		enum ktrace_proc_outcome outcome = attempt(process, pending, tries == 0, returns, &due);

		if (KTRACE_UNLIKELY(due)) {
			ktrace_proc_drain(due, thread);
			ktrace_proc_sink_release(due, thread);
		}
		if (KTRACE_LIKELY(outcome != KTRACE_PROC_FULL) || tries == 0)
			return outcome;
	}
}

enum ktrace_proc_outcome ktrace_proc_record(struct ktrace_proc *process, struct ktrace_proc_thread *thread,
					    const struct ktrace_proc_pending *pending)
{
	return record(process, thread, pending, 0);
}

enum ktrace_proc_outcome ktrace_proc_record_return(struct ktrace_proc *process,
						   struct ktrace_proc_thread *thread,
						   const struct ktrace_proc_pending *pending)
{
	return record(process, thread, pending, 1);
}

/* ---- Records with memory of the program ------------------------------------------------------- */

/*
 * Records that contain memory of the program. Reading that memory takes time and may sleep. So the memory is
 * copied to the sink's `copy` first, under the sink's lock, and from there into the ring.
 */

/*
 * Returns the sink for such records of the process, and takes a reference for the caller. Returns NULL if
 * they are not traced.
 */
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

/*
 * Cuts the data to the sink's maximum.
 * Requires: the spinlock is held.
 */
static void fit(struct ktrace_proc_pending *pending, const struct ktrace_proc_sink *sink)
{
	if (pending->type != KTRX_PROC_GENIO || pending->data_size <= sink->data_max)
		return;
	pending->data_size = sink->data_max;
	pending->flags |= KTRX_PROC_CUT;
}

/*
 * Puts the record into the ring. If the process was traced into another sink after the caller looked the sink
 * up, the record goes into that new sink. If the new sink is full, the record is lost: making room needs the
 * lock of the new sink, which must not be taken here.
 * Requires: the sink is locked.
 */
static enum ktrace_proc_outcome put_copied(struct ktrace_proc *process, struct ktrace_proc_sink *sink,
					   struct ktrace_proc_pending *pending)
{
	for (uint32_t tries = KTRACE_PROC_TRIES;; tries--) {
		unsigned long saved = ktrace_proc_lock();
		enum ktrace_proc_outcome outcome = KTRACE_PROC_NOT_TRACED;
		int last = tries == 0 || process->sink != sink;

		if (process->sink) {
			fit(pending, process->sink);
			outcome = ktrace_proc_put(process, pending);
		}
		if (outcome == KTRACE_PROC_FULL && last)
			ktrace_proc_lose(process->sink);
		ktrace_proc_unlock(saved);
		if (outcome != KTRACE_PROC_FULL || last)
			return outcome;
		ktrace_proc_drain_locked(sink);
	}
}

/*
 * Adds `size` bytes of the program's memory to the pending record, and records it. If the bytes cannot be
 * read, records it without them; but if `must` is nonzero, records nothing.
 */
static int record_copied(struct ktrace_proc *process, struct ktrace_proc_thread *thread,
			 struct ktrace_proc_pending *pending, uintptr_t address, uint64_t size, int must)
{
	struct ktrace_proc_sink *sink = thread->busy ? KTRACE_NULL : claim(process, pending->type);
	int error = KTRACE_OK;
	uint32_t most;

	if (!sink)
		return KTRACE_OK;
	ktrace_proc_enter(thread);
	sink->operations->lock(sink);
	most = must ? KTRACE_PROC_DATA_MAX : sink->data_max;
	pending->data = sink->copy;
	pending->data_size = size < most ? (uint32_t)size : most;
	if (pending->data_size &&
	    ktrace_proc_state.kernel->copy_in(sink->copy, address, pending->data_size) < 0) {
		pending->data_size = 0;
		error = KTRACE_ERROR_FAULT;
	}
	if (pending->data_size < size)
		pending->flags |= KTRX_PROC_CUT;
	if (!(must && error) && put_copied(process, sink, pending) == KTRACE_PROC_FULL)
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
	struct ktrace_proc_pending pending;

	ktrace_proc_pending_init(&pending, KTRX_PROC_GENIO, 0, fixed, sizeof(fixed));
	record_copied(process, thread, &pending, address, size, 0);
}

int ktrace_proc_user(struct ktrace_proc *process, struct ktrace_proc_thread *thread, uintptr_t address,
		     size_t size)
{
	struct ktrace_proc_pending pending;

	if (size > KTRX_PROC_USER_MAX)
		return KTRACE_ERROR_ARGUMENT;
	if (!ktrace_proc_wants(process, KTRACE_PROC_FACILITY(KTRX_PROC_USER)))
		return KTRACE_OK;
	ktrace_proc_pending_init(&pending, KTRX_PROC_USER, 0, KTRACE_NULL, 0);
	return record_copied(process, thread, &pending, address, size, 1);
}
