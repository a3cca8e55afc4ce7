/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The ring of a sink: whole records one behind the other from tail to head. None lies across the end: where
 * one does not fit there, it begins at 0, and `wrap` says where those before it stop. While tail <= head
 * nothing has wrapped. Short lock held in all of them.
 */
#ifndef KTRACE_PROC_RING_H
#define KTRACE_PROC_RING_H

#include "proc.h"

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

#endif
