/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Parts of `ktrace show` that are in separate source files. */
#ifndef CMD_SHOW_H
#define CMD_SHOW_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/symbols.h"
#include "base/output.h"
#include "cmd/trace_args.h"
#include "export/timeline.h"

/* ktrace show --follow: prints the events of a running guest as they occur. */

/*
 * Follows the guest. `elf`: the kernel's file; NULL: print no symbol names. `limit`: maximum number of
 * events; 0: no limit. Returns -1 after a message if the file cannot be followed; otherwise the exit status.
 */
int show_follow(struct trace_args *args, const char *elf, uint64_t limit, struct base_output *out);

/* ktrace show --id: events that are chosen by their ids, and the events around them. */

#define SHOW_IDS	 64u
#define SHOW_AROUND_MOST 10000u

/* The ids of the oldest and newest event of a ring. */
struct show_extent {
	bool is_known; /* true if an event of the ring was read */
	uint64_t oldest, newest;
};

struct show_chosen {
	const char *name; /* text that begins each message */
	uint64_t around;  /* number of events to show before and after each chosen event */
	struct timeline_id id[SHOW_IDS];
	struct show_extent extent[SHOW_IDS]; /* for each id: events of its ring */
	uint32_t count;			     /* number of ids */
	struct timeline_id *shown;	     /* the events to show, in the order of rings and slots */
	uint32_t shown_count, room;
};

/* Parses a list of ids, "RING.SLOT,RING.SLOT…". Returns 0, or EXIT_USAGE after a message. */
int show_chosen_parse(struct show_chosen *chosen, const char *list);
/*
 * Finds the events, and sets a filter that selects them and the events around them. Returns 0, or
 * EXIT_BAD_INPUT after a message for each id that is not in the trace. If EXIT_BAD_INPUT is returned and
 * shown_count is not 0, the filter selects the events that were found. Requires: the trace has no other
 * filter.
 */
int show_chosen_find(struct show_chosen *chosen, struct ktread *trace);
void show_chosen_free(struct show_chosen *chosen);

/* The option --elf of commands that print symbol names for addresses. */

/*
 * Opens the kernel's file `elf`. If `elf` is NULL, sets *symbols to NULL. Prints warnings on stderr. Returns
 * 0, or EXIT_BAD_INPUT after a message.
 */
int show_symbols_open(struct symbols **symbols, const char *elf, const struct ktread *trace,
		      const char *name);

#endif
