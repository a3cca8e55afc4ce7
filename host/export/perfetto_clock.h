/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Counter ticks as nanoseconds since the counter was zero. Events get times of their own, two apart at least
 * and in the order they come, even where a slow counter gave them one stamp: order survives the export.
 */
#ifndef EXPORT_PERFETTO_CLOCK_H
#define EXPORT_PERFETTO_CLOCK_H

#include <stdint.h>

struct perfetto_clock {
	uint64_t frequency;
	uint64_t second, second_ns; /* the whole second that was last converted, in ticks and ns */
	uint64_t last;		    /* time of the event before */
};

/* Latest time there is: signed 64 bits hold it, with some to spare. */
#define PERFETTO_TIME_MAX (INT64_MAX / 2)

/* A frequency of 0 is unknown: a tick is then shown as a nanosecond. */
static inline void perfetto_clock_init(struct perfetto_clock *clock, uint64_t frequency)
{
	*clock = (struct perfetto_clock){ .frequency = frequency ? frequency : 1000000000u };
}

static inline uint64_t perfetto_clock_ns(struct perfetto_clock *clock, uint64_t stamp)
{
	uint64_t rest = stamp - clock->second;

	if (__builtin_expect(rest >= clock->frequency, 0)) {
		uint64_t seconds = stamp / clock->frequency;

		if (seconds >= PERFETTO_TIME_MAX / 1000000000u)
			return PERFETTO_TIME_MAX;
		clock->second = seconds * clock->frequency;
		clock->second_ns = seconds * 1000000000u;
		rest = stamp - clock->second;
	}
	return clock->second_ns + (uint64_t)((unsigned __int128)rest * 1000000000u / clock->frequency);
}

static inline uint64_t perfetto_clock_event(struct perfetto_clock *clock, uint64_t stamp)
{
	uint64_t time = perfetto_clock_ns(clock, stamp);

	if (time < clock->last + 2)
		time = clock->last + 2;
	clock->last = time;
	return time;
}

#endif
