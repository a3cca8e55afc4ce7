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

/* What stands in front. Threads that are not their process's only one have a number of their own. */
char *kdump_oneline_who(char *at, struct kdump_context *context, uint32_t pid, uint32_t tid, uint64_t stamp);

char *kdump_oneline_name(char *at, struct kdump_context *context, uint32_t pid, uint32_t number);

/*
 * The arguments behind the first `pending->shown`; of an `unfinished` call up to the first of which more may
 * come to be known:
 * `pending->shown` is then where that is.
 */
char *kdump_oneline_arguments(char *at, struct kdump_context *context, struct kdump_pending *pending,
			      bool unfinished);

/* "3", "0x7f0000001000", "-1 ENOENT (No such file or directory)", "?". */
char *kdump_oneline_result(char *at, struct kdump_context *context, const struct ktread_proc_record *record);

/* Text in quotation marks, which says whether it is all of it; at most `limit` bytes. */
char *kdump_oneline_text(char *at, const uint8_t *bytes, size_t size, size_t limit, bool cut);

/* Keeps what a record of a call's own, NAMEI, GENIO or STRUCT, says of its arguments. */
void kdump_oneline_fill(const struct kdump_context *context, struct kdump_pending *pending,
			const struct ktread_proc_record *record);

/*
 * A line a call as strace(1) has it: the call, its arguments with the paths and data that its records tell,
 * its result, the time it took. A call of one thread in which others have something to say is told in two
 * lines, "unfinished" and "resumed".
 */

extern const struct kdump_form kdump_form_oneline;

#endif
