/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Bytes and texts in memory: copied; and read piece by piece, as command lines, patterns and settings are.
 *
 * Stores are volatile, and so are reads of texts: compilers know loops like these, and would call memcpy,
 * memset and strlen, which need not exist in a kernel. Any context.
 */
#ifndef KTRACE_BASE_BYTES_H
#define KTRACE_BASE_BYTES_H

#include <stddef.h>
#include <stdint.h>

#include "ktrace/port.h"
#include "ktrace/record.h"

/*
 * Copies bytes, the first one first: `to` may be memory in front of `from` that overlaps it. By aligned words
 * where that can be, as memory of devices wants it. Returns the end in `to`.
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

/* Bytes before the NUL of a text; `most` if there is none within so many bytes; 0 for NULL. */
KTRACE_UNUSED_INLINE uint32_t ktrace_length(const volatile char *text, uint32_t most)
{
	uint32_t length = 0;

	while (text && length < most && text[length])
		length++;
	return length;
}

/* Copies a text, cut to what `room` bytes hold with a NUL. Clears the rest of them. */
KTRACE_UNUSED_INLINE void ktrace_copy_text(char *to, const char *from, uint32_t room)
{
	uint32_t length = ktrace_length(from, room - 1);

	ktrace_zero(ktrace_copy(to, from, length), room - length);
}

/* ---- borrowed pieces of text, and digits: bytes.c --------------------------------------------- */

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
