/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The data of a version 1 record, by 32-bit word. */
#ifndef EXPORT_WORDS_V1_H
#define EXPORT_WORDS_V1_H

#include <stdint.h>
#include <string.h>

static inline uint32_t word(const unsigned char *data, unsigned n)
{
	uint32_t value;

	memcpy(&value, data + 4 * n, sizeof(value));
	return value;
}

/* Words n (low) and n + 1. */
static inline uint64_t double_word(const unsigned char *data, unsigned n)
{
	uint64_t value;

	memcpy(&value, data + 4 * n, sizeof(value));
	return value;
}

#endif
