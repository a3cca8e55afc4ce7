/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Formats values of a process trace with the names of its table, and data as text. Each function appends to a
 * line.
 */
#ifndef USER_WORDS_H
#define USER_WORDS_H

#include <line.h>
#include <table.h>

void words_hex(struct line *line, uint64_t value);
void words_signal(struct line *line, const struct table *table, uint32_t number);
void words_value(struct line *line, const struct table *table, const char *type, uint64_t value);

/* Writes the names of the flags in a value, separated by "|", and unnamed bits in hexadecimal. */
void words_flags(struct line *line, const struct table *table, const char *type, uint64_t value);
bool words_has_flags(const struct table *table, const char *type);

/* Finds the name of a type's value. Returns false if the value has no name. */
bool words_find(const struct table *table, const char *type, uint64_t wanted, char *name);

/*
 * Writes the name of a system call and finds its line in the table. Returns false if the call is unknown;
 * then only its number is written.
 */
bool words_call(struct line *line, const struct table *table, uint32_t number, struct table_line *call);

/* Writes text in quotation marks, with special characters in the form of vis(3). */
void words_quoted(struct line *line, const char *text, size_t length);

/*
 * Writes data on separate lines. Text is folded at the screen's width; other data is written by
 * words_bytes().
 */
void words_data(struct line *line, const char *bytes, size_t size);

/* Writes bytes on separate lines, in hexadecimal and as text. */
void words_bytes(struct line *line, const char *bytes, size_t size);

#endif
