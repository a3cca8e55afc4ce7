/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Formats values of a process trace with the names of its table, and data as text. Each function adds to a
 * line.
 */
#ifndef USER_WORDS_H
#define USER_WORDS_H

#include <line.h>
#include <table.h>

void words_hex(struct line *line, uint64_t value);
void words_signal(struct line *line, const struct table *table, uint32_t number);
void words_value(struct line *line, const struct table *table, const char *type, uint64_t value);

/* Flags of a type by their names, separated by |; unnamed bits in hexadecimal. */
void words_flags(struct line *line, const struct table *table, const char *type, uint64_t value);
bool words_has_flags(const struct table *table, const char *type);

/* Finds the name of a type's value. Returns false if it has none. */
bool words_find(const struct table *table, const char *type, uint64_t wanted, char *name);

/*
 * Writes the name of a system call and finds its line. Returns false if the call is unknown; then only its
 * number is written.
 */
bool words_call(struct line *line, const struct table *table, uint32_t number, struct table_line *call);

/* Text in quotation marks, with special characters in the form of vis(3). */
void words_quoted(struct line *line, const char *text, size_t length);

/* Data on lines of its own: as text, folded at the screen's width, or as bytes. */
void words_data(struct line *line, const char *bytes, size_t size);

/* Bytes on lines of their own, in hexadecimal and as text. */
void words_bytes(struct line *line, const char *bytes, size_t size);

#endif
