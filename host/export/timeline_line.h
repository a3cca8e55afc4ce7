/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What the timelines of both versions share: how a line begins. */
#ifndef EXPORT_TIMELINE_LINE_H
#define EXPORT_TIMELINE_LINE_H

#include "base/put.h"
#include "export/timeline.h"

int timeline_write_v1(struct timeline *timeline);

/* The exact way: renders anew what timeline->second holds. */
char *timeline_put_new_second(struct timeline *timeline, char *at, uint64_t ticks);

/* "[    0.066302] " or, of an unknown frequency, "[      123456] ". */
static inline char *timeline_put_time(struct timeline *timeline, char *at, uint64_t stamp)
{
	const struct timeline_second *second = &timeline->second;
	uint64_t ticks = stamp > timeline->base ? stamp - timeline->base : 0;
	uint64_t past = base_ticks_microseconds(&timeline->scale, ticks) - second->begin;

	if (__builtin_expect(past >= 1000000, 0))
		return timeline_put_new_second(timeline, at, ticks);
	memcpy(at, second->text, sizeof(second->text));
	at = base_put_six(at + second->length, (uint32_t)past);
	return base_put_literal(at, "] ");
}

#endif
