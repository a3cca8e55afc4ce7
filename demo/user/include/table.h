/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The text that a process trace carries, by which numbers have names: lines of words between blanks and commas
 * (spec/ktrx-proc.md, Tables). It is searched from its beginning each time: it is short.
 */
#ifndef USER_TABLE_H
#define USER_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TABLE_WORD 48

struct table {
	char *text; /* NUL-terminated, or NULL */
	size_t size;
};

struct table_line {
	const char *text;
	size_t length;
};

/* Adds to the text. False: out of memory. */
bool table_add(struct table *table, const char *text, size_t size);

/* Copies the n-th word, cut to TABLE_WORD - 1 characters; false if there are not so many. */
bool table_word(const struct table_line *line, unsigned n, char *word);

/* The line that begins with these words; NULL: only one. False: there is none. */
bool table_find(const struct table *table, const char *first, const char *second, struct table_line *line);

/*
 * Lines "KIND TYPE VALUE NAME" of a kind and type, from *at, 0 at first: each time the next one's value and name. False
 * behind the last.
 */
bool table_each(const struct table *table, const char *kind, const char *type, size_t *at, uint64_t *value,
		char *name);

/* The number that a word is, in decimal or behind 0x in hexadecimal digits. */
uint64_t table_number(const char *word);

#endif
