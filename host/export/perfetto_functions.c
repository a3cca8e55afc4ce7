/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "export/perfetto_functions.h"

#include <string.h>

#include "ktrx/v2.h"

#define CATEGORY "hwt"

uint64_t perfetto_functions_track(void *tracks, const char *name, uint64_t time)
{
	return perfetto_track_named(tracks, name, time);
}

void perfetto_functions_draw(void *context, uint64_t track, enum functions_mark mark,
			     const struct ktread_event *event, uint64_t time)
{
	static const enum perfetto_event_type types[] = { [FUNCTIONS_BEGIN] = EVENT_SLICE_BEGIN,
							  [FUNCTIONS_END] = EVENT_SLICE_END,
							  [FUNCTIONS_INSTANT] = EVENT_INSTANT };
	struct perfetto_tracks *tracks = context;
	struct protobuf *pb = perfetto_packet_begin(tracks->stream, time);
	unsigned char *at = protobuf_begin(pb, PACKET_TRACK_EVENT);
	struct ktread_value value;

	protobuf_uint(pb, EVENT_TYPE, types[mark]);
	protobuf_uint(pb, EVENT_TRACK, track);
	if (event)
		protobuf_bytes(pb, EVENT_CATEGORIES, CATEGORY, strlen(CATEGORY));
	if (event && ktread_value(event, 0, &value) == 0 && value.type == KTRX_TYPE_STRING)
		protobuf_text(pb, EVENT_NAME, value.string, value.length, PERFETTO_NAME_MAX);
	protobuf_end(pb, at);
	perfetto_packet_end(tracks->stream);
}
