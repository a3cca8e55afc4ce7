/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Laying a record out in a sink's ring, in whatever format. Short lock held in all of them. */
#ifndef KTRACE_PROC_LAYOUT_H
#define KTRACE_PROC_LAYOUT_H

#include "proc.h"
#include "ring.h"

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
