/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "export/timeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyze/event_name.h"
#include "base/ticks.h"
#include "ktrx/slot.h"
#include "ktrx/v2.h"

#define SPAN_BYTES 32u

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

static const char *span_text(char text[SPAN_BYTES], const struct ktread *trace, uint64_t ticks)
{
	uint64_t frequency = ktread_info(trace)->frequency;

	if (frequency)
		snprintf(text, SPAN_BYTES, "%.6f s", base_ticks_seconds(ticks, frequency));
	else
		snprintf(text, SPAN_BYTES, "%" PRIu64 " ticks", ticks);
	return text;
}

static char *put_name(char *at, const struct ktread *trace, uint64_t id)
{
	const struct ktread_type *type = id <= KTRX_EVENT_MAX ? ktread_type(trace, (uint32_t)id) : NULL;

	return type ? analyze_event_name_put(at, type) : at + sprintf(at, "UNKNOWN(%" PRIu64 ")", id);
}

char *repeats_put(char *at, const struct ktread *trace, const struct ktread_event *event)
{
	struct repeat repeat;
	char span[SPAN_BYTES];

	if (!repeat_of(event, &repeat))
		return NULL;
	at = put_name(at, trace, repeat.id);
	return at + sprintf(at, ": %" PRIu64 " more in %s", repeat.more,
			    span_text(span, trace, repeat.last - repeat.first));
}

static void write_open(struct base_output *out, const struct ktread *trace, const struct ktread_fold *fold)
{
	char *at = base_output_line(out), span[SPAN_BYTES];

	at += sprintf(at, "--- CPU%" PRIu32 " PID=%" PRIu32 ": ", fold->event.cpu, fold->event.thread);
	at = put_name(at, trace, fold->event.id);
	*at++ = ' ';
	at += ktread_format(&fold->event, at, BASE_OUTPUT_LINE / 2);
	at += sprintf(at, ": %" PRIu64 " more in %s, and no other since ---\n", fold->count,
		      span_text(span, trace, fold->last - fold->first));
	base_output_done(out, at);
}

int repeats_write(struct base_output *out, struct ktread *trace)
{
	struct ktread_fold fold;
	uint32_t row = 0;
	int status;

	while ((status = ktread_fold(trace, &row, &fold)) > 0)
		write_open(out, trace, &fold);
	return status;
}
