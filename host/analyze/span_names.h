/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Names of spans, as viewers show them: "read", "irq 33", "wait inode", "page fault". */
#ifndef ANALYZE_SPAN_NAMES_H
#define ANALYZE_SPAN_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/spans.h"
#include "analyze/wellknown.h"
#include "ktread/ktread.h"

/* maximum number of locks whose names are cached; a new name replaces an older one with the same hash */
#define SPAN_NAMES_LOCKS 512u
/* maximum number of bytes of a name from the trace, and of a whole name */
#define SPAN_NAMES_RECORDED 128u
#define SPAN_NAMES_MOST	    160u

struct span_names_lock {
	uint64_t key;
	uint8_t length; /* length of the name; 0 if the name is unknown */
	char name[39];
};

/*
 * The names of locks. A kernel may record the name of a lock only on contention, where the cost matters less.
 * So the name is kept, and used for other events of the same lock. A zero-initialised structure is ready for
 * use.
 */
struct span_names {
	struct span_names_lock lock[SPAN_NAMES_LOCKS];
};

/*
 * Writes the name of the span that `event` begins to `text`, which has SPAN_NAMES_MOST bytes. The name may
 * hold any bytes. Returns its length.
 */
size_t span_name(struct span_names *names, const struct ktread *trace, const struct spans_span *span,
		 const struct ktread_event *event, const struct wellknown *known, char *text);

/* The names of system calls and interrupts, as span_name() writes them if the event has no name. */
size_t span_name_call(const struct ktread *trace, uint64_t number, char *text);
size_t span_name_interrupt(uint64_t number, char *text);

#endif
