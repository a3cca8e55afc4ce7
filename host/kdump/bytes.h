/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Bytes of a trace as numbers, and as digits. */
#ifndef KDUMP_BYTES_H
#define KDUMP_BYTES_H

#include <stdint.h>

/* Little-endian, at most 8 bytes. */
static inline uint64_t kdump_read_number(const uint8_t *bytes, unsigned width)
{
	uint64_t value = 0;

	for (unsigned n = width; n > 0; n--)
		value = value << 8 | bytes[n - 1];
	return value;
}

/* Two hexadecimal digits. */
static inline char *kdump_put_byte(char *at, uint8_t byte)
{
	static const char digits[] = "0123456789abcdef";

	at[0] = digits[byte >> 4];
	at[1] = digits[byte & 15];
	return at + 2;
}

#endif
