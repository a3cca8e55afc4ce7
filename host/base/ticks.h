/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Converts counter ticks to times. A frequency is converted once into factors, so that the common case is a
 * multiplication instead of a division. If a multiplication would not be exact, the slower exact functions
 * are used.
 */
#ifndef BASE_TICKS_H
#define BASE_TICKS_H

#include <stdint.h>

struct base_ticks_scale {
	uint64_t frequency; /* ticks per second; 0: unknown */
	/* number of microseconds per tick, times 2^64; 0 if it does not fit into 64 bits */
	uint64_t per_microsecond;
	uint64_t per_nanosecond;   /* number of nanoseconds per tick, times 2^nanosecond_shift */
	uint64_t nanosecond_limit; /* only numbers of ticks below this are converted with per_nanosecond */
	unsigned nanosecond_shift;
};

struct base_ticks_time {
	uint64_t seconds;
	uint32_t microseconds;
};

void base_ticks_scale_init(struct base_ticks_scale *scale, uint64_t frequency);

/* Returns the double nearest to ticks / frequency. Requires: frequency is not 0. */
double base_ticks_seconds(uint64_t ticks, uint64_t frequency);

/*
 * Returns ticks / frequency in seconds and microseconds. Rounds as printf("%.6f") rounds a double of seconds,
 * so that the last digit is the same as in the output of other programs that decode these traces.
 */
struct base_ticks_time base_ticks_time(uint64_t ticks, uint64_t frequency);

/*
 * Returns the result of base_ticks_time() in microseconds; UINT64_MAX if this fast computation is not exact
 * enough. Why it is exact: the product's fraction is too small by less than `ticks`; the error of a double is
 * at most half its last bit, which is less than the whole microseconds times 2^-52. So rounding gives the
 * same result, unless the fraction differs from one half by less than the sum of both errors.
 */
static inline uint64_t base_ticks_microseconds(const struct base_ticks_scale *scale, uint64_t ticks)
{
	unsigned __int128 product = (unsigned __int128)ticks * scale->per_microsecond;
	uint64_t whole = (uint64_t)(product >> 64), fraction = (uint64_t)product;
	uint64_t doubt = ticks + ((whole + 1) << 12);

	if (__builtin_expect(scale->per_microsecond == 0 || ticks >> 61 || whole >> 49 ||
				     fraction - ((UINT64_C(1) << 63) - doubt) <= 2 * doubt,
			     0))
		return UINT64_MAX;
	return whole + (fraction >> 63);
}

/* Returns the value at `ticks` of the straight line through two points. Requires: from != to. */
int64_t base_ticks_interpolate(uint64_t ticks, uint64_t from, int64_t from_value, uint64_t to,
			       int64_t to_value);

/*
 * base_ticks_first() and base_ticks_last() return the first and the last number of ticks whose time is shown
 * as `nanoseconds`, a time that was copied from a timeline, in whole microseconds. For other times, they
 * return the limits of the time from half a microsecond before to half a microsecond after `nanoseconds`.
 * Return UINT64_MAX if the result does not fit into 64 bits.
 */
uint64_t base_ticks_first(uint64_t nanoseconds, uint64_t frequency);
uint64_t base_ticks_last(uint64_t nanoseconds, uint64_t frequency);

/* Returns the time in nanoseconds, rounded down; UINT64_MAX if it does not fit into 64 bits. */
uint64_t base_ticks_nanoseconds_exact(uint64_t ticks, uint64_t frequency);

/*
 * Returns the same as base_ticks_nanoseconds_exact(). Multiplies instead of dividing if the number of ticks
 * is below nanosecond_limit.
 */
static inline uint64_t base_ticks_nanoseconds(const struct base_ticks_scale *scale, uint64_t ticks)
{
	unsigned __int128 product = (unsigned __int128)ticks * scale->per_nanosecond;
	uint64_t nanoseconds = (uint64_t)(product >> scale->nanosecond_shift);

	if (__builtin_expect(ticks >= scale->nanosecond_limit, 0))
		return base_ticks_nanoseconds_exact(ticks, scale->frequency);
	/* The factor was truncated to 64 bits, so the product may be one nanosecond too small. */
	return nanoseconds + (ticks * 1000000000u - nanoseconds * scale->frequency >= scale->frequency);
}

#endif
