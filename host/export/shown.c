/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "export/shown.h"

#include <stdlib.h>

#include "base/grow.h"

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
