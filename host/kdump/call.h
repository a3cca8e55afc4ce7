/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A system call's arguments one after another, as the table has them. */
#ifndef KDUMP_CALL_H
#define KDUMP_CALL_H

#include "kdump/context.h"

/* One argument; `type` NULL and `name` "" if nothing is known of it. */
struct kdump_one {
	const struct kdump_type *type;
	const char *name;
	uint64_t value;
};

struct kdump_arguments {
	const struct kdump_call *call; /* NULL: the table does not have it */
	const uint64_t *word;
	unsigned words, next_word, next;
	bool narrow; /* words of 32 bits, so that a place in a file takes two */
	bool typed;  /* the table says which there are; else as recorded */
	struct kdump_table *table;
	const struct kdump_type *before; /* of the argument that kdump_arguments_next() gave last … */
	uint64_t value_before;		 /* … and its value */
	const char *key; /* the last that was a word, by which types like "so^" are chosen; NULL: none */
};

/* `all` shows each word that was recorded; else those that the table lists and that mean something. */
void kdump_arguments_begin(struct kdump_arguments *arguments, struct kdump_table *table, uint32_t number,
			   const uint64_t *word, unsigned words, bool all);
bool kdump_arguments_next(struct kdump_arguments *arguments, struct kdump_one *one);

/* "open", "[77]" if the table does not have it; with -S "open[5]". */
char *kdump_put_call_name(char *at, const struct kdump_context *context, struct kdump_table *calls,
			  uint32_t number);

#endif
