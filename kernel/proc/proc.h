/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Declarations that the source files of kernel/proc share.
 *
 * The steps of a record: proc_hooks.c makes a pending record, proc_record.c finds the sink and lays the
 * record out in the sink's ring, drain.c writes the ring to the file. sink.c opens and closes sinks.
 * proc_control.c begins and ends tracing, and follows processes.
 *
 * The spinlock protects everything in sinks, and which process is traced into which sink. The sink's own lock
 * is held while its file is written or sink->copy is used, and is taken before the spinlock. While a sink is
 * being opened, it has no references, and no other context can take one. A sink without references is in the
 * list of idle sinks until a thread that may sleep closes it.
 */
#ifndef KTRACE_PROC_PROC_H
#define KTRACE_PROC_PROC_H

#include "../base/proc_trace.h"

struct ktrace_proc_state {
	const struct ktrace_proc_kernel *kernel; /* callbacks of the kernel; NULL before ktrace_proc_init() */
	struct ktrace_proc_sink *sinks;		 /* list of all sinks that are not closed */
	struct ktrace_proc_sink *idle;
};
extern KTRACE_HIDDEN struct ktrace_proc_state ktrace_proc_state;

enum ktrace_proc_outcome {
	KTRACE_PROC_RECORDED,
	/* the record was not stored, because there is no room now; it was not counted as lost */
	KTRACE_PROC_FULL,
	KTRACE_PROC_NOT_TRACED, /* there was nothing to record, so no record is lost */
};

KTRACE_INLINE unsigned long ktrace_proc_lock(void)
{
	return ktrace_proc_state.kernel->lock();
}

KTRACE_INLINE void ktrace_proc_unlock(unsigned long saved)
{
	ktrace_proc_state.kernel->unlock(saved);
}

/*
 * Disable and enable recording by the thread's hooks, while the thread works for a trace. NULL: the thread
 * calls no hooks.
 */
KTRACE_INLINE void ktrace_proc_enter(struct ktrace_proc_thread *thread)
{
	if (thread)
		thread->busy++;
}

KTRACE_INLINE void ktrace_proc_leave(struct ktrace_proc_thread *thread)
{
	if (thread)
		thread->busy--;
}

/* ---- dragonfly.c ------------------------------------------------------------------------------- */

#define KTRACE_PROC_DRAGONFLY_HEAD 64u

/*
 * Lays the record out in the sink's ring, in DragonFly's format. In all other respects, does the same as
 * ktrace_proc_compose().
 */
KTRACE_HIDDEN enum ktrace_proc_outcome ktrace_proc_dragonfly(struct ktrace_proc_sink *sink,
							     const struct ktrace_proc *process,
							     const struct ktrace_proc_pending *pending);

/*
 * Maximum number of attempts to make room for a record, after which the record is lost. An attempt fails if
 * other threads take the room before this thread can use it.
 */
#define KTRACE_PROC_TRIES 4u

/* ---- proc_record.c ----------------------------------------------------------------------------- */

/*
 * Stores the record in the sink's ring, in the format of ktrx/proc.h.
 * Requires: the spinlock is held; the sink is open or being opened.
 */
KTRACE_HIDDEN enum ktrace_proc_outcome ktrace_proc_compose(struct ktrace_proc_sink *sink,
							   const struct ktrace_proc *process,
							   const struct ktrace_proc_pending *pending);

/* Returns the size in bytes of the record that begins at offset `at` in the ring. */
KTRACE_HIDDEN uint32_t ktrace_proc_record_size(const struct ktrace_proc_sink *sink, uint32_t at);

/*
 * Puts the record into the process's sink, if the process is traced.
 * Requires: the spinlock is held.
 */
KTRACE_HIDDEN enum ktrace_proc_outcome ktrace_proc_put(struct ktrace_proc *process,
						       const struct ktrace_proc_pending *pending);

/*
 * Counts a lost record. The next record reports the count.
 * Requires: the spinlock is held.
 */
KTRACE_HIDDEN void ktrace_proc_lose(struct ktrace_proc_sink *sink);

/*
 * Puts the record into the process's sink, like ktrace_proc_put(), but takes the spinlock itself. If there is
 * no room, writes to the file first, unless the pending record has the flag KTRX_PROC_QUEUED. Returns FULL if
 * the record is lost.
 */
KTRACE_HIDDEN enum ktrace_proc_outcome ktrace_proc_record(struct ktrace_proc *process,
							  struct ktrace_proc_thread *thread,
							  const struct ktrace_proc_pending *pending);

/*
 * Records the return from a system call, like ktrace_proc_record(). Then writes the waiting records to the
 * file if they have at least drain_at bytes; this also happens if returns are not traced.
 * May sleep.
 */
KTRACE_HIDDEN enum ktrace_proc_outcome ktrace_proc_record_return(struct ktrace_proc *process,
								 struct ktrace_proc_thread *thread,
								 const struct ktrace_proc_pending *pending);

/* ---- drain.c ----------------------------------------------------------------------------------- */

/*
 * Writes waiting records to the file.
 * Requires: the caller has a reference. May sleep.
 */
KTRACE_HIDDEN void ktrace_proc_drain(struct ktrace_proc_sink *sink, struct ktrace_proc_thread *thread);

/*
 * Two parts of ktrace_proc_drain(). Call ktrace_proc_drain_locked() with the sink locked, and
 * ktrace_proc_drain_after() after unlocking the sink.
 */
KTRACE_HIDDEN void ktrace_proc_drain_locked(struct ktrace_proc_sink *sink);
KTRACE_HIDDEN void ktrace_proc_drain_after(struct ktrace_proc_sink *sink);

/*
 * Writes to the file without using the ring, all bytes or none. Returns nonzero on success.
 * Requires: the sink is locked, and no record in the file is incomplete.
 */
KTRACE_HIDDEN int ktrace_proc_write(struct ktrace_proc_sink *sink, const void *data, size_t size);

/*
 * Removes the bytes that were written last. Returns nonzero on success.
 * Requires: the sink is locked.
 */
KTRACE_HIDDEN int ktrace_proc_take_back(struct ktrace_proc_sink *sink, uint64_t bytes);

/* ---- sink.c ------------------------------------------------------------------------------------ */

/*
 * Take and drop a reference. After a drop, the caller must call ktrace_proc_close_idle().
 * Requires: the spinlock is held.
 */
KTRACE_HIDDEN void ktrace_proc_hold(struct ktrace_proc_sink *sink);
KTRACE_HIDDEN void ktrace_proc_drop(struct ktrace_proc_sink *sink);

/*
 * Ends the sink: it accepts no more records. If the sink has already ended, keeps the earlier reason.
 * Requires: the spinlock is held.
 */
KTRACE_HIDDEN void ktrace_proc_end(struct ktrace_proc_sink *sink, uint32_t reason);

/*
 * Sets the state of the sink. If the new state is OPEN, also takes a reference for the caller that opens the
 * sink. If it is CLOSED, also removes the sink from the list.
 */
KTRACE_HIDDEN void ktrace_proc_set_state(struct ktrace_proc_sink *sink, uint32_t state);

/*
 * Closes sinks without references.
 * May sleep.
 */
KTRACE_HIDDEN void ktrace_proc_close_idle(struct ktrace_proc_thread *thread);

/* ---- proc_control.c ---------------------------------------------------------------------------- */

/*
 * Stops tracing the process.
 * Requires: the spinlock is held.
 */
KTRACE_HIDDEN void ktrace_proc_forget(struct ktrace_proc *process);

/*
 * Stops tracing all processes that are traced into the sink.
 * Requires: neither the table lock nor the spinlock is held.
 */
KTRACE_HIDDEN void ktrace_proc_forget_all(struct ktrace_proc_sink *sink);

/*
 * Returns the pid of the parent process; 0 if there is no parent.
 * Requires: the table is locked.
 */
KTRACE_HIDDEN uint32_t ktrace_proc_parent_pid(struct ktrace_proc *process);

/*
 * Records the origin of a process. `how`: KTRX_PROC_CTOR_SET or _FORK.
 * Requires: the spinlock is held.
 */
KTRACE_HIDDEN void ktrace_proc_record_ctor(struct ktrace_proc *process, uint32_t parent, uint32_t how,
					   uint32_t thread);

/* ---- The ring of a sink ----------------------------------------------------------------------- */

/*
 * The ring of a sink: whole records, one after another, from tail to head. No record wraps around the end of
 * the ring. If a record does not fit before the end, it begins at offset 0, and `wrap` is the offset at which
 * the previous record ends. While tail <= head, no waiting record is at the beginning of the ring, and `wrap`
 * is not used.
 * Requires, in all functions: the spinlock is held.
 */

#define KTRACE_PROC_NOWHERE KTRX_U32_MAX

/* Returns the number of bytes of all waiting records. */
KTRACE_INLINE uint32_t ktrace_proc_waiting(const struct ktrace_proc_sink *sink)
{
	return sink->tail <= sink->head ? sink->head - sink->tail : sink->wrap - sink->tail + sink->head;
}

/*
 * Finds room for a record. Returns the offset of the room, or KTRACE_PROC_NOWHERE. The room is chosen so that
 * head does not become equal to tail, because that means an empty ring.
 */
KTRACE_INLINE uint32_t ktrace_proc_place(struct ktrace_proc_sink *sink, uint32_t bytes)
{
	uint32_t at = sink->head;

	if (KTRACE_LIKELY(sink->tail <= at)) {
		if (KTRACE_LIKELY(sink->size - at >= bytes))
			return at;
		if (sink->tail <= bytes)
			return KTRACE_PROC_NOWHERE;
		sink->wrap = at;
		return 0;
	}
	return sink->tail - at > bytes ? at : KTRACE_PROC_NOWHERE;
}

/* Returns the number of waiting bytes from tail on that are contiguous in the ring. */
KTRACE_UNUSED_INLINE uint32_t ktrace_proc_piece(struct ktrace_proc_sink *sink)
{
	if (sink->tail > sink->head && sink->tail == sink->wrap)
		sink->tail = 0;
	return (sink->tail <= sink->head ? sink->head : sink->wrap) - sink->tail;
}

/*
 * Removes the first `bytes` waiting bytes, which must be contiguous whole records. If the ring is empty after
 * that, it starts again at offset 0.
 */
KTRACE_UNUSED_INLINE void ktrace_proc_consume(struct ktrace_proc_sink *sink, uint32_t bytes)
{
	sink->tail += bytes;
	if (sink->tail == sink->head) {
		sink->tail = 0;
		sink->head = 0;
	}
}

/* ---- Layout of a record ----------------------------------------------------------------------- */

/*
 * Parts of the code that stores a record in a sink's ring, for all formats. Requires: the spinlock is held.
 */

KTRACE_FIELD_INLINE void ktrace_proc_put_payload(uint8_t *to, const struct ktrace_proc_pending *pending)
{
	to = ktrace_copy(to, pending->fixed, pending->fixed_size);
	if (pending->text_size)
		to = ktrace_copy(to, pending->text, pending->text_size);
	if (pending->data_size)
		ktrace_copy(to, pending->data, pending->data_size);
}

/* Reserves room for a record in the ring, and within the sink's limit. */
KTRACE_FIELD_INLINE enum ktrace_proc_outcome ktrace_proc_make_room(struct ktrace_proc_sink *sink,
								   uint32_t size, uint8_t **record)
{
	uint32_t at;

	if (KTRACE_UNLIKELY(size > sink->room)) {
		ktrace_proc_end(sink, KTRX_PROC_ENDED_LIMIT);
		return KTRACE_PROC_NOT_TRACED;
	}
	at = ktrace_proc_place(sink, size);
	if (KTRACE_UNLIKELY(at == KTRACE_PROC_NOWHERE))
		return KTRACE_PROC_FULL;
	sink->room -= size;
	sink->head = at + size;
	sink->records++;
	*record = sink->ring + at;
	return KTRACE_PROC_RECORDED;
}

#endif
