/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Declarations that the source files of the reader of strace's output share. */
#ifndef DIFF_STRACE_H
#define DIFF_STRACE_H

#include <stdio.h>

#include "diff/trace.h"

#define STRACE_OPEN 256u /* maximum number of unfinished calls at one time */
/* maximum number of bytes of an unfinished call that are stored until the call is resumed */
#define STRACE_TEXT 4096u
#define STRACE_LINE (1u << 20) /* maximum length of a line in bytes; a longer line counts as damaged */
#define STRACE_NAME 64u	       /* size in bytes of a call's name */

#define STRACE_ONLY_PROCESS 1u /* number of the process if the lines contain no process number */

/*
 * Parses the beginning of a line of strace. Returns the number of the process; 0 if the line begins with its
 * time; DIFF_NONE if the line is damaged.
 */
uint32_t strace_line_process(const char *line);

struct strace_open {
	uint32_t thread, step;
	size_t length; /* length of `text`; 0: there is no unfinished call */
	char text[2 * STRACE_TEXT];
};

struct strace {
	struct diff_trace *trace;
	uint64_t line; /* number of the current line; the first line is 1 */
	bool losing;   /* true if all lines since the last good line were damaged */
	struct strace_open open[STRACE_OPEN];
	/* types of Linux's system calls, found by name */
	struct strace_type {
		char name[STRACE_NAME];
		struct diff_types types;
	} * type;
	uint32_t types, type_room;
	struct base_index type_index;
};

/* A line without its line feed, NUL-terminated. */
struct strace_line {
	char text[STRACE_LINE + 1];
	size_t length;
	bool cut;   /* true if the line is longer than `text`, which has its beginning */
	bool whole; /* true if the line ends with a line feed */
};

/* Reads a line. Returns false at the end of the file, or if the file cannot be read, which ferror() shows. */
bool strace_line_read(struct strace_line *line, FILE *file);
/* Reads the types of Linux's system calls. Returns 0 or KTREAD_E_MEMORY. */
int strace_types_read(struct strace *strace);
void strace_types_free(struct strace *strace);
/*
 * Adds a step for a call. `text` begins with "NAME(". Returns -1 if the text is damaged, or if there is no
 * room.
 */
int strace_call_begin(struct strace *strace, const char *text, size_t length, uint32_t thread,
		      uint64_t stamp);
/*
 * Reads the arguments and the result of a call, and adds them to the call's step. `stamp`: timestamp at which
 * the call ended; 0: unknown. Returns -1 if the text is damaged.
 */
int strace_call_end(struct strace *strace, const char *text, size_t length, uint32_t step, uint64_t stamp);
/* Returns the number of the signal with whose name the text begins; 0 if there is no such signal. */
uint64_t strace_signal(const char *text);

#endif
