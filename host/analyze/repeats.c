/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "analyze/repeats.h"

#include <string.h>

#include "ktrx/v2.h"

static const char group[] = "ktrace", name[] = "repeat";

const struct ktread_type *repeat_type(const struct ktread *trace)
{
	return ktread_type_find(trace, group, name);
}

static bool take(const struct ktread_event *event, const char *field, uint64_t *number)
{
	struct ktread_value value;

	if (ktread_value_named(event, field, &value) < 0 || value.type == KTRX_TYPE_STRING)
		return false;
	*number = value.number;
	return true;
}

bool repeat_of(const struct ktread_event *event, struct repeat *repeat)
{
	return strcmp(event->type->name, name) == 0 && strcmp(event->type->group, group) == 0 &&
	       take(event, "event", &repeat->id) && take(event, "more", &repeat->more) &&
	       take(event, "first", &repeat->first) && take(event, "last", &repeat->last);
}
