/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Values in the words of their types, in whichever way a line has them. */
#ifndef KDUMP_WORDS_H
#define KDUMP_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "kdump/table.h"

enum kdump_style {
	KDUMP_STYLE_BSD,   /* as kdump of the BSDs: 0x601<O_WRONLY|O_CREAT|O_TRUNC>, numbers in hexadecimal */
	KDUMP_STYLE_PLAIN, /* as strace: O_WRONLY|O_CREAT|O_TRUNC, numbers by their type */
	KDUMP_STYLE_JSON,  /* the same; what is no number is a string */
};

struct kdump_words {
	struct kdump_table *table;
	enum kdump_style style;
	bool decimal; /* -d: no hexadecimal numbers */
	bool raw;     /* -n: no names */
};

#define KDUMP_WORDS_MOST 1200 /* bytes that a value takes */

/* `type` NULL: nothing is known of it. */
char *kdump_put_value(char *at, const struct kdump_words *words, const struct kdump_type *type,
		      uint64_t value);

/* "0x1f", "0", and with -d "31", "-1": how the BSDs print a word. */
char *kdump_put_word(char *at, const struct kdump_words *words, uint64_t value);
/* Octal, a zero in front. */
char *kdump_put_octal(char *at, uint32_t value);
/* Bits by their names, A|B, what has none in hexadecimal; "0" for none at all. No brackets, no quotation marks. */
char *kdump_put_flags(char *at, const struct kdump_type *type, uint64_t value);
/* "SIGINT", or "SIG 99". */
char *kdump_put_signal(char *at, const struct kdump_words *words, uint32_t number);
/* Why a signal was sent; NULL if the table does not say. */
const char *kdump_code_name(const struct kdump_table *table, uint32_t signal, int32_t code);
/* A name out of a table, which needs no escaping and is no longer than KDUMP_NAME. Writes a NUL behind it. */
char *kdump_put_name(char *at, const char *name);

#endif
