/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Adds events from another source to a trace. The source was recorded on the same machine with the same
 * clock. A caller that can read the source supplies its events, one ring after another, and ktread merges
 * them with the events of the trace.
 */
#ifndef KTREAD_BESIDE_H
#define KTREAD_BESIDE_H

#include "ktread/ktread.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KTREAD_BESIDE_PAYLOAD 512u /* maximum total size of the fields of an event, in bytes */

/* An event of another source. Its fields are packed like those of the trace's own events. */
struct ktread_beside_event {
	/*
	 * timestamp of the event, in ticks of the trace's clock. A timestamp that is lower than the previous
	 * timestamp of the same ring is replaced by that previous timestamp
	 */
	uint64_t stamp;
	uint32_t cpu, thread;
	uint32_t type; /* index in ktread_beside_source.type */
	uint32_t size;
	unsigned char payload[KTREAD_BESIDE_PAYLOAD];
};

struct ktread_beside_source {
	size_t size;	  /* sizeof(struct ktread_beside_source) */
	const char *path; /* name of the source in messages */
	void *state;
	uint32_t rings;
	/* event types of the source, in an array that must outlive the trace; ktread assigns their ids */
	const struct ktread_type *type;
	uint32_t types;
	/* Stores the next event of a ring. Returns 1, or 0 at the end of the ring, or a negative error. */
	int (*next)(void *state, uint32_t ring, struct ktread_beside_event *event);
	/* starts again at the first event of a ring; returns 0 or a negative error */
	int (*rewind)(void *state, uint32_t ring);
	const char *(*message)(void *state);
	void (*close)(void *state);
};

/*
 * Adds the rings of a source. The trace owns the source from here on, and ktread_close() closes it, also
 * after an error.
 * Returns 0 or a negative error. After an error, only ktread_message() and ktread_close() may be called.
 */
int ktread_beside_source(struct ktread *trace, const struct ktread_beside_source *source);

#ifdef __cplusplus
}
#endif

#endif
