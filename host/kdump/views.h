/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Selection of the records that kdump prints, and its output formats. */
#ifndef KDUMP_VIEWS_H
#define KDUMP_VIEWS_H

#include <stdbool.h>

#include "kdump/context.h"
#include "calls/tables.h"
#include "ktread/proc.h"

/* Selects records by type (-t) and process (-p). */

struct kdump_select {
	/* bit n selects the type KTRX_PROC_* with the value n; bit 63 selects unknown types */
	uint64_t types;
	/* selects only the process `pid`; in FreeBSD's files, also the thread with the number `pid` */
	bool one;
	uint32_t pid;
};

#define KDUMP_SELECT_ALL            \
	{                           \
		.types = UINT64_MAX \
	}

/*
 * Sets the types by letters as ktrace(1) takes them: c system calls, f page faults, i data, l starts and ends
 * of processes, n path names, p denied operations, s signals, t structs, u records of programs, w context
 * switches, y settings; + means all types except f, l and w. Returns false if `letters` has any other letter
 * or is empty.
 */
bool kdump_select_letters(struct kdump_select *select, const char *letters);

/* Returns whether a record is selected. `freebsd`: the record is from a file of FreeBSD. */
bool kdump_select_wants(const struct kdump_select *select, const struct ktread_proc_record *record,
			bool freebsd);

/* A table of calls as strace -c prints it: the number, the total time and the errors of each call. */

extern const struct kdump_form kdump_form_counts;

/* A JSON object for each record, for programs. Lost records have an object of their own: {"lost":17}. */

extern const struct kdump_form kdump_form_json;

/*
 * A trace as kdump(1) prints it: a line for each record, with data below it. DragonFly's kdump differs from
 * FreeBSD's in some records. In a file of DragonFly, these records are printed as DragonFly's kdump prints
 * them, and in all other files as FreeBSD's kdump prints them. Records that neither of the two programs knows
 * are printed in a format of ktrace.
 */

extern const struct kdump_form kdump_form_lines;

/*
 * A line for each call, as strace(1) prints it: the call, its arguments (with paths and data from the call's
 * records), its result, its duration. If records of other threads come during a call, the call has two lines,
 * "unfinished" and "resumed".
 */

extern const struct kdump_form kdump_form_oneline;

/* An output format, as a struct of functions. */

struct kdump_form {
	enum kdump_style style;
	/* Begins the output. Returns 0 or KTREAD_E_MEMORY. *state is passed to the other functions. */
	int (*open)(void **state, struct kdump_context *context);
	/*
	 * Called for each record of the trace. `wanted`: the record was selected. The function is called for
	 * other records, too, because they may be needed to print a selected one. Returns 0 or
	 * KTREAD_E_MEMORY.
	 */
	int (*record)(void *state, struct kdump_context *context, const struct ktread_proc_record *record,
		      bool wanted);
	/* Prints what has not been printed yet at the end of the trace, and frees `state`. */
	void (*close)(void *state, struct kdump_context *context);
};

/*
 * Calls that have not returned yet, one for each thread, in a table of fixed size. If there are too many
 * calls, the call that began first is dropped. Other records of a call describe its arguments (paths, data,
 * structs). What these records state is stored with the call as texts, which are called fillings.
 */

#define KDUMP_PENDINGS	    4096u
#define KDUMP_FILLINGS	    20u
#define KDUMP_FILLING_TEXTS 4000u
#define KDUMP_PIECES	    16u

enum kdump_filling_kind {
	KDUMP_FILLING_PATH,
	KDUMP_FILLING_DATA,
	KDUMP_FILLING_STRUCT,
	KDUMP_FILLING_NONE, /* the filling is not used any more, because another filling has replaced it */
};

struct kdump_filling {
	enum kdump_filling_kind kind;
	uint8_t argument; /* number of the argument, counted from 1; 0: any argument of this kind */
	char name[24];	  /* name of the struct whose contents the filling describes */
	uint16_t offset, length;
};

struct kdump_pending {
	bool used;
	/*
	 * true if records were lost after the call began: the thread's next return may belong to another call
	 */
	bool doubtful;
	bool shown_unfinished; /* true if the beginning of the call was printed as an unfinished line */
	/* true if some messages are missing: there was no room for them, or they were not recorded */
	bool cut;
	uint32_t pid, tid, number, words;
	uint64_t word[CALLS_ARGUMENTS];
	uint64_t stamp;
	unsigned shown; /* number of arguments in the unfinished line, if `shown_unfinished` */
	unsigned fillings;
	struct kdump_filling filling[KDUMP_FILLINGS];
	/*
	 * number of elements in `piece`, which contains the sizes in a struct iovec array that is an argument
	 */
	unsigned pieces;
	uint64_t piece[KDUMP_PIECES];
	unsigned length;
	char text[KDUMP_FILLING_TEXTS];
};

struct kdump_pending_table {
	struct kdump_pending of[KDUMP_PENDINGS];
};

/* Returns the call that the thread is making; NULL if there is none. */
struct kdump_pending *kdump_pending_find(struct kdump_pending_table *table, uint32_t pid, uint32_t tid);
/*
 * Returns an entry for a new call of this thread; kdump_pending_begin() fills in the entry. If the entry is
 * in use, the call in it must be dropped.
 */
struct kdump_pending *kdump_pending_entry(struct kdump_pending_table *table, uint32_t pid, uint32_t tid);
/* Fills in an entry from the record of a call. */
void kdump_pending_begin(struct kdump_pending *pending, const struct ktread_proc_record *record);
/* Fills in an entry from the record of a call, but only the call's number and time. */
void kdump_pending_mark(struct kdump_pending *pending, const struct ktread_proc_record *record);

/* Marks all calls as uncertain, because records were lost. */
void kdump_pending_doubt(struct kdump_pending_table *table);

/*
 * Returns a pointer to the buffer for the text of a new filling, and sets *limit to its size in bytes.
 * Returns NULL if there are too many fillings. kdump_pending_filled() adds the filling.
 */
char *kdump_pending_fill(struct kdump_pending *pending, size_t *limit);
void kdump_pending_filled(struct kdump_pending *pending, enum kdump_filling_kind kind, unsigned argument,
			  const char *name, char *end);
/* Removes filling `n`. The index of each later filling decreases by one. */
void kdump_pending_drop(struct kdump_pending *pending, unsigned n);

/* Functions that print a call in one line: its arguments and its result. */

struct kdump_descriptors;

/* Writes text in quotation marks, followed by "..." if it is incomplete; at most `limit` bytes. */
char *kdump_oneline_text(char *at, const uint8_t *bytes, size_t size, size_t limit, bool cut);
/*
 * Stores the files and sockets to which the descriptors among the arguments refer at the beginning of the
 * call.
 */
void kdump_oneline_fill_descriptors(struct kdump_context *context,
				    const struct kdump_descriptors *descriptors,
				    struct kdump_pending *pending);
/* Stores what a record of the call (NAMEI, GENIO, STRUCT or STRUCT_ARRAY) states about its arguments. */
void kdump_oneline_fill(const struct kdump_context *context, struct kdump_pending *pending,
			const struct ktread_proc_record *record);
/*
 * Writes the arguments from number `pending->shown` on. If `unfinished` is set, stops at the first argument
 * that a later record may describe, and sets `pending->shown` to the number of that argument. For a call
 * without arguments, such as sigreturn(), writes its first filling. `record`: the call's return, NULL if
 * there is none.
 */
char *kdump_oneline_arguments(char *at, struct kdump_context *context, struct kdump_pending *pending,
			      const struct ktread_proc_record *record, bool unfinished);
/*
 * Writes the result: "3", "-1 ENOENT (No such file or directory)", "?". If `pending` is NULL, the beginning
 * of the call was not recorded.
 */
char *kdump_oneline_result(char *at, struct kdump_context *context,
			   const struct kdump_descriptors *descriptors, const struct kdump_pending *pending,
			   const struct ktread_proc_record *record);

#endif
