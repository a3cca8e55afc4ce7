/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Packets that tests write as hexadecimal digits. Requires: cmocka.h and the headers that it needs are
 * included first.
 */
#ifndef UNIT_SUPPORT_HEX_H
#define UNIT_SUPPORT_HEX_H

#include <stdio.h>

/*
 * Converts two-digit hexadecimal bytes, separated by blanks. Returns the number of bytes. Fails the test if
 * there are more bytes than `room`.
 */
static inline size_t hex_bytes(const char *hex, unsigned char *to, size_t room)
{
	size_t size = 0;
	unsigned byte;
	int used;

	while (sscanf(hex, " %2x%n", &byte, &used) == 1) {
		assert_true(size < room);
		to[size++] = (unsigned char)byte;
		hex += used;
	}
	return size;
}

#endif
