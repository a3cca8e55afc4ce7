/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What `ktrace run` says at the end: of the trace, and of dumps that it found. */
#ifndef CAPTURE_SUMMARY_H
#define CAPTURE_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ktread/ktread.h"

/* What the host knows of a dump that the guest has sent by itself, put into that dump. */

/*
 * Appends `note` to the file and makes it a NOTE section (spec/ktrx.md) of the dump that readers of the file
 * show. Changes nothing else in the file, and nothing at all if that dump is of version 1, is cut off, has a
 * note already, or has no room in its table of sections: these are no errors. Returns 0, or CAPTURE_E_SYSTEM.
 */
int capture_dump_note(const char *path, const char *note);

/* What is in a finished trace, in numbers for one line. */

struct capture_summary {
	uint64_t events;
	uint64_t overwritten; /* slots */
	uint64_t unreadable;  /* slots */
	uint64_t refused;     /* records, by full rings and before there was one */
	uint32_t cpus;	      /* that are online or have recorded */
	uint32_t outcome;     /* KTRX_OUTCOME_* */
	int32_t status;
	uint64_t frequency;
	bool cut;	/* of a dump the end is missing */
	double seconds; /* from its first event to its last; 0: unknown, or no two events */
};

#define CAPTURE_LOSS_TEXT 160u

/* Reads the whole trace. 0 or CAPTURE_E_FORMAT. */
int capture_summary_read(struct capture_summary *summary, const char *path);
/* "7 slots overwritten, 2 slots unreadable, 1 record refused", without what is none; or "nothing lost". */
void capture_summary_loss(const struct capture_summary *summary, char *text, size_t size);

#endif
