/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "export/ticks.h"

/*
 * Divides with 64 binary digits more than the double will hold, so that only one rounding takes place: the
 * last digit is set if anything was left over, which keeps a tie from being seen where there is none.
 */
double ticks_quotient(uint64_t ticks, uint64_t frequency)
{
	unsigned zeros;
	unsigned __int128 dividend, quotient;
	uint64_t top;
	int exponent;

	if (ticks == 0)
		return 0;
	zeros = (unsigned)__builtin_clzll(ticks);
	dividend = (unsigned __int128)(ticks << zeros) << 64;
	quotient = dividend / frequency;
	exponent = -64 - (int)zeros;
	while (quotient >> 64) {
		quotient = quotient >> 1 | (quotient & 1);
		exponent++;
	}
	top = (uint64_t)quotient | (dividend % frequency != 0);
	/* 55 bits hold all 53 of the result, one to round by and one that says "and more". */
	top = top >> 9 | ((top & 511) != 0);
	exponent += 9;
	return __builtin_scalbn((double)(int64_t)top, exponent);
}

uint64_t ticks_nanoseconds(uint64_t ticks, uint64_t frequency)
{
	unsigned __int128 nanoseconds = (unsigned __int128)ticks * 1000000000u / frequency;

	return nanoseconds >> 64 ? UINT64_MAX : (uint64_t)nanoseconds;
}
