/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Events from elsewhere beside those of a trace: whoever can read something else that was recorded on the
 * same machine by the same clock hands it over, ring by ring, and from there on both are one timeline.
 */
#ifndef KTREAD_BESIDE_H
#define KTREAD_BESIDE_H

#include "ktread/ktread.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KTREAD_BESIDE_PAYLOAD 512u /* bytes of an event's fields */

/* Its fields are packed as those of the trace's own events. */
struct ktread_beside_event {
	/* of the trace's clock; within a ring, what comes late is put at the stamp before it */
	uint64_t stamp;
	uint32_t cpu, thread;
	uint32_t type; /* index in the source's types */
	uint32_t size;
	unsigned char payload[KTREAD_BESIDE_PAYLOAD];
};

struct ktread_beside_source {
	size_t size;	  /* sizeof(struct ktread_beside_source) */
	const char *path; /* for messages */
	void *state;
	uint32_t rings;
	const struct ktread_type *type; /* outlive the trace; ids are given here */
	uint32_t types;
	/* 1 and an event, 0 at the ring's end, or a negative error. */
	int (*next)(void *state, uint32_t ring, struct ktread_beside_event *event);
	int (*rewind)(void *state, uint32_t ring); /* 0 or an error */
	const char *(*message)(void *state);
	void (*close)(void *state);
};

/*
 * Adds its rings. The source is the trace's from here on, and closed with it, also after an error, when the
 * handle is good for nothing but ktread_message() and ktread_close().
 */
int ktread_beside_source(struct ktread *trace, const struct ktread_beside_source *source);

#ifdef __cplusplus
}
#endif

#endif
