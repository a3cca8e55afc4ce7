/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Counter ticks as times. A frequency is turned once into factors, so that the common case is one
 * multiplication instead of a division; where that cannot be exact, the exact and slower functions are asked.
 */
#ifndef BASE_TICKS_H
#define BASE_TICKS_H

#include <stdint.h>

struct base_ticks_scale {
	uint64_t frequency;	   /* 0: unknown */
	uint64_t per_microsecond;  /* microseconds a tick, times 2^64; 0 if there is no room for that */
	uint64_t per_nanosecond;   /* nanoseconds a tick, times 2^nanosecond_shift */
	uint64_t nanosecond_limit; /* ticks from which on that is not good enough */
	unsigned nanosecond_shift;
};

struct base_ticks_time {
	uint64_t seconds;
	uint32_t microseconds;
};

void base_ticks_scale_init(struct base_ticks_scale *scale, uint64_t frequency);

/* The double nearest to ticks / frequency. */
double base_ticks_seconds(uint64_t ticks, uint64_t frequency);

/*
 * Seconds and microseconds just as printf("%.6f") rounds seconds held in a double, so that the last digit is
 * the one that other decoders of these traces print.
 */
struct base_ticks_time base_ticks_time(uint64_t ticks, uint64_t frequency);

/*
 * The same in microseconds, or UINT64_MAX: ask base_ticks_time(). The product's fraction is too small by less
 * than `ticks`; a double is off by half its last bit at most, which is less than the whole microseconds times
 * 2^-52. Unless the fraction is nearer to one half than both together, rounding is the same.
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

/* Whole nanoseconds, cut; UINT64_MAX where they do not fit. */
uint64_t base_ticks_nanoseconds_exact(uint64_t ticks, uint64_t frequency);

static inline uint64_t base_ticks_nanoseconds(const struct base_ticks_scale *scale, uint64_t ticks)
{
	unsigned __int128 product = (unsigned __int128)ticks * scale->per_nanosecond;
	uint64_t nanoseconds = (uint64_t)(product >> scale->nanosecond_shift);

	if (__builtin_expect(ticks >= scale->nanosecond_limit, 0))
		return base_ticks_nanoseconds_exact(ticks, scale->frequency);
	/* The factor was cut, so the result may be one too small. */
	return nanoseconds + (ticks * 1000000000u - nanoseconds * scale->frequency >= scale->frequency);
}

#endif
