/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <stdlib.h>

unsigned parse_number(const char *text, unsigned fallback)
{
	unsigned number = 0;

	if (!*text)
		return fallback;
	for (; *text >= '0' && *text <= '9'; text++)
		if (__builtin_mul_overflow(number, 10u, &number) ||
		    __builtin_add_overflow(number, (unsigned)(*text - '0'), &number))
			return fallback;
	return *text ? fallback : number;
}
