/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The trace inside a guest's RAM file, looked at while the guest runs: finds it, feels its pulse, measures
 * its clock. After the guest's end the same file is read once more for the dump.
 */
#ifndef CAPTURE_VIEW_H
#define CAPTURE_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frequency.h"
#include "ktread/memory.h"
#include "memory_map.h"
#include "watch.h"

struct capture_view {
	struct ktread_memory *memory; /* NULL until opened */
	struct ktread_image *image;   /* NULL until found */
	struct capture_watch watch;
	struct capture_frequency frequency;
	double search_seconds; /* that the search took which found it */
	uint64_t root;	       /* physical address of the root that was found last; 0: none was */
	double next_search;    /* a search reads all of the guest's RAM: not more often than it is worth */
};

/* 0 or CAPTURE_E_SYSTEM. */
int capture_view_open(struct capture_view *view, const char *path, const struct capture_map *map,
		      const char *architecture);
/* Looks once; `running` tells whether the guest may move at all. True if a boot was seen for the first time.
 */
bool capture_view_look(struct capture_view *view, bool running);
/* Searches anew, for the guest has ended. 0 with a pulse in watch.last, CAPTURE_E_ABSENT, or another error.
 */
int capture_view_settle(struct capture_view *view);
/*
 * After capture_view_settle() returned CAPTURE_E_ABSENT: writes to `text` where the root had been found before, and what may have
 * overwritten it since. "" if it was never found. `may_reset`: the guest was allowed to reset, which clears its memory.
 */
void capture_view_say_lost(const struct capture_view *view, bool may_reset, char *text, size_t size);
void capture_view_close(struct capture_view *view);

#endif
