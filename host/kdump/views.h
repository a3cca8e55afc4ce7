/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Which records kdump shows, and the forms in which it shows them. */
#ifndef KDUMP_VIEWS_H
#define KDUMP_VIEWS_H

#include <stdbool.h>

#include "kdump/context.h"
#include "kdump/form.h"
#include "kdump/pending.h"
#include "ktread/proc.h"

/* Which records are wanted: by kind (-t) and process (-p). */

struct kdump_select {
	uint64_t types; /* bit n: KTRX_PROC_* n; bit 63: those that nobody knows */
	bool one;	/* only that process, of FreeBSD's files also that thread: */
	uint32_t pid;
};

#define KDUMP_SELECT_ALL            \
	{                           \
		.types = UINT64_MAX \
	}

/*
 * Letters as ktrace(1) takes them: c calls, f faults, i data, l lives of processes, n names, p denied, s
 * signals, t structs, u user, w switches, y settings, + the usual ones, which are all but f, l and w. False:
 * not all of them are letters.
 */
bool kdump_select_letters(struct kdump_select *select, const char *letters);

bool kdump_select_wants(const struct kdump_select *select, const struct ktread_proc_record *record,
			bool freebsd);

/* How often each call was made, how long it took in all and how often it failed: the table of strace -c. */

extern const struct kdump_form kdump_form_counts;

/* A JSON object a record, for programs. Records that were lost are one of their own: {"lost":17}. */

extern const struct kdump_form kdump_form_json;

/*
 * A trace as kdump(1) prints it: a line a record, data below it. Where the two originals differ, a file of
 * DragonFly's is printed as by DragonFly's kdump, all others as by FreeBSD's; what neither has is ours.
 */

extern const struct kdump_form kdump_form_lines;

/* The parts of a call that is told in one line: who makes it, what it is about, what comes of it. */

/*
 * A line a call as strace(1) has it: the call, its arguments with the paths and data that its records tell,
 * its result, the time it took. A call of one thread in which others have something to say is told in two
 * lines, "unfinished" and "resumed".
 */

extern const struct kdump_form kdump_form_oneline;

#endif
