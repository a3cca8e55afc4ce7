/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Pieces of text that somebody else owns: what command lines, patterns and settings are read with. */
#ifndef KTRACE_CORE_SPAN_H
#define KTRACE_CORE_SPAN_H

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

#endif
