/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The table in a process trace, which contains the names of numbers. It consists of lines; a line consists of
 * words, separated by blanks and commas (spec/ktrx-proc.md, Tables). Each search starts at the beginning,
 * because the table is short.
 */
#ifndef USER_TABLE_H
#define USER_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TABLE_WORD 48

struct table {
	char *text; /* all lines, NUL-terminated; NULL if the table is empty */
	size_t size;
};

struct table_line {
	const char *text;
	size_t length;
};

/* Appends text. Returns false if out of memory. */
bool table_add(struct table *table, const char *text, size_t size);

/*
 * Copies the nth word of a line, truncated to TABLE_WORD - 1 characters. Returns false if there is no nth
 * word.
 */
bool table_word(const struct table_line *line, unsigned n, char *word);

/*
 * Finds the line that begins with the words `first` and `second`; `second` may be NULL. Returns false if
 * there is no such line.
 */
bool table_find(const struct table *table, const char *first, const char *second, struct table_line *line);

/*
 * Iterates over the lines "KIND TYPE VALUE NAME" with this kind and type. Each call stores the value and
 * the name of the next matching line, or returns false if there is none. *at is the state of the
 * iteration, 0 at first.
 */
bool table_each(const struct table *table, const char *kind, const char *type, size_t *at, uint64_t *value,
		char *name);

/* Parses a number: hexadecimal if it begins with 0x, otherwise decimal. */
uint64_t table_number(const char *word);

#endif
