/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "export/number.h"

#define ONE(a, b, c)                                                       \
	{                                                                  \
		{ '0' + (a), '0' + (b), '0' + (c) }, (a) ? 0 : (b) ? 1 : 2 \
	}
#define TEN(a, b)                                                                                         \
	ONE(a, b, 0), ONE(a, b, 1), ONE(a, b, 2), ONE(a, b, 3), ONE(a, b, 4), ONE(a, b, 5), ONE(a, b, 6), \
		ONE(a, b, 7), ONE(a, b, 8), ONE(a, b, 9)
#define HUNDRED(a)                                                                                         \
	TEN(a, 0), TEN(a, 1), TEN(a, 2), TEN(a, 3), TEN(a, 4), TEN(a, 5), TEN(a, 6), TEN(a, 7), TEN(a, 8), \
		TEN(a, 9)

const struct number_triple number_triples[1000] = {
	HUNDRED(0), HUNDRED(1), HUNDRED(2), HUNDRED(3), HUNDRED(4),
	HUNDRED(5), HUNDRED(6), HUNDRED(7), HUNDRED(8), HUNDRED(9),
};

/* A value below 1000000 without leading zeros. */
static inline char *put_leading(char *at, uint32_t value)
{
	return value < 1000 ? number_short(at, value)
			    : number_three(number_short(at, value / 1000), value % 1000);
}

char *number_long(char *at, uint64_t value)
{
	const uint64_t high = value / 1000000, highest = high / 1000000;

	if (highest == 0)
		at = put_leading(at, (uint32_t)high);
	else if (highest < 1000000)
		at = number_six(put_leading(at, (uint32_t)highest), (uint32_t)(high % 1000000));
	else /* up to 18446744 */
		at = number_six(number_six(put_leading(at, (uint32_t)(highest / 1000000)),
					   (uint32_t)(highest % 1000000)),
				(uint32_t)(high % 1000000));
	return number_six(at, (uint32_t)(value % 1000000));
}
