/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The table in a process trace that gives names to numbers. It consists of lines of words separated by blanks
 * and commas (spec/ktrx-proc.md, Tables). Each search starts at the beginning, because the table is short.
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

/* Appends text. Returns false if out of memory. */
bool table_add(struct table *table, const char *text, size_t size);

/* Copies the nth word, truncated to TABLE_WORD - 1 characters. Returns false if the line has fewer words. */
bool table_word(const struct table_line *line, unsigned n, char *word);

/* Finds the line that begins with these words; `second` may be NULL. Returns false if there is none. */
bool table_find(const struct table *table, const char *first, const char *second, struct table_line *line);

/*
 * Iterates over the lines "KIND TYPE VALUE NAME" of a kind and type. *at is the state, 0 at first. Each call
 * stores the value and name of the next line; returns false after the last line.
 */
bool table_each(const struct table *table, const char *kind, const char *type, size_t *at, uint64_t *value,
		char *name);

/* Parses a number: decimal, or hexadecimal after 0x. */
uint64_t table_number(const char *word);

#endif
