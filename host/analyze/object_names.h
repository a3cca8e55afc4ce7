/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Finds names of locks, queues and interrupts for events that have only a number or an address: the name in
 * the last event that had a name for it. A kernel may record the name of a lock only on contention, where the
 * cost matters less. Show a name together with the number, because the memory of a lock may later be used for
 * another lock.
 */
#ifndef ANALYZE_OBJECT_NAMES_H
#define ANALYZE_OBJECT_NAMES_H

#include <stdint.h>

#include "analyze/wellknown.h"
#include "ktread/ktread.h"

/* maximum number of names; a new name replaces an older one with the same hash */
#define OBJECT_NAMES_KEPT 512u
/* maximum length of a name in bytes; a longer name is cut */
#define OBJECT_NAMES_MOST 39u

/* A zero-initialised structure is ready for use. */
struct object_names {
	struct {
		uint64_t key;
		uint8_t length; /* length of the name; 0: the entry is empty */
		char name[OBJECT_NAMES_MOST];
	} entry[OBJECT_NAMES_KEPT];
};

/* A name: untrusted bytes without a NUL, valid until the next event; NULL if the name is unknown. */
struct object_name {
	const char *bytes;
	uint32_t length;
};

/*
 * Handles an event. If the event has the name of a lock or an interrupt, stores the name. If it has only the
 * number of a lock, a queue or an interrupt, or an empty name, returns the stored name.
 */
struct object_name object_names_event(struct object_names *names, const struct ktread_event *event,
				      const struct wellknown *known);

#endif
