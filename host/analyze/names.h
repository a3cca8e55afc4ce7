/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Names that events without a name get from other events: of locks, queues and interrupts, of spans, and of
 * open files.
 */
#ifndef ANALYZE_NAMES_H
#define ANALYZE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/spans.h"
#include "analyze/wellknown.h"
#include "ktread/ktread.h"

/* ---- Names of locks, queues and interrupts ---- */

/*
 * Finds names of locks, queues and interrupts for events that have only a number or an address: the name in
 * the last event that had a name for it. A kernel may record the name of a lock only on contention, where the
 * cost matters less. Show a name together with the number, because the memory of a lock may later be used for
 * another lock.
 */

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

/* ---- Names of spans, as viewers show them: "read", "irq 33", "wait inode", "page fault" ---- */

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

/* ---- Paths of files ---- */

/*
 * Finds the path of an open file or inode that an event names by number: the path in the last vfs.open or
 * vfs.lookup with that number. Show such a path as an inference: the file may have been renamed since.
 *
 * Nothing is inferred across lost slots of any ring: the lost slots may have recorded that the file was
 * closed and another file was opened. If the beginnings of rings are lost, nothing is inferred until an event
 * of each of these rings has been read. A gap becomes known only when the first event after it is read. Until
 * then, paths may be inferred from events of other rings; these paths stay valid. Events that a filter leaves
 * out have the same effect as lost slots. So no path is inferred if a filter selects by CPU, thread or type;
 * a filter that selects by time does not matter.
 */

/* maximum number of entries (files and inodes); a new entry replaces an older one with the same hash */
#define FILES_KEPT 512u
/*
 * maximum length of a stored path in bytes; longer paths, and paths that the kernel cut short, are not
 * stored
 */
#define FILES_PATH 244u

struct files;

struct files_path {
	/* the path: untrusted bytes without a NUL, valid until the next event; NULL if the path is unknown */
	const char *bytes;
	uint32_t length;
};

/*
 * Sets *files to NULL if no path can be inferred; the other functions accept NULL. Returns 0 or
 * KTREAD_E_MEMORY.
 */
int files_create(struct files **files, const struct ktread *trace);
void files_destroy(struct files *files);

struct files_path files_take(struct files *files, const struct ktread_event *event,
			     const struct wellknown *known);

/*
 * Returns the path of the file that `event` reads, writes or closes. Call it for every event, in the order of
 * the trace.
 */
static inline struct files_path files_event(struct files *files, const struct ktread_event *event,
					    const struct wellknown *known)
{
	return files ? files_take(files, event, known) : (struct files_path){ NULL, 0 };
}

#endif
