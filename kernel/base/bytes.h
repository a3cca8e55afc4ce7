/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Bytes and strings in memory: copying, and parsing of command lines, patterns and settings.
 *
 * The loops store through volatile pointers, and read strings through volatile pointers to find their ends.
 * Otherwise compilers would replace the loops by calls of memcpy, memset and strlen, which need not exist in
 * a kernel. Any context.
 */
#ifndef KTRACE_BASE_BYTES_H
#define KTRACE_BASE_BYTES_H

#include <stddef.h>
#include <stdint.h>

#include "ktrace/port.h"
#include "ktrace/record.h"

/*
 * Copies bytes in ascending order: the two areas may overlap if `to` is at a lower address than `from`. Uses
 * aligned words if possible, because device memory needs aligned accesses. Returns the end of the copy.
 */
KTRACE_UNUSED_INLINE uint8_t *ktrace_copy(void *to, const void *from, size_t size)
{
	const uint8_t *in = from;
	uint8_t *out = to;
	size_t at = 0;

	if (KTRACE_ARCH_UNALIGNED || ((uintptr_t)out | (uintptr_t)in) % 8 == 0)
		for (; at + 8 <= size; at += 8)
			*(volatile ktrace_u64_any *)(out + at) = *(const ktrace_u64_any *)(in + at);
	for (; at < size; at++)
		*(volatile uint8_t *)(out + at) = in[at];
	return out + size;
}

KTRACE_UNUSED_INLINE void ktrace_zero(void *to, size_t size)
{
	uint8_t *out = to;
	size_t at = 0;

	if (KTRACE_ARCH_UNALIGNED || (uintptr_t)out % 8 == 0)
		for (; at + 8 <= size; at += 8)
			*(volatile ktrace_u64_any *)(out + at) = 0;
	for (; at < size; at++)
		*(volatile uint8_t *)(out + at) = 0;
}

/* Returns the length of a string. Returns `most` if there is no NUL within `most` bytes, and 0 for NULL. */
KTRACE_UNUSED_INLINE uint32_t ktrace_length(const volatile char *text, uint32_t most)
{
	uint32_t length = 0;

	while (text && length < most && text[length])
		length++;
	return length;
}

/* Copies a string, and cuts it so that it fits into `room` bytes with its NUL. Clears the remaining bytes. */
KTRACE_UNUSED_INLINE void ktrace_copy_text(char *to, const char *from, uint32_t room)
{
	uint32_t length = ktrace_length(from, room - 1);

	ktrace_zero(ktrace_copy(to, from, length), room - length);
}

/* ---- spans (borrowed parts of strings), and digits: bytes.c ------------------------------------- */

struct ktrace_span {
	const char *text;
	uint32_t length;
};

KTRACE_HIDDEN struct ktrace_span ktrace_span_of(const char *text);

KTRACE_HIDDEN int ktrace_span_is(struct ktrace_span span, const char *word);

/* Each function removes a prefix or a suffix from the span. Returns 0 if the span does not have it. */
KTRACE_HIDDEN int ktrace_span_skip(struct ktrace_span *span, const char *prefix);
KTRACE_HIDDEN int ktrace_span_cut(struct ktrace_span *span, const char *suffix);

/*
 * Stores in *piece the next non-empty part of `rest` between separators, and removes it from `rest`. Returns
 * 0 at the end.
 */
KTRACE_HIDDEN int ktrace_span_next(struct ktrace_span *rest, const char *separators,
				   struct ktrace_span *piece);

/*
 * Splits a span at the first occurrence of the character `at`, which is then in neither *left nor *right.
 * Returns 0 if there is no such character.
 */
KTRACE_HIDDEN int ktrace_span_split(struct ktrace_span whole, char at, struct ktrace_span *left,
				    struct ktrace_span *right);

/*
 * Parses an integer, decimal or hexadecimal with 0x; with a minus sign the value is the two's complement.
 * Returns 0 if the span is not a number or the number does not fit.
 */
KTRACE_HIDDEN int ktrace_span_number(struct ktrace_span span, uint64_t *value);

/* Returns the value of a hexadecimal digit; 16 if the character is not a hexadecimal digit. */
KTRACE_HIDDEN uint32_t ktrace_digit(char character);

/* The hexadecimal digits in lower case. */
extern KTRACE_HIDDEN const char ktrace_hex[17];

/*
 * Writes the digits of a number, at least one, right-aligned at the end of `digits`. `base` is 8 to 16.
 * Returns the number of digits.
 */
#define KTRACE_DIGITS_MAX 24u
KTRACE_HIDDEN uint32_t ktrace_digits(char digits[KTRACE_DIGITS_MAX], uint64_t number, uint32_t base);

#endif
