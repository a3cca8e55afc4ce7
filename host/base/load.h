/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Loads numbers from memory, in the byte order of this machine. */
#ifndef BASE_LOAD_H
#define BASE_LOAD_H

#include <stdint.h>
#include <string.h>

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
