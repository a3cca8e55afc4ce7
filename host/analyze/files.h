/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Which path is behind an open file or an inode that an event names by number: the one under which vfs.open
 * or vfs.lookup told of it last. An inference, and to be shown as one: a file may since have been given
 * another name.
 *
 * Nothing is inferred across lost slots of any ring, which may have held a close and another open; where
 * rings have lost their beginnings, nothing before all of them have begun. A gap further on is known by the
 * event behind it; what was said meanwhile of other rings' events stands. What a filter holds back is as good
 * as lost, so nothing is told with one by CPU, thread or type. One by time does no harm.
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

/* *files is NULL where nothing can be told; the other functions take that. 0 or KTREAD_E_MEMORY. */
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
