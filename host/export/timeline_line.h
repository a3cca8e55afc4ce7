/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What the timelines of both versions share: how a line begins. */
#ifndef EXPORT_TIMELINE_LINE_H
#define EXPORT_TIMELINE_LINE_H

#include "export/number.h"
#include "export/ticks.h"
#include "export/timeline.h"

int timeline_write_v1(struct timeline *timeline);
int timeline_write_v2(struct timeline *timeline);

/* "[    0.066302] " */
static inline char *timeline_put_seconds(char *at, uint64_t ticks, uint64_t frequency)
{
	struct ticks_time time = ticks_time(ticks, frequency);
	unsigned digits = number_digits(time.seconds);

	memcpy(at, "[    ", 5);
	at += digits < 5 ? 6 - digits : 1;
	at = number_fixed(at, time.seconds, digits);
	*at = '.';
	at = number_fixed(at + 1, time.microseconds, 6);
	return number_literal(at, "] ");
}

/* "[      123456] " */
static inline char *timeline_put_ticks(char *at, uint64_t ticks)
{
	unsigned digits = number_digits(ticks);

	memcpy(at, "[            ", 13);
	at += digits < 12 ? 13 - digits : 1;
	at = number_fixed(at, ticks, digits);
	return number_literal(at, "] ");
}

static inline char *timeline_put_time(const struct timeline *timeline, char *at, uint64_t stamp)
{
	uint64_t ticks = stamp > timeline->base ? stamp - timeline->base : 0;

	if (__builtin_expect(timeline->frequency != 0, 1))
		return timeline_put_seconds(at, ticks, timeline->frequency);
	return timeline->zero_ticks ? timeline_put_seconds(at, 0, 1) : timeline_put_ticks(at, ticks);
}

/* Left-aligned in `width` columns, more if it needs them. */
static inline char *timeline_put_padded(char *at, uint64_t number, unsigned width)
{
	char *end;

	memset(at, ' ', width);
	end = number_decimal(at, number);
	return end < at + width ? at + width : end;
}

#endif
