/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Functions that format the values of a process trace, with names from its table, and data as text. Those
 * with a parameter `line` append to it.
 */
#ifndef USER_WORDS_H
#define USER_WORDS_H

#include <line.h>
#include <table.h>

void words_hex(struct line *line, uint64_t value);
void words_signal(struct line *line, const struct table *table, uint32_t number);
void words_value(struct line *line, const struct table *table, const char *type, uint64_t value);

/*
 * Writes the names of the flags that are set in a value, separated by "|". Writes set bits without a name in
 * hexadecimal.
 */
void words_flags(struct line *line, const struct table *table, const char *type, uint64_t value);
bool words_has_flags(const struct table *table, const char *type);

/* Finds the name of a value of a type. Returns false if the table has no name for it. */
bool words_find(const struct table *table, const char *type, uint64_t wanted, char *name);

/*
 * Writes the name of a system call and finds its line in the table. If the table does not contain the call,
 * writes its number instead and returns false.
 */
bool words_call(struct line *line, const struct table *table, uint32_t number, struct table_line *call);

/* Writes text in quotation marks, and encodes special characters like vis(3). */
void words_quoted(struct line *line, const char *text, size_t length);

/*
 * Writes data on lines of its own. If the data is text, lines are broken at the screen's width; other data is
 * written by words_bytes().
 */
void words_data(struct line *line, const char *bytes, size_t size);

/* Writes bytes on lines of their own, in hexadecimal and as text. */
void words_bytes(struct line *line, const char *bytes, size_t size);

#endif
