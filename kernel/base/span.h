/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Pieces of text that are borrowed, to read command lines, patterns and settings; and numbers as digits. */
#ifndef KTRACE_BASE_SPAN_H
#define KTRACE_BASE_SPAN_H

#include "ktrace/compiler.h"

#include <stdint.h>

struct ktrace_span {
	const char *text;
	uint32_t length;
};

KTRACE_HIDDEN struct ktrace_span ktrace_span_of(const char *text);

KTRACE_HIDDEN int ktrace_span_is(struct ktrace_span span, const char *word);

/* Takes a prefix off, or a suffix; 0 if the span has none. */
KTRACE_HIDDEN int ktrace_span_skip(struct ktrace_span *span, const char *prefix);
KTRACE_HIDDEN int ktrace_span_cut(struct ktrace_span *span, const char *suffix);

/* The next piece of a text between separators, empty pieces left out; 0 at the end. */
KTRACE_HIDDEN int ktrace_span_next(struct ktrace_span *rest, const char *separators,
				   struct ktrace_span *piece);

/* Splits at the first such character, which belongs to neither half; 0 if there is none. */
KTRACE_HIDDEN int ktrace_span_split(struct ktrace_span whole, char at, struct ktrace_span *left,
				    struct ktrace_span *right);

/*
 * A whole number: decimal or hexadecimal with 0x, with a minus as two's complement; 0 if it is none or too
 * long.
 */
KTRACE_HIDDEN int ktrace_span_number(struct ktrace_span span, uint64_t *value);

/* The value of a hexadecimal digit, 16 if it is none. */
KTRACE_HIDDEN uint32_t ktrace_digit(char character);

/* The hexadecimal digits, in lower case. */
extern KTRACE_HIDDEN const char ktrace_hex[17];

/*
 * Writes a number to base 8 to 16, at least one digit, so that the last digit is the last of the room.
 * Returns how many digits there are.
 */
#define KTRACE_DIGITS_MAX 24u
KTRACE_HIDDEN uint32_t ktrace_digits(char digits[KTRACE_DIGITS_MAX], uint64_t number, uint32_t base);

#endif
