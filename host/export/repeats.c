/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "export/repeats.h"

#include <inttypes.h>
#include <stdio.h>

#include "analyze/repeats.h"
#include "export/event_name.h"
#include "export/ticks.h"
#include "ktrx/slot.h"

#define SPAN_BYTES 32u

static const char *span_text(char text[SPAN_BYTES], const struct ktread *trace, uint64_t ticks)
{
	uint64_t frequency = ktread_info(trace)->frequency;

	if (frequency)
		snprintf(text, SPAN_BYTES, "%.6f s", ticks_seconds(ticks, frequency));
	else
		snprintf(text, SPAN_BYTES, "%" PRIu64 " ticks", ticks);
	return text;
}

static char *put_name(char *at, const struct ktread *trace, uint64_t id)
{
	const struct ktread_type *type = id <= KTRX_EVENT_MAX ? ktread_type(trace, (uint32_t)id) : NULL;

	return type ? event_name_put(at, type) : at + sprintf(at, "UNKNOWN(%" PRIu64 ")", id);
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

static void write_open(struct output *out, const struct ktread *trace, const struct ktread_fold *fold)
{
	char *at = output_line(out), span[SPAN_BYTES];

	at += sprintf(at, "--- CPU%" PRIu32 " PID=%" PRIu32 ": ", fold->event.cpu, fold->event.thread);
	at = put_name(at, trace, fold->event.id);
	*at++ = ' ';
	at += ktread_format(&fold->event, at, OUTPUT_LINE / 2);
	at += sprintf(at, ": %" PRIu64 " more in %s, and no other since ---\n", fold->count,
		      span_text(span, trace, fold->last - fold->first));
	output_done(out, at);
}

int repeats_write(struct output *out, struct ktread *trace)
{
	struct ktread_fold fold;
	uint32_t row = 0;
	int status;

	while ((status = ktread_fold(trace, &row, &fold)) > 0)
		write_open(out, trace, &fold);
	return status;
}
