/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "analyze/around.h"

void around_find(struct around *around, struct ktread *trace, double from, double to)
{
	const double frequency = (double)ktread_info(trace)->frequency;
	const struct ktread_event *event;

	*around = (struct around){ 0 };
	while (!around->after.known && ktread_next(trace, &event) > 0) {
		const double at = (double)event->stamp / frequency;
		const struct around_event found = { true, event->ring, event->index };

		if (at <= from)
			around->before = found;
		else if (at >= to)
			around->after = found;
	}
}
