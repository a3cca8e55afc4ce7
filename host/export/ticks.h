/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Counter ticks as times. */
#ifndef EXPORT_TICKS_H
#define EXPORT_TICKS_H

#include <stdint.h>

struct ticks_time {
	uint64_t seconds;
	uint32_t microseconds;
};

/* The double nearest to ticks / frequency where one of the two does not fit a double exactly. */
double ticks_quotient(uint64_t ticks, uint64_t frequency);

static inline double ticks_seconds(uint64_t ticks, uint64_t frequency)
{
	if (__builtin_expect((ticks | frequency) >> 53, 0))
		return ticks_quotient(ticks, frequency);
	return (double)(int64_t)ticks / (double)(int64_t)frequency;
}

/*
 * Seconds and microseconds just as printf("%.6f") rounds seconds held in a double, so that the last digit is
 * the one that other decoders of these traces print. Takes the double apart and rounds half to even, exactly.
 */
static inline struct ticks_time ticks_time(uint64_t ticks, uint64_t frequency)
{
	union {
		double number;
		uint64_t bits;
	} seconds = { .number = ticks_seconds(ticks, frequency) };
	uint64_t mantissa = (seconds.bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
	int shift = 1075 - (int)(seconds.bits >> 52); /* seconds = mantissa / 2^shift */
	struct ticks_time time = { 0, 0 };
	unsigned __int128 scaled, rest, half;

	if (shift >= 74) /* less than half a microsecond */
		return time;
	if (shift <= 0) { /* whole seconds */
		time.seconds = mantissa << -shift;
		return time;
	}
	if (shift < 53) {
		time.seconds = mantissa >> shift;
		mantissa &= (UINT64_C(1) << shift) - 1;
	}
	scaled = (unsigned __int128)mantissa * 1000000u;
	half = (unsigned __int128)1 << (shift - 1);
	rest = scaled & (half + half - 1);
	time.microseconds = (uint32_t)(scaled >> shift);
	time.microseconds += rest > half || (rest == half && (time.microseconds & 1u));
	if (time.microseconds == 1000000u) {
		time.microseconds = 0;
		time.seconds++;
	}
	return time;
}

/* Whole nanoseconds, cut. UINT64_MAX where they do not fit. */
uint64_t ticks_nanoseconds(uint64_t ticks, uint64_t frequency);

#endif
