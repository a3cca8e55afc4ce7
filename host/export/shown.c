/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "export/shown.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "ktrx/v2.h"

int shown_open(struct shown *shown, struct ktread *trace)
{
	if (!ktread_is_narrowed(trace))
		return 0;
	shown->filter = trace;
	ktread_filter_window(trace, &shown->since, &shown->until);
	ktread_apply_filter(trace, 0);
	return ktread_rewind(trace);
}

void shown_close(struct shown *shown, struct ktread *trace)
{
	if (shown->filter)
		ktread_apply_filter(trace, 1);
	free(shown->state);
}

bool shown_take(struct shown *shown, const struct ktread_event *event)
{
	shown->hidden = !ktread_selects(shown->filter, event);
	shown->ended = event->stamp > shown->until;
	return !shown->ended;
}

static struct shown_state *state_of(struct shown *shown, uint32_t index)
{
	struct shown_state *larger =
		base_grow(shown->state, &shown->states, (size_t)index + 1, sizeof(*larger));

	if (!larger) {
		shown->failed = true;
		return NULL;
	}
	shown->state = larger;
	return &larger[index];
}

/* Passes a change on, with the state that the format knows as the previous one. */
static void pass(struct shown *shown, struct shown_state *state, const struct threads_change *change)
{
	struct threads_change passed = *change;

	if (state->state != THREADS_DEAD) {
		passed.from = (enum threads_state)state->state;
		passed.from_time = state->time;
		passed.from_stamp = state->stamp;
	}
	state->state = change->thread->state;
	state->stamp = shown->stamp;
	state->time = change->time;
	state->cpu = change->cpu;
	shown->changed(shown->context, &passed);
}

/* Passes on that the thread's state is unknown from `time` on. */
static void pass_unknown(struct shown *shown, struct shown_state *state, const struct threads_change *change,
			 uint64_t time)
{
	struct threads_thread thread = *change->thread;

	thread.state = THREADS_UNKNOWN;
	pass(shown, state,
	     &(struct threads_change){ .time = time,
				       .thread = &thread,
				       .cpu = state->state == THREADS_RUNNING ? state->cpu : change->cpu });
}

/* Ends the state that the format knows where slots are missing, if that is before the change. */
static void end_in_gap(struct shown *shown, struct shown_state *state, const struct threads_change *change)
{
	const uint32_t place = state->state == THREADS_RUNNING ? state->cpu : GAPS_ANYWHERE;
	uint64_t gap, time;

	if (!shown->gaps || state->state == THREADS_UNKNOWN || state->state == THREADS_DEAD)
		return;
	if (shown->only_running && state->state != THREADS_RUNNING)
		return;
	gap = gaps_first(shown->gaps, place, state->stamp, shown->stamp);
	if (gap == UINT64_MAX)
		return;
	time = shown->time_of(shown->clock, gap) + 1;
	time = time > state->time ? time : state->time;
	if (time < change->time)
		pass_unknown(shown, state, change, time);
}

void shown_change(void *context, const struct threads_change *change)
{
	struct shown *shown = context;
	struct shown_state *state = state_of(shown, change->thread->index);

	if (!state)
		return;
	end_in_gap(shown, state, change);
	if (state->state == THREADS_UNKNOWN && (shown->hidden || change->thread->state == THREADS_UNKNOWN))
		return;
	if (shown->hidden)
		pass_unknown(shown, state, change, change->time);
	else
		pass(shown, state, change);
}

void shown_finish(struct shown *shown, const struct threads *threads, uint64_t until)
{
	shown->hidden = false;
	shown->stamp = until;
	for (uint32_t n = 0; n < shown->states; n++) {
		const struct threads_thread *thread = threads_at(threads, n);
		struct shown_state *state = &shown->state[n];

		if (thread && state->state == THREADS_RUNNING)
			end_in_gap(shown, state,
				   &(struct threads_change){
					   .time = UINT64_MAX, .thread = thread, .cpu = state->cpu });
	}
}

enum threads_state shown_state(const struct shown *shown, const struct threads_thread *thread)
{
	if (thread->index >= shown->states)
		return THREADS_UNKNOWN;
	return (enum threads_state)shown->state[thread->index].state;
}

void shown_reveal(struct shown *shown, const struct threads *threads, const struct ktread_event *event,
		  uint64_t time)
{
	const struct threads_thread *thread = threads_on(threads, event->cpu);
	struct shown_state *state;

	if (!shown->filter || shown->hidden || !thread || thread->id != event->thread)
		return;
	state = state_of(shown, thread->index);
	if (state && state->state != THREADS_RUNNING)
		pass(shown, state,
		     &(struct threads_change){ .time = time, .thread = thread, .cpu = event->cpu });
}

/* ---- Functions of hardware trace ---- */

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
