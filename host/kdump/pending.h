/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Calls that have not returned yet, one a thread, in a table of fixed size: where it is crowded the call that
 * began first is given up. What a call's own records say of its arguments, paths, data and structs, is kept
 * as text beside it.
 */
#ifndef KDUMP_PENDING_H
#define KDUMP_PENDING_H

#include "ktread/proc.h"
#include "kdump/tables.h"

#define KDUMP_PENDINGS	    4096u
#define KDUMP_FILLINGS	    4u
#define KDUMP_FILLING_TEXTS 960u

enum kdump_filling_kind {
	KDUMP_FILLING_PATH,
	KDUMP_FILLING_DATA,
	KDUMP_FILLING_STRUCT,
};

struct kdump_filling {
	enum kdump_filling_kind kind;
	char name[24]; /* of the struct */
	uint16_t offset, length;
};

struct kdump_pending {
	bool used;
	bool doubtful; /* records were lost since: its return may be another one's */
	bool told;     /* its beginning was shown as unfinished */
	uint32_t pid, tid, number, words;
	uint64_t word[KDUMP_ARGUMENTS];
	uint64_t stamp;
	unsigned shown; /* arguments that were, if told */
	unsigned fillings;
	struct kdump_filling filling[KDUMP_FILLINGS];
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
void kdump_pending_filled(struct kdump_pending *pending, enum kdump_filling_kind kind, const char *name,
			  char *end);

#endif
