/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "base/ticks.h"

#define MICRO 1000000u
#define NANO  1000000000u

void base_ticks_scale_init(struct base_ticks_scale *scale, uint64_t frequency)
{
	unsigned __int128 factor, limit;

	*scale = (struct base_ticks_scale){ .frequency = frequency };
	if (frequency == 0)
		return;
	if (frequency > MICRO)
		scale->per_microsecond = (uint64_t)(((unsigned __int128)MICRO << 64) / frequency);
	if (frequency >> 62)
		return; /* leave nanosecond_limit 0, so that the exact function is always used */
	scale->nanosecond_shift = 97;
	for (factor = ((unsigned __int128)NANO << 97) / frequency; factor >> 64; factor >>= 1)
		scale->nanosecond_shift--;
	scale->per_nanosecond = (uint64_t)factor;
	/*
	 * The factor is cut to 64 bits, which makes the product inexact. Below the limit, the error is less
	 * than one nanosecond, and the result fits in 64 bits.
	 */
	limit = ((unsigned __int128)frequency << 63) / NANO;
	if (limit >> 62)
		limit = (unsigned __int128)1 << 62;
	if (scale->nanosecond_shift < 62 && limit >> scale->nanosecond_shift)
		limit = (unsigned __int128)1 << scale->nanosecond_shift;
	scale->nanosecond_limit = (uint64_t)limit;
}

/*
 * Divides two numbers, at least one of which a double cannot represent exactly. The quotient is computed with
 * at least 64 binary digits, more than a double has, so that it is rounded only once. The last digit is set
 * to 1 if there is a remainder, so that the rounding does not take the quotient for a tie.
 */
static double quotient(uint64_t ticks, uint64_t frequency)
{
	unsigned zeros = (unsigned)__builtin_clzll(ticks);
	unsigned __int128 dividend = (unsigned __int128)(ticks << zeros) << 64;
	unsigned __int128 result = dividend / frequency;
	int exponent = -64 - (int)zeros;
	uint64_t top;

	while (result >> 64) {
		result = result >> 1 | (result & 1);
		exponent++;
	}
	top = (uint64_t)result | (dividend % frequency != 0);
	/*
	 * Keep 55 bits: the 53 bits of the result, one bit that decides the rounding, and one bit that is set
	 * if any lower bit was set.
	 */
	top = top >> 9 | ((top & 511) != 0);
	return __builtin_scalbn((double)(int64_t)top, exponent + 9);
}

double base_ticks_seconds(uint64_t ticks, uint64_t frequency)
{
	if (ticks == 0)
		return 0;
	if ((ticks | frequency) >> 53)
		return quotient(ticks, frequency);
	return (double)(int64_t)ticks / (double)(int64_t)frequency;
}

/* Computes exactly with the bits of the double, and rounds half to even. */
struct base_ticks_time base_ticks_time(uint64_t ticks, uint64_t frequency)
{
	union {
		double number;
		uint64_t bits;
	} seconds = { .number = base_ticks_seconds(ticks, frequency) };
	uint64_t mantissa = (seconds.bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
	int shift = 1075 - (int)(seconds.bits >> 52); /* seconds = mantissa / 2^shift */
	struct base_ticks_time time = { 0, 0 };
	unsigned __int128 scaled, rest, half;

	if (shift >= 74) /* the time is less than half a microsecond */
		return time;
	if (shift <= 0) { /* the time is a whole number of seconds */
		time.seconds = mantissa << -shift;
		return time;
	}
	if (shift < 53) {
		time.seconds = mantissa >> shift;
		mantissa &= (UINT64_C(1) << shift) - 1;
	}
	scaled = (unsigned __int128)mantissa * MICRO;
	half = (unsigned __int128)1 << (shift - 1);
	rest = scaled & (half + half - 1);
	time.microseconds = (uint32_t)(scaled >> shift);
	time.microseconds += rest > half || (rest == half && (time.microseconds & 1u));
	if (time.microseconds == MICRO) {
		time.microseconds = 0;
		time.seconds++;
	}
	return time;
}

#define HALF 500u /* half a microsecond, in nanoseconds */

/* Converts nanoseconds to ticks, rounded down; UINT64_MAX if it does not fit into 64 bits. */
static uint64_t ticks_of(unsigned __int128 nanoseconds, uint64_t frequency)
{
	const unsigned __int128 whole = nanoseconds / NANO * frequency,
				ticks = whole + nanoseconds % NANO * frequency / NANO;

	return ticks >> 64 ? UINT64_MAX : (uint64_t)ticks;
}

/* Returns the first number of ticks whose time is shown as at least this time. */
static uint64_t first_shown(uint64_t microseconds, uint64_t frequency)
{
	const unsigned __int128 nanoseconds = (unsigned __int128)microseconds * 1000;
	uint64_t from = microseconds ? ticks_of(nanoseconds - 1000, frequency) : 0,
		 to = ticks_of(nanoseconds + 1000, frequency);

	to += to != UINT64_MAX;
	while (from < to) {
		const uint64_t middle = from + (to - from) / 2;
		const struct base_ticks_time time = base_ticks_time(middle, frequency);

		if ((unsigned __int128)time.seconds * MICRO + time.microseconds < microseconds)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

uint64_t base_ticks_first(uint64_t nanoseconds, uint64_t frequency)
{
	const unsigned __int128 from = nanoseconds > HALF ? nanoseconds - HALF : 0;
	uint64_t ticks;

	if (nanoseconds % 1000 == 0)
		return first_shown(nanoseconds / 1000, frequency);
	ticks = ticks_of(from, frequency);
	return ticks + (ticks != UINT64_MAX && (unsigned __int128)ticks * NANO < from * frequency);
}

uint64_t base_ticks_last(uint64_t nanoseconds, uint64_t frequency)
{
	uint64_t ticks;

	if (nanoseconds % 1000)
		return ticks_of((unsigned __int128)nanoseconds + HALF, frequency);
	ticks = first_shown(nanoseconds / 1000 + 1, frequency);
	return ticks == UINT64_MAX || ticks == 0 ? ticks : ticks - 1;
}

int64_t base_ticks_interpolate(uint64_t ticks, uint64_t from, int64_t from_value, uint64_t to,
			       int64_t to_value)
{
	return from_value +
	       (int64_t)(((__int128)to_value - from_value) * (int64_t)(ticks - from) / (int64_t)(to - from));
}

uint64_t base_ticks_nanoseconds_exact(uint64_t ticks, uint64_t frequency)
{
	unsigned __int128 nanoseconds = (unsigned __int128)ticks * NANO / frequency;

	return nanoseconds >> 64 ? UINT64_MAX : (uint64_t)nanoseconds;
}
