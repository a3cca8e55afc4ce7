/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* ktrace retrace: the ranges of memory on the command line, and the accesses that are printed. */
#ifndef CMD_RETRACE_H
#define CMD_RETRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/symbols.h"
#include "cmd/options.h"
#include "capture/schedule.h"

/* The watched ranges. */
struct retrace_ranges {
	struct schedule_watch watch[SCHEDULE_WATCHES];
	const char *word[SCHEDULE_WATCHES]; /* as they were given; borrowed */
	uint32_t count;
};

/*
 * Adds the ranges of an option: "ADDRESS" or "ADDRESS,LENGTH", where ADDRESS may be NAME or NAME+OFFSET.
 * `symbols` may be NULL. Returns 0, or an exit status after a message.
 */
int retrace_add_ranges(struct retrace_ranges *ranges, const char *name, const char *option,
		       const struct options_list *list, enum schedule_kind kind, struct symbols *symbols);

/* What the plugin has recorded. */
struct retrace_accesses {
	struct schedule_access *access; /* the newest ones, oldest first; owned */
	uint32_t count;
	uint64_t all; /* number of accesses in the run */
};

/* Copies the records out of the control file. Returns false if memory is short. */
bool retrace_copy(struct retrace_accesses *accesses, const struct schedule_control *control);

/* Prints the accesses to standard output. Returns the exit status. */
int retrace_print(const char *name, const struct retrace_accesses *accesses,
		  const struct retrace_ranges *ranges, struct symbols *symbols, bool json);

#endif
