/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * From a unit's time to stamps. What is known are moments at which both were read; between two of them time runs evenly,
 * before the first and behind the last by the frequencies. Without a moment the unit's time is the stamp.
 */
#ifndef HWT_CLOCK_H
#define HWT_CLOCK_H

#include <stddef.h>
#include <stdint.h>

struct hwt_moment {
	uint64_t unit_time, stamp;
	uint64_t unit_frequency; /* 0: unknown */
};

struct hwt_clock {
	struct hwt_moment *moment;
	size_t moments, room;
	uint64_t frequency; /* of stamps, 0: unknown */
	unsigned bits;	    /* of the unit's time that its packets have */
};

/* -1: out of memory. */
int hwt_clock_add(struct hwt_clock *clock, const struct hwt_moment *moment);
/* Behind the last that is added. */
void hwt_clock_settle(struct hwt_clock *clock);
uint64_t hwt_clock_stamp(const struct hwt_clock *clock, uint64_t unit_time);
void hwt_clock_free(struct hwt_clock *clock);

#endif
