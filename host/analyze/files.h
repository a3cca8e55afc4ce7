/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Finds the path of an open file or inode that an event names by number: the path in the last vfs.open or
 * vfs.lookup with that number. Show it as an inference: the file may have been renamed since.
 *
 * Nothing is inferred across lost slots of any ring: they may have held a close and another open. If rings
 * have lost their beginnings, nothing is inferred before each of them has had an event. A gap is known only
 * from the first event after it; paths inferred from other rings' events until then stand. Events that a
 * filter leaves out are like lost ones, so with a filter by CPU, thread or type no path is inferred. A filter
 * by time does no harm.
 */
#ifndef ANALYZE_FILES_H
#define ANALYZE_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/wellknown.h"
#include "ktread/ktread.h"

#define FILES_KEPT 512u /* open files and inodes; of two that fall together the newer one is kept */
#define FILES_PATH 244u /* bytes; a longer path is not kept, as is none that was cut short */

struct files;

struct files_path {
	const char *bytes; /* hostile, no NUL behind them; NULL: not known. Valid until the next event */
	uint32_t length;
};

/* *files is NULL if no path can be inferred; the other functions accept NULL. 0 or KTREAD_E_MEMORY. */
int files_create(struct files **files, const struct ktread *trace);
void files_destroy(struct files *files);

struct files_path files_take(struct files *files, const struct ktread_event *event,
			     const struct wellknown *known);

/* The path behind what `event` reads, writes or closes. Every event, in order. */
static inline struct files_path files_event(struct files *files, const struct ktread_event *event,
					    const struct wellknown *known)
{
	return files ? files_take(files, event, known) : (struct files_path){ NULL, 0 };
}

#endif
