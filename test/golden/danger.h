/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Sequences that ktrace must not pass on unchanged to a terminal, viewer or JSON reader. Tests put each
 * sequence between two letters.
 */
#ifndef GOLDEN_DANGER_H
#define GOLDEN_DANGER_H

#include <stddef.h>
#include <string.h>

#define DANGER_MOST 8

static const char *const dangers[] = {
	"\x01",
	"\x07",
	"\b",
	"\x0b",
	"\x0e",
	"\x1b[2J",
	"\x1b]0;",
	"\x7f",
	"\xc2\x80",
	"\xc2\x85",
	"\xc2\x9b",
	"\xc2\x9d",
	"\xc2\x9f",
	"\xd8\x9c",
	"\xe2\x80\x8b",
	"\xe2\x80\x8e",
	"\xe2\x80\x8f",
	"\xe2\x80\xa8",
	"\xe2\x80\xa9",
	"\xe2\x80\xaa",
	"\xe2\x80\xae",
	"\xe2\x81\xa6",
	"\xe2\x81\xa9",
	"\xef\xbb\xbf",
	"\x80",
	"\x9b",
	"\xc3",
	"\xc0\x9b",
	"\xe0\x82\x9b",
	"\xed\xa0\x80",
	"\xf4\x90\x80\x80",
	"\xff",
	"\r",
	"\t",
	"\x1b",
	"\xf3\xa0\x80\xa1",
};

#define DANGERS (sizeof(dangers) / sizeof(dangers[0]))

/* Stores "q", the sequence and "z" without a NUL; returns the length. Requires: `to` has room for DANGER_MOST + 2 bytes. */
static inline size_t danger_put(char *to, size_t n)
{
	size_t length = strlen(dangers[n]);

	to[0] = 'q';
	memcpy(to + 1, dangers[n], length);
	to[length + 1] = 'z';
	return length + 2;
}

#endif
