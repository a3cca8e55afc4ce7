/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "export/timeline_line.h"

/* Right-aligned in `width` columns after an opening bracket. */
static char *put_right(char *at, uint64_t number, unsigned width)
{
	char digits[BASE_PUT_SCRATCH];
	size_t length = (size_t)(base_put_decimal(digits, number) - digits);

	*at++ = '[';
	for (; length < width; width--)
		*at++ = ' ';
	memcpy(at, digits, length);
	return at + length;
}

char *timeline_put_ticks(char *at, uint64_t ticks)
{
	return base_put_literal(put_right(at, ticks, 12), "] ");
}

char *timeline_put_new_second(struct timeline *timeline, char *at, uint64_t ticks)
{
	struct timeline_second *second = &timeline->second;
	struct base_ticks_time time = { 0, 0 };
	char text[BASE_PUT_SCRATCH + 8], *end;

	if (timeline->scale.frequency == 0 && !timeline->zero_ticks)
		return timeline_put_ticks(at, ticks);
	if (timeline->scale.frequency != 0)
		time = base_ticks_time(ticks, timeline->scale.frequency);
	end = put_right(text, time.seconds, 5);
	*end++ = '.';
	if ((size_t)(end - text) <= sizeof(second->text)) {
		second->begin = time.seconds * 1000000;
		second->length = (uint32_t)(end - text);
		memcpy(second->text, text, sizeof(second->text));
	}
	memcpy(at, text, (size_t)(end - text));
	at = base_put_six(at + (end - text), time.microseconds);
	return base_put_literal(at, "] ");
}

void timeline_begin(struct timeline *timeline)
{
	timeline->base = ktread_first_stamp(timeline->trace);
	timeline->second.begin = TIMELINE_NO_SECOND;
	base_ticks_scale_init(&timeline->scale, ktread_info(timeline->trace)->frequency);
}

int timeline_write(struct timeline *timeline)
{
	const struct ktread_info *info = ktread_info(timeline->trace);

	timeline_begin(timeline);
	return info->version == 1 ? timeline_write_v1(timeline) : timeline_write_v2(timeline);
}
