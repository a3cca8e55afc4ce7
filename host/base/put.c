/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "base/put.h"

#define ONE(a, b, c)                                   \
	{                                              \
		{ '0' + (a), '0' + (b), '0' + (c) }, 3 \
	}
#define TEN(a, b)                                                                                         \
	ONE(a, b, 0), ONE(a, b, 1), ONE(a, b, 2), ONE(a, b, 3), ONE(a, b, 4), ONE(a, b, 5), ONE(a, b, 6), \
		ONE(a, b, 7), ONE(a, b, 8), ONE(a, b, 9)
#define HUNDRED(a)                                                                                         \
	TEN(a, 0), TEN(a, 1), TEN(a, 2), TEN(a, 3), TEN(a, 4), TEN(a, 5), TEN(a, 6), TEN(a, 7), TEN(a, 8), \
		TEN(a, 9)

const struct base_put_triple base_put_triples[1000] = {
	HUNDRED(0), HUNDRED(1), HUNDRED(2), HUNDRED(3), HUNDRED(4),
	HUNDRED(5), HUNDRED(6), HUNDRED(7), HUNDRED(8), HUNDRED(9),
};

#undef ONE
#define ONE(a, b, c)                                    \
	{                                               \
		{ '0' + ((a)   ? (a)                    \
			 : (b) ? (b)                    \
			       : (c)),                  \
		  '0' + ((a) ? (b) : (c)), '0' + (c) }, \
			(a)   ? 3                       \
			: (b) ? 2                       \
			      : 1                       \
	}

const struct base_put_triple base_put_shorts[1000] = {
	HUNDRED(0), HUNDRED(1), HUNDRED(2), HUNDRED(3), HUNDRED(4),
	HUNDRED(5), HUNDRED(6), HUNDRED(7), HUNDRED(8), HUNDRED(9),
};

char *base_put_long(char *at, uint64_t value)
{
	return base_put_large(at, value);
}
