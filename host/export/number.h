/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Numbers as text, written in place. Each function puts its digits at `at` and returns where they end. Up to
 * NUMBER_SCRATCH bytes at `at` may be overwritten, whatever the length of the result.
 */
#ifndef EXPORT_NUMBER_H
#define EXPORT_NUMBER_H

#include <stdint.h>
#include <string.h>

#define NUMBER_SCRATCH 24

extern const char number_pairs[201];	 /* "00" "01" … "99" */
extern const uint64_t number_powers[20]; /* 10 to the n; [0] is 0 so that 0 has one digit */

/* Decimal digits of `value`: log2 times log10(2), one less where that is too many. */
static inline unsigned number_digits(uint64_t value)
{
	unsigned bits = 64u - (unsigned)__builtin_clzll(value | 1u);
	unsigned guess = bits * 1233u >> 12;

	return guess + (value >= number_powers[guess]);
}

/* Exactly `digits` digits, leading zeros included, for a value that has no more. */
static inline char *number_fixed(char *at, uint64_t value, unsigned digits)
{
	char *end = at + digits, *to = end;

	while (to - at >= 2) {
		to -= 2;
		memcpy(to, number_pairs + 2 * (value % 100), 2);
		value /= 100;
	}
	if (to > at)
		*at = (char)('0' + value % 10);
	return end;
}

static inline char *number_decimal(char *at, uint64_t value)
{
	if (value < 10) {
		*at = (char)('0' + value);
		return at + 1;
	}
	if (value < 100) {
		memcpy(at, number_pairs + 2 * value, 2);
		return at + 2;
	}
	return number_fixed(at, value, number_digits(value));
}

static inline char *number_signed(char *at, int64_t value)
{
	uint64_t magnitude = (uint64_t)value;

	if (value < 0) {
		*at++ = '-';
		magnitude = 0 - magnitude;
	}
	return number_decimal(at, magnitude);
}

/* Eight hexadecimal digits of `value` as bytes, the most significant digit in the lowest byte. */
static inline uint64_t number_hex_digits(uint32_t value)
{
	uint64_t nibbles = value;
	uint64_t letters;

	nibbles = (nibbles << 16 | nibbles) & UINT64_C(0x0000ffff0000ffff);
	nibbles = (nibbles << 8 | nibbles) & UINT64_C(0x00ff00ff00ff00ff);
	nibbles = (nibbles << 4 | nibbles) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	letters = (nibbles + UINT64_C(0x0606060606060606)) >> 4 & UINT64_C(0x0101010101010101);
	nibbles += UINT64_C(0x3030303030303030) + letters * ('a' - '0' - 10);
	return __builtin_bswap64(nibbles);
}

/* Lower case, no leading zeros, no prefix. */
static inline char *number_hex(char *at, uint64_t value)
{
	unsigned digits = (67u - (unsigned)__builtin_clzll(value | 1u)) >> 2;
	uint64_t aligned = value << 4 * (16u - digits);
	uint64_t text = number_hex_digits((uint32_t)(aligned >> 32));

	memcpy(at, &text, 8);
	if (digits > 8) {
		text = number_hex_digits((uint32_t)aligned);
		memcpy(at + 8, &text, 8);
	}
	return at + digits;
}

/* A string literal without its NUL. */
#define number_literal(at, text) ((char *)memcpy((at), (text), sizeof(text) - 1) + sizeof(text) - 1)

#endif
