/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The parts of the reader of strace's text. */
#ifndef DIFF_STRACE_H
#define DIFF_STRACE_H

#include <stdio.h>

#include "diff/trace.h"

#define STRACE_OPEN 256u       /* calls that may be unfinished at one time */
#define STRACE_TEXT 4096u      /* bytes of a call that are kept until it is resumed */
#define STRACE_LINE (1u << 20) /* bytes of a line; a longer line counts as damaged */
#define STRACE_NAME 64u	       /* bytes of the name of a call */

struct strace_open {
	uint32_t thread, step;
	size_t length; /* 0: no call is unfinished */
	char text[2 * STRACE_TEXT];
};

struct strace {
	struct diff_trace *trace;
	uint64_t line; /* number of the line, from 1 */
	bool losing;   /* the lines since the last good one are damaged */
	struct strace_open open[STRACE_OPEN];
	/* types of Linux's calls, by name */
	struct strace_type {
		char name[STRACE_NAME];
		struct diff_types types;
	} * type;
	uint32_t types, type_room;
	struct base_index type_index;
};

/* A line without its end, followed by '\0'. */
struct strace_line {
	char text[STRACE_LINE + 1];
	size_t length;
	bool cut;   /* the line is longer: this is its beginning */
	bool whole; /* the line has an end */
};

/* Reads a line. Returns false at the end of the file, and if the file cannot be read: see ferror(). */
bool strace_line_read(struct strace_line *line, FILE *file);
/* Reads the types of Linux's system calls. Returns 0 or KTREAD_E_MEMORY. */
int strace_types_read(struct strace *strace);
void strace_types_free(struct strace *strace);
/*
 * Adds a step for a call, whose text begins with "NAME(". Returns -1 if the text is damaged, or if there is
 * no room.
 */
int strace_call_begin(struct strace *strace, const char *text, size_t length, uint32_t thread,
		      uint64_t stamp);
/*
 * Reads the arguments and the result of a call, and adds them to its step. `stamp`: time of its end; 0:
 * unknown. Returns -1 if the text is damaged.
 */
int strace_call_end(struct strace *strace, const char *text, size_t length, uint32_t step, uint64_t stamp);
/* Returns the number of the signal whose name the text begins with; 0 if unknown. */
uint64_t strace_signal(const char *text);

#endif
