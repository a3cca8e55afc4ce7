/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "export/functions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ktrx/v2.h"

struct functions_track {
	uint64_t id, stack;
	uint32_t ring, depth; /* `depth`: number of open spans */
};

static uint64_t number_of(const struct ktread_event *event, const char *field)
{
	struct ktread_value value;

	return ktread_value_named(event, field, &value) == 0 ? value.number : 0;
}

/* Writes "CPU 0 functions", "CPU 0 functions, thread 7" or "traced functions". */
static void name_track(char *name, size_t size, const struct ktread_event *event, uint64_t stack)
{
	const int length = event->cpu == KTRX_NO_CPU ? snprintf(name, size, "traced functions")
						     : snprintf(name, size, "CPU %u functions", event->cpu);

	/*
	 * If `stack` is an address space, the name does not contain the thread: the stack may belong to other
	 * threads than the one that ran when the stack first occurred.
	 */
	if (event->thread != KTREAD_NO_THREAD && stack == event->thread)
		snprintf(name + length, size - (size_t)length, ", thread %u", event->thread);
	else if (stack)
		snprintf(name + length, size - (size_t)length, ", address space %#llx",
			 (unsigned long long)stack);
}

static struct functions_track *find(struct functions *functions, uint32_t ring, uint64_t stack)
{
	struct functions_track *track = functions->track;

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

/* Adds a track. Returns NULL if the limit of tracks is reached. */
static struct functions_track *add(struct functions *functions, const struct functions_sink *sink,
				   const struct ktread_event *event, uint64_t stack, uint64_t time)
{
	struct functions_track *track;
	char name[96];

	if (functions->tracks == FUNCTIONS_TRACKS_MOST)
		return NULL;
	name_track(name, sizeof(name), event, stack);
	functions->last = functions->tracks;
	track = &functions->track[functions->tracks++];
	*track = (struct functions_track){
		.id = sink->track(sink->context, name, time),
		.stack = stack,
		.ring = event->ring,
	};
	return track;
}

static void close_down_to(const struct functions_sink *sink, struct functions_track *track, uint32_t depth,
			  uint64_t time)
{
	for (; track->depth > depth; track->depth--)
		sink->draw(sink->context, track->id, FUNCTIONS_END, NULL, time);
}

/*
 * Handles lost data: ends the open spans of one stack or, if `stack` is 0, of all stacks of the ring, and
 * marks the loss on their tracks. Makes no new tracks.
 */
static void lose(struct functions *functions, const struct functions_sink *sink,
		 const struct ktread_event *event, uint64_t stack, uint64_t time)
{
	for (uint32_t n = 0; n < functions->tracks; n++) {
		struct functions_track *track = &functions->track[n];

		if (track->ring != event->ring || (stack != 0 && track->stack != stack))
			continue;
		close_down_to(sink, track, 0, time);
		sink->draw(sink->context, track->id, FUNCTIONS_INSTANT, event, time);
	}
}

int functions_event(struct functions *functions, const struct functions_sink *sink,
		    const struct ktread_event *event, uint64_t time)
{
	const uint64_t stack = number_of(event, "stack");
	const uint32_t depth = (uint32_t)number_of(event, "depth");
	struct functions_track *track;

	if (!functions->track)
		functions->track = calloc(FUNCTIONS_TRACKS_MOST, sizeof(*functions->track));
	if (!functions->track)
		return KTREAD_E_MEMORY;
	if (strcmp(event->type->name, "lost") == 0) {
		lose(functions, sink, event, stack, time);
		return 0;
	}
	track = find(functions, event->ring, stack);
	if (!track)
		track = add(functions, sink, event, stack, time);
	if (!track) {
		functions->left_out++;
		return 0;
	}
	if (strcmp(event->type->name, "call") == 0) {
		close_down_to(sink, track, depth, time);
		sink->draw(sink->context, track->id, FUNCTIONS_BEGIN, event, time);
		track->depth++;
	} else if (strcmp(event->type->name, "return") == 0) {
		close_down_to(sink, track, depth, time);
	} else {
		sink->draw(sink->context, track->id, FUNCTIONS_INSTANT, event, time);
	}
	return 0;
}

void functions_close(struct functions *functions, const struct functions_sink *sink, uint64_t time)
{
	for (uint32_t n = 0; n < functions->tracks; n++)
		close_down_to(sink, &functions->track[n], 0, time);
}

void functions_free(struct functions *functions)
{
	free(functions->track);
}
