/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "export/timeline_line.h"

int timeline_write(struct timeline *timeline)
{
	const struct ktread_info *info = ktread_info(timeline->trace);

	timeline->base = ktread_first_stamp(timeline->trace);
	timeline->frequency = info->frequency;
	return info->version == 1 ? timeline_write_v1(timeline) : timeline_write_v2(timeline);
}
