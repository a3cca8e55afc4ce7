/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Writes numbers as text, and loads numbers from memory. */
#ifndef BASE_PUT_H
#define BASE_PUT_H

#include <stdint.h>
#include <string.h>

/* ---- Writing numbers as text ---- */

/*
 * Each function writes digits to `at` and returns their end. It may overwrite up to BASE_PUT_SCRATCH bytes
 * from `at` on, even if the result is shorter.
 *
 * Decimal digits come from a table, three at a time, and are stored by one instruction.
 */

#define BASE_PUT_SCRATCH 24
#define BASE_PUT_ZEROS	 UINT64_C(0x3030303030303030)

struct base_put_triple {
	char digits[3];
	uint8_t length;
};
extern const struct base_put_triple base_put_triples[1000]; /* all numbers of three digits, "000" to "999" */
/* the same numbers without leading zeros, "0" to "999" */
extern const struct base_put_triple base_put_shorts[1000];

/* Writes the three digits of `value` < 1000, with leading zeros. */
static inline char *base_put_three(char *at, uint32_t value)
{
	memcpy(at, &base_put_triples[value], 4);
	return at + 3;
}

/* Writes the six digits of `value` < 1000000, with leading zeros. */
static inline char *base_put_six(char *at, uint32_t value)
{
	return base_put_three(base_put_three(at, value / 1000), value % 1000);
}

/* Writes a value below 1000 without leading zeros. */
static inline char *base_put_short(char *at, uint32_t value)
{
	memcpy(at, &base_put_shorts[value], 4);
	return at + base_put_shorts[value].length;
}

/* Writes a value below 1000000 without leading zeros. */
static inline char *base_put_middle(char *at, uint32_t value)
{
	return value < 1000 ? base_put_short(at, value)
			    : base_put_three(base_put_short(at, value / 1000), value % 1000);
}

/* Writes a value of at least 1000000, inline. base_put_long() does the same out of line. */
static inline __attribute__((always_inline)) char *base_put_large(char *at, uint64_t value)
{
	const uint64_t high = value / 1000000, highest = high / 1000000;

	if (highest == 0)
		at = base_put_middle(at, (uint32_t)high);
	else if (highest < 1000000)
		at = base_put_six(base_put_middle(at, (uint32_t)highest), (uint32_t)(high % 1000000));
	else /* up to 18446744 */
		at = base_put_six(base_put_six(base_put_middle(at, (uint32_t)(highest / 1000000)),
					       (uint32_t)(highest % 1000000)),
				  (uint32_t)(high % 1000000));
	return base_put_six(at, (uint32_t)(value % 1000000));
}
char *base_put_long(char *at, uint64_t value);

static inline char *base_put_decimal(char *at, uint64_t value)
{
	if (value < 1000)
		return base_put_short(at, (uint32_t)value);
	if (value < 1000000)
		return base_put_three(base_put_short(at, (uint32_t)value / 1000), (uint32_t)value % 1000);
	return base_put_long(at, value);
}

static inline char *base_put_signed(char *at, int64_t value)
{
	uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

	*at = '-';
	return base_put_decimal(at + (value < 0), magnitude);
}

/* Returns the eight hexadecimal digits of `value` as bytes, the most significant digit in the lowest byte. */
static inline uint64_t base_put_hex_digits(uint32_t value)
{
	uint64_t nibbles = value;
	uint64_t letters;

	nibbles = (nibbles << 16 | nibbles) & UINT64_C(0x0000ffff0000ffff);
	nibbles = (nibbles << 8 | nibbles) & UINT64_C(0x00ff00ff00ff00ff);
	nibbles = (nibbles << 4 | nibbles) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	letters = (nibbles + UINT64_C(0x0606060606060606)) >> 4 & UINT64_C(0x0101010101010101);
	nibbles += BASE_PUT_ZEROS + letters * ('a' - '0' - 10);
	return __builtin_bswap64(nibbles);
}

/* Writes hexadecimal digits in lower case, without leading zeros or prefix. */
static inline char *base_put_hex(char *at, uint64_t value)
{
	unsigned digits = (67u - (unsigned)__builtin_clzll(value | 1u)) >> 2;
	uint64_t aligned = value << 4 * (16u - digits);
	uint64_t text = base_put_hex_digits((uint32_t)(aligned >> 32));

	memcpy(at, &text, 8);
	if (digits > 8) {
		text = base_put_hex_digits((uint32_t)aligned);
		memcpy(at + 8, &text, 8);
	}
	return at + digits;
}

/* Writes a string literal without its NUL. */
#define base_put_literal(at, text) ((char *)memcpy((at), "" text, sizeof(text) - 1) + sizeof(text) - 1)

/* ---- Loading numbers from memory, in the byte order of this machine ---- */

/* Returns the unsigned number of 1, 2, 4 or 8 bytes at `from`, which need not be aligned. */
static inline uint64_t base_load(const unsigned char *from, uint32_t width)
{
	uint64_t whole;
	uint32_t half;
	uint16_t quarter;

	/* The sizes are constants, so that the compiler turns each copy into a single instruction. */
	switch (width) {
	case 1:
		return *from;
	case 2:
		memcpy(&quarter, from, sizeof(quarter));
		return quarter;
	case 4:
		memcpy(&half, from, sizeof(half));
		return half;
	default:
		memcpy(&whole, from, sizeof(whole));
		return whole;
	}
}

#endif
