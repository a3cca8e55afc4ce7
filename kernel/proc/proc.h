/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What the files of kernel/proc share.
 *
 * From a hook to the file: proc_hooks.c makes a draft of a record, proc_record.c finds out where it goes and
 * lays it out in the sink's ring, drain.c writes what waits there. sink.c begins sinks and closes them,
 * proc_control.c says who is traced, and follows processes.
 *
 * The short lock protects everything in sinks, and which process is traced into which sink. The sink's own
 * lock is held while its file is written or sink->copy is used, and is taken before the short lock. A sink
 * that is being opened has no reference yet, so that no other context can take one. A sink without references
 * left is in the list of idle ones until a thread that may sleep closes it.
 */
#ifndef KTRACE_PROC_PROC_H
#define KTRACE_PROC_PROC_H

#include "../base/proc_trace.h"

struct ktrace_proc_state {
	const struct ktrace_proc_kernel *kernel; /* NULL before ktrace_proc_init() */
	struct ktrace_proc_sink *sinks;		 /* all that are not closed */
	struct ktrace_proc_sink *idle;
};
extern KTRACE_HIDDEN struct ktrace_proc_state ktrace_proc_state;

enum ktrace_proc_outcome {
	KTRACE_PROC_RECORDED,
	KTRACE_PROC_FULL,	/* not now; nothing was counted */
	KTRACE_PROC_NOT_TRACED, /* nor is there anything to count */
};

KTRACE_INLINE unsigned long ktrace_proc_lock(void)
{
	return ktrace_proc_state.kernel->lock();
}

KTRACE_INLINE void ktrace_proc_unlock(unsigned long saved)
{
	ktrace_proc_state.kernel->unlock(saved);
}

/* While a thread is at work for a trace its hooks record nothing. NULL: no thread that has hooks. */
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

/* As ktrace_proc_compose(), in DragonFly's format. */
KTRACE_HIDDEN enum ktrace_proc_outcome ktrace_proc_dragonfly(struct ktrace_proc_sink *sink,
							     const struct ktrace_proc *process,
							     const struct ktrace_proc_draft *draft);

/* How often room is made for a record before it counts as lost: others may take it in the meantime. */
#define KTRACE_PROC_TRIES 4u

/* ---- proc_record.c ----------------------------------------------------------------------------- */

/* Lays the record out in the sink's ring. Short lock held; the sink is open, or about to be. */
KTRACE_HIDDEN enum ktrace_proc_outcome ktrace_proc_compose(struct ktrace_proc_sink *sink,
							   const struct ktrace_proc *process,
							   const struct ktrace_proc_draft *draft);

/* Bytes of the record that begins there in the ring. */
KTRACE_HIDDEN uint32_t ktrace_proc_record_size(const struct ktrace_proc_sink *sink, uint32_t at);

/* Puts the record into the process's sink if it is traced. Short lock held. */
KTRACE_HIDDEN enum ktrace_proc_outcome ktrace_proc_put(struct ktrace_proc *process,
						       const struct ktrace_proc_draft *draft);

/* One more is lost, of which the next record tells. Short lock held. */
KTRACE_HIDDEN void ktrace_proc_lose(struct ktrace_proc_sink *sink);

/*
 * The same with the lock; where there is no room it is made first, unless the draft may not sleep. FULL: it
 * is lost.
 */
KTRACE_HIDDEN enum ktrace_proc_outcome ktrace_proc_record(struct ktrace_proc *process,
							  struct ktrace_proc_thread *thread,
							  const struct ktrace_proc_draft *draft);

/*
 * The same where a call returns, whether the draft's type is traced or not: writes what waits, if that is
 * enough. Sleeps.
 */
KTRACE_HIDDEN enum ktrace_proc_outcome ktrace_proc_record_return(struct ktrace_proc *process,
								 struct ktrace_proc_thread *thread,
								 const struct ktrace_proc_draft *draft);

/* ---- drain.c ----------------------------------------------------------------------------------- */

/* Writes what waits. The caller has a reference. Sleeps. */
KTRACE_HIDDEN void ktrace_proc_drain(struct ktrace_proc_sink *sink, struct ktrace_proc_thread *thread);

/* Its parts: with the sink locked, and what is left to do once it is not. */
KTRACE_HIDDEN void ktrace_proc_drain_locked(struct ktrace_proc_sink *sink);
KTRACE_HIDDEN void ktrace_proc_drain_after(struct ktrace_proc_sink *sink);

/* Writes past the ring, all of it or nothing: nonzero if it could be done. Sink locked, nothing torn. */
KTRACE_HIDDEN int ktrace_proc_write(struct ktrace_proc_sink *sink, const void *data, size_t size);

/* Takes bytes away that were written last: nonzero if that could be done. Sink locked. */
KTRACE_HIDDEN int ktrace_proc_take_back(struct ktrace_proc_sink *sink, uint64_t bytes);

/* ---- sink.c ------------------------------------------------------------------------------------ */

/* A reference more, one less. Short lock held; ktrace_proc_close_idle() is due after a drop. */
KTRACE_HIDDEN void ktrace_proc_hold(struct ktrace_proc_sink *sink);
KTRACE_HIDDEN void ktrace_proc_drop(struct ktrace_proc_sink *sink);

/* Nothing more comes into it. The first reason counts. Short lock held. */
KTRACE_HIDDEN void ktrace_proc_end(struct ktrace_proc_sink *sink, uint32_t reason);

/* Open, it has its opener's reference; closed, it is none of those that can be found any more. */
KTRACE_HIDDEN void ktrace_proc_set_state(struct ktrace_proc_sink *sink, uint32_t state);

/* Closes those that nobody refers to. Sleeps. */
KTRACE_HIDDEN void ktrace_proc_close_idle(struct ktrace_proc_thread *thread);

/* ---- proc_control.c ---------------------------------------------------------------------------- */

/* The process is not traced any more. Short lock held. */
KTRACE_HIDDEN void ktrace_proc_forget(struct ktrace_proc *process);

/* Nobody is traced into it any more. Neither lock held. */
KTRACE_HIDDEN void ktrace_proc_forget_all(struct ktrace_proc_sink *sink);

/* Its parent's, 0 if there is none. Table locked. */
KTRACE_HIDDEN uint32_t ktrace_proc_parent_pid(struct ktrace_proc *process);

/* The record that says where a process comes from. Short lock held, by KTRX_PROC_CTOR_SET and _FORK. */
KTRACE_HIDDEN void ktrace_proc_born(struct ktrace_proc *process, uint32_t parent, uint32_t how,
				    uint32_t thread);

/* ---- The ring of a sink ----------------------------------------------------------------------- */

/*
 * The ring of a sink: whole records one behind the other from tail to head. None lies across the end: where
 * one does not fit there, it begins at 0, and `wrap` says where those before it stop. While tail <= head
 * nothing has wrapped. Short lock held in all of them.
 */

#define KTRACE_PROC_NOWHERE UINT32_MAX

/* Bytes that wait. */
KTRACE_INLINE uint32_t ktrace_proc_waiting(const struct ktrace_proc_sink *sink)
{
	return sink->tail <= sink->head ? sink->head - sink->tail : sink->wrap - sink->tail + sink->head;
}

/*
 * Where a record of so many bytes may go. head never comes to stand where tail is: that would look like an
 * empty ring.
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

/* The first bytes that wait and lie in one piece: from tail, as many as returned. */
KTRACE_UNUSED_INLINE uint32_t ktrace_proc_piece(struct ktrace_proc_sink *sink)
{
	if (sink->tail > sink->head && sink->tail == sink->wrap)
		sink->tail = 0;
	return (sink->tail <= sink->head ? sink->head : sink->wrap) - sink->tail;
}

/* The first bytes of that piece, whole records, wait no more. An empty ring begins anew. */
KTRACE_UNUSED_INLINE void ktrace_proc_consume(struct ktrace_proc_sink *sink, uint32_t bytes)
{
	sink->tail += bytes;
	if (sink->tail == sink->head) {
		sink->tail = 0;
		sink->head = 0;
	}
}

/* ---- Layout of a record ----------------------------------------------------------------------- */

/* Laying a record out in a sink's ring, in whatever format. Short lock held in all of them. */

KTRACE_FIELD_INLINE void ktrace_proc_put_payload(uint8_t *to, const struct ktrace_proc_draft *draft)
{
	to = ktrace_copy(to, draft->fixed, draft->fixed_size);
	if (draft->text_size)
		to = ktrace_copy(to, draft->text, draft->text_size);
	if (draft->data_size)
		ktrace_copy(to, draft->data, draft->data_size);
}

/* Room for a record, within the limit too. */
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
