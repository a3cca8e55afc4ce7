/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
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
#ifndef ANALYZE_FILES_H
#define ANALYZE_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/wellknown.h"
#include "ktread/ktread.h"

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
