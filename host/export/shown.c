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

static uint8_t *state_of(struct shown *shown, uint32_t index)
{
	uint8_t *larger = base_grow(shown->state, &shown->states, (size_t)index + 1, sizeof(*larger));

	if (!larger) {
		shown->failed = true;
		return NULL;
	}
	shown->state = larger;
	return &larger[index];
}

void shown_change(void *context, const struct threads_change *change)
{
	struct shown *shown = context;
	struct threads_change seen = *change;
	struct threads_thread thread = *change->thread;
	uint8_t *state;

	if (!shown->filter) {
		shown->changed(shown->context, change);
		return;
	}
	state = state_of(shown, thread.index);
	if (!state || (shown->hidden && *state == THREADS_UNKNOWN))
		return;
	seen.thread = &thread;
	seen.from = (enum threads_state) * state;
	if (shown->hidden) {
		thread.state = THREADS_UNKNOWN;
		seen.followed = seen.woken = seen.interrupt = false;
	}
	*state = thread.state;
	shown->changed(shown->context, &seen);
}

enum threads_state shown_state(const struct shown *shown, const struct threads_thread *thread)
{
	if (!shown->filter)
		return (enum threads_state)thread->state;
	if (thread->index >= shown->states)
		return THREADS_UNKNOWN;
	return (enum threads_state)shown->state[thread->index];
}

void shown_reveal(struct shown *shown, const struct threads *threads, const struct ktread_event *event,
		  uint64_t time)
{
	const struct threads_thread *thread = threads_on(threads, event->cpu);
	uint8_t *state;

	if (!shown->filter || shown->hidden || !thread || thread->id != event->thread)
		return;
	state = state_of(shown, thread->index);
	if (!state || *state == THREADS_RUNNING)
		return;
	*state = THREADS_RUNNING;
	shown->changed(shown->context,
		       &(struct threads_change){
			       .time = time, .thread = thread, .from = THREADS_UNKNOWN, .cpu = event->cpu });
}
