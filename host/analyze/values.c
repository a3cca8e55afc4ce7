/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "analyze/values.h"

#include <stdbool.h>

#include "ktrx/slot.h"
#include "ktrx/v2.h"

static bool is_negative(const struct ktread_value *value)
{
	switch (value->type) {
	case KTRX_TYPE_I8:
	case KTRX_TYPE_I16:
	case KTRX_TYPE_I32:
	case KTRX_TYPE_I64:
		return (int64_t)value->number < 0;
	default:
		return false;
	}
}

static int take(struct values *values, const struct ktread_event *event, const char *field)
{
	struct ktread_value value;

	if (ktread_value_named(event, field, &value) < 0 || value.type == KTRX_TYPE_STRING) {
		values->missing++;
		return 0;
	}
	if (is_negative(&value))
		return histogram_add(&values->negative, 0 - value.number);
	return histogram_add(&values->positive, value.number);
}

int values_read(struct values *values, struct ktread *trace, const uint8_t *events, const char *field)
{
	const struct ktread_event *event;
	int status, error = 0;

	while ((status = ktread_next(trace, &event)) > 0 && !error)
		if (events[(event->id & KTRX_EVENT_MAX) / 8] >> event->id % 8 & 1)
			error = take(values, event, field);
	return error ? error : status;
}

void values_free(struct values *values)
{
	histogram_free(&values->positive);
	histogram_free(&values->negative);
}
