/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Numbers of a process trace in words, as its table has them, and data as text: pieces of a line. */
#ifndef USER_WORDS_H
#define USER_WORDS_H

#include <line.h>
#include <table.h>

void words_hex(struct line *line, uint64_t value);
void words_signal(struct line *line, const struct table *table, uint32_t number);
void words_value(struct line *line, const struct table *table, const char *type, uint64_t value);

/* Bits of a type by their names with | between them; bits without a name in hexadecimal. */
void words_flags(struct line *line, const struct table *table, const char *type, uint64_t value);
bool words_has_flags(const struct table *table, const char *type);

/* The name that the type has for a value; false: none. */
bool words_find(const struct table *table, const char *type, uint64_t wanted, char *name);

/* The name of a call, whose line is found; false: it has only its number. */
bool words_call(struct line *line, const struct table *table, uint32_t number, struct table_line *call);

/* Text between quotation marks, made visible as by vis(3). */
void words_quoted(struct line *line, const char *text, size_t length);

/* Data on lines of their own: text, folded at the edge of the screen, or bytes. */
void words_data(struct line *line, const char *bytes, size_t size);

/* Bytes on lines of their own, in hexadecimal and as text. */
void words_bytes(struct line *line, const char *bytes, size_t size);

#endif
