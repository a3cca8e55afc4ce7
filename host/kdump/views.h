/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Which records kdump shows, and the forms in which it shows them. */
#ifndef KDUMP_VIEWS_H
#define KDUMP_VIEWS_H

#include <stdbool.h>

#include "kdump/context.h"
#include "calls/tables.h"
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

/*
 * A line a call as strace(1) has it: the call, its arguments with the paths and data that its records tell,
 * its result, the time it took. A call of one thread in which others have something to say is told in two
 * lines, "unfinished" and "resumed".
 */

extern const struct kdump_form kdump_form_oneline;

/* A form of output is one struct of operations. */

struct kdump_form {
	enum kdump_style style;
	/* 0 or KTREAD_E_MEMORY. `*state` is handed to the others. */
	int (*open)(void **state, struct kdump_context *context);
	/*
	 * Each record of the trace; `wanted`: it is one of those that were asked for, others may be needed to
	 * tell it. 0 or KTREAD_E_MEMORY.
	 */
	int (*record)(void *state, struct kdump_context *context, const struct ktread_proc_record *record,
		      bool wanted);
	/* What is left to say; frees `state`. */
	void (*close)(void *state, struct kdump_context *context);
};

/*
 * Calls that have not returned yet, one a thread, in a table of fixed size: where it is crowded the call that
 * began first is given up. What a call's own records say of its arguments, paths, data and structs, is kept
 * as text beside it.
 */

#define KDUMP_PENDINGS	    4096u
#define KDUMP_FILLINGS	    20u
#define KDUMP_FILLING_TEXTS 4000u
#define KDUMP_PIECES	    16u

enum kdump_filling_kind {
	KDUMP_FILLING_PATH,
	KDUMP_FILLING_DATA,
	KDUMP_FILLING_STRUCT,
	KDUMP_FILLING_NONE, /* another one says more */
};

struct kdump_filling {
	enum kdump_filling_kind kind;
	uint8_t argument; /* from 1; 0: any of that kind */
	char name[24];	  /* of the struct */
	uint16_t offset, length;
};

struct kdump_pending {
	bool used;
	bool doubtful; /* records were lost since: its return may be another one's */
	bool told;     /* its beginning was shown as unfinished */
	bool cut;      /* it has more messages than there is room for, or than were recorded */
	uint32_t pid, tid, number, words;
	uint64_t word[CALLS_ARGUMENTS];
	uint64_t stamp;
	unsigned shown; /* arguments that were, if told */
	unsigned fillings;
	struct kdump_filling filling[KDUMP_FILLINGS];
	unsigned pieces; /* of an argument that is a list of struct iovec: their sizes */
	uint64_t piece[KDUMP_PIECES];
	unsigned length;
	char text[KDUMP_FILLING_TEXTS];
};

struct kdump_pending_table {
	struct kdump_pending of[KDUMP_PENDINGS];
};

/* NULL if the thread is in no call. */
struct kdump_pending *kdump_pending_find(struct kdump_pending_table *table, uint32_t pid, uint32_t tid);
/*
 * Where the call of a record is kept from now on, by kdump_pending_begin(); in use, if that one must be given
 * up for it.
 */
struct kdump_pending *kdump_pending_place(struct kdump_pending_table *table, uint32_t pid, uint32_t tid);
void kdump_pending_begin(struct kdump_pending *pending, const struct ktread_proc_record *record);
/* The same for those who want to know only which call began when. */
void kdump_pending_mark(struct kdump_pending *pending, const struct ktread_proc_record *record);

/* Records were lost. */
void kdump_pending_doubt(struct kdump_pending_table *table);

/* Room for what an argument is, or NULL: `*limit` bytes of text, which kdump_pending_filled() takes over. */
char *kdump_pending_fill(struct kdump_pending *pending, size_t *limit);
void kdump_pending_filled(struct kdump_pending *pending, enum kdump_filling_kind kind, unsigned argument,
			  const char *name, char *end);
/* Takes filling `n` away; those after it move up. */
void kdump_pending_drop(struct kdump_pending *pending, unsigned n);

/* A call in one line: its arguments and its result. */

struct kdump_descriptors;

/* Text in quotation marks, which says whether it is all of it; at most `limit` bytes. */
char *kdump_oneline_text(char *at, const uint8_t *bytes, size_t size, size_t limit, bool cut);
/* Keeps what the descriptors among the arguments lead to now, when the call begins. */
void kdump_oneline_fill_descriptors(struct kdump_context *context,
				    const struct kdump_descriptors *descriptors,
				    struct kdump_pending *pending);
/* Keeps what a record of a call's own, NAMEI, GENIO, STRUCT or STRUCT_ARRAY, says of its arguments. */
void kdump_oneline_fill(const struct kdump_context *context, struct kdump_pending *pending,
			const struct ktread_proc_record *record);
/*
 * Writes the arguments from number `pending->shown` on. Of an `unfinished` call it stops at the first one of
 * which a later record may say more, and sets `pending->shown` to it. Of a call without arguments it writes
 * what the call restored. `record`: its return, NULL if there is none.
 */
char *kdump_oneline_arguments(char *at, struct kdump_context *context, struct kdump_pending *pending,
			      const struct ktread_proc_record *record, bool unfinished);
/* "3", "-1 ENOENT (No such file or directory)", "?". `pending` NULL: the call was not seen. */
char *kdump_oneline_result(char *at, struct kdump_context *context,
			   const struct kdump_descriptors *descriptors, const struct kdump_pending *pending,
			   const struct ktread_proc_record *record);

#endif
