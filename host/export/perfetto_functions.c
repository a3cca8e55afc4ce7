/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "export/perfetto_functions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ktrx/v2.h"

#define CATEGORY "hwt"

static uint64_t number_of(const struct ktread_event *event, const char *field)
{
	struct ktread_value value;

	return ktread_value_named(event, field, &value) == 0 ? value.number : 0;
}

/* "CPU 0 functions", "CPU 0 functions, thread 7", "thread 7 functions". */
static void name_track(char *name, size_t size, const struct ktread_event *event, uint64_t stack)
{
	const int length = event->cpu == KTRX_NO_CPU ? snprintf(name, size, "traced functions")
						     : snprintf(name, size, "CPU %u functions", event->cpu);

	if (event->thread != KTREAD_NO_THREAD)
		snprintf(name + length, size - (size_t)length, ", thread %u", event->thread);
	else if (stack)
		snprintf(name + length, size - (size_t)length, ", address space %#llx",
			 (unsigned long long)stack);
}

static struct perfetto_functions_track *find(struct perfetto_functions *functions, uint32_t ring,
					     uint64_t stack)
{
	struct perfetto_functions_track *track = functions->track;

	if (functions->tracks && track[functions->last].ring == ring && track[functions->last].stack == stack)
		return &track[functions->last];
	for (uint32_t n = 0; n < functions->tracks; n++) {
		if (track[n].ring != ring || track[n].stack != stack)
			continue;
		functions->last = n;
		return &track[n];
	}
	return NULL;
}

/* NULL: there is no room. */
static struct perfetto_functions_track *add(struct perfetto_functions *functions,
					    struct perfetto_tracks *tracks, const struct ktread_event *event,
					    uint64_t stack, uint64_t time)
{
	struct perfetto_functions_track *track;
	char name[96];

	if (functions->tracks == PERFETTO_FUNCTIONS_MOST)
		return NULL;
	name_track(name, sizeof(name), event, stack);
	functions->last = functions->tracks;
	track = &functions->track[functions->tracks++];
	*track = (struct perfetto_functions_track){
		.uuid = perfetto_track_named(tracks, name, time),
		.stack = stack,
		.ring = event->ring,
	};
	return track;
}

static struct protobuf *begin(struct perfetto_tracks *tracks, uint64_t uuid, enum perfetto_event_type type,
			      uint64_t time, unsigned char **at)
{
	struct protobuf *pb = perfetto_packet_begin(tracks->stream, time);

	*at = protobuf_begin(pb, PACKET_TRACK_EVENT);
	protobuf_uint(pb, EVENT_TYPE, type);
	protobuf_uint(pb, EVENT_TRACK, uuid);
	if (type != EVENT_SLICE_END)
		protobuf_bytes(pb, EVENT_CATEGORIES, CATEGORY, strlen(CATEGORY));
	return pb;
}

static void end(struct perfetto_tracks *tracks, struct protobuf *pb, unsigned char *at)
{
	protobuf_end(pb, at);
	perfetto_packet_end(tracks->stream);
}

static void close_down_to(struct perfetto_tracks *tracks, struct perfetto_functions_track *track,
			  uint32_t depth, uint64_t time)
{
	for (; track->depth > depth; track->depth--) {
		unsigned char *at;
		struct protobuf *pb = begin(tracks, track->uuid, EVENT_SLICE_END, time, &at);

		end(tracks, pb, at);
	}
}

/* Something with a name, which the event's first field is. */
static void write_named(struct perfetto_tracks *tracks, uint64_t uuid, enum perfetto_event_type type,
			const struct ktread_event *event, uint64_t time)
{
	struct ktread_value value;
	unsigned char *at;
	struct protobuf *pb = begin(tracks, uuid, type, time, &at);

	if (ktread_value(event, 0, &value) == 0 && value.type == KTRX_TYPE_STRING)
		protobuf_text(pb, EVENT_NAME, value.string, value.length, PERFETTO_NAME_MAX);
	end(tracks, pb, at);
}

/* Of one stack, or of all of the ring. What is not drawn yet has nothing to lose. */
static void lose(struct perfetto_functions *functions, struct perfetto_tracks *tracks,
		 const struct ktread_event *event, uint64_t stack, uint64_t time)
{
	for (uint32_t n = 0; n < functions->tracks; n++) {
		struct perfetto_functions_track *track = &functions->track[n];

		if (track->ring != event->ring || (stack != 0 && track->stack != stack))
			continue;
		close_down_to(tracks, track, 0, time);
		write_named(tracks, track->uuid, EVENT_INSTANT, event, time);
	}
}

int perfetto_functions_event(struct perfetto_functions *functions, struct perfetto_tracks *tracks,
			     const struct ktread_event *event, uint64_t time)
{
	const uint64_t stack = number_of(event, "stack");
	const uint32_t depth = (uint32_t)number_of(event, "depth");
	struct perfetto_functions_track *track;

	if (!functions->track)
		functions->track = calloc(PERFETTO_FUNCTIONS_MOST, sizeof(*functions->track));
	if (!functions->track)
		return KTREAD_E_MEMORY;
	if (strcmp(event->type->name, "lost") == 0) {
		lose(functions, tracks, event, stack, time);
		return 0;
	}
	track = find(functions, event->ring, stack);
	if (!track)
		track = add(functions, tracks, event, stack, time);
	if (!track) {
		functions->left_out++;
		return 0;
	}
	if (strcmp(event->type->name, "call") == 0) {
		close_down_to(tracks, track, depth, time);
		write_named(tracks, track->uuid, EVENT_SLICE_BEGIN, event, time);
		track->depth++;
	} else if (strcmp(event->type->name, "return") == 0) {
		close_down_to(tracks, track, depth, time);
	} else {
		write_named(tracks, track->uuid, EVENT_INSTANT, event, time);
	}
	return 0;
}

void perfetto_functions_free(struct perfetto_functions *functions)
{
	free(functions->track);
}
