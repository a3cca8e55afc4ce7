/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */

#include <stdlib.h>
#include <string.h>

#include "analyze/scheduling.h"
#include "analyze/threads.h"
#include "ktrx/slot.h"

#define STATES 5u   /* number of states that ktrace defines */
#define FEW    3u   /* if a state occurs less often than this, it may be by chance */
#define SOME   16u  /* if a state occurs at least this often, it is not by chance */
#define SLOTS  512u /* number of threads that are tracked at the same time */
/* Threads count as running without a wakeup if at most 1/PART of them were woken before they ran again. */
#define PART 8u

/* What is known about a thread since it last began to run. */
struct track {
	uint32_t id;
	bool used, idle;
	/* the trace has an event sched.block of the thread, and no wakeup of the thread after it */
	bool announced;
	bool woken;    /* the trace has an event sched.wake or sched.create for the thread */
	bool left;     /* the CPU has switched away from the thread */
	bool unwoken;  /* the thread runs, and was not woken before it began to run */
	uint8_t state; /* state in the switch away from the thread; valid if `left` or `unwoken` is set */
	/* true if the thread had announced that it will sleep before the CPU switched away from it */
	bool asleep;
};

struct switch_states {
	const struct ktread *trace;
	/* indexed by thread id modulo SLOTS; a new thread replaces an older thread */
	struct track track[SLOTS];
	uint64_t creates, wakes;
	uint64_t switches; /* number of switches away from threads that are not idle threads */
	/*
	 * indexed by state: number of switches in `switches` with this state; the last element is for all
	 * other states
	 */
	uint64_t of[STATES + 1];
	/*
	 * indexed by state: number of times that a thread ran again after a switch away from it with this
	 * state
	 */
	uint64_t again[STATES];
	/* number of times in `again` without a wakeup before the thread ran again */
	uint64_t unwoken[STATES];
	/*
	 * number of times in `unwoken` that were preemptions: the thread had not announced that it will sleep
	 */
	uint64_t preempted[STATES];
	/*
	 * number of times in `again` in which the thread had announced before the switch that it will sleep
	 */
	uint64_t slept[STATES];
	uint64_t revived; /* number of wakeups of threads whose last state was dead */
	/* indexed by state: the first switch with this state; `count` is not used */
	struct switch_states_found first[STATES + 1];
};

int switch_states_open(struct switch_states **states, const struct ktread *trace)
{
	*states = calloc(1, sizeof(**states));
	if (!*states)
		return KTREAD_E_MEMORY;
	(*states)->trace = trace;
	return 0;
}

void switch_states_free(struct switch_states *states)
{
	free(states);
}

static bool is_idle(const struct switch_states *s, uint32_t id)
{
	const char *name = ktread_thread_name(s->trace, id);

	return id == 0 || (name && threads_name_is_idle(name, strlen(name)));
}

static struct track *track_of(struct switch_states *s, uint32_t id)
{
	struct track *track = &s->track[id % SLOTS];

	if (!track->used || track->id != id)
		*track = (struct track){ .id = id, .used = true, .idle = is_idle(s, id) };
	return track;
}

static void leave(struct switch_states *s, const struct ktread_event *event, struct track *track,
		  uint64_t state)
{
	const uint32_t at = state < STATES ? (uint32_t)state : STATES;

	track->unwoken = track->left = false;
	if (track->idle)
		return;
	s->switches++;
	if (s->of[at]++ == 0)
		s->first[at] = (struct switch_states_found){ 0, event->stamp, event->cpu, state };
	if (at == STATES)
		return;
	track->left = true;
	track->state = (uint8_t)at;
	track->asleep = track->announced;
}

static void run(struct switch_states *s, struct track *track)
{
	if (track->left) {
		s->again[track->state]++;
		s->slept[track->state] += track->asleep;
		track->unwoken = !track->woken;
		s->unwoken[track->state] += track->unwoken;
		s->preempted[track->state] += track->unwoken && !track->asleep;
	}
	track->left = track->woken = track->announced = false;
}

/* The clocks of CPUs may differ, so a wakeup may seem to come after the switch to the woken thread. */
static void wake(struct switch_states *s, struct track *track)
{
	if (track->unwoken) {
		s->unwoken[track->state]--;
		s->preempted[track->state] -= !track->asleep;
		track->unwoken = false;
	}
	track->woken = true;
	track->announced = false;
}

static void take_switch(struct switch_states *s, const struct ktread_event *event,
			const struct wellknown *known)
{
	uint32_t prev, next;
	uint64_t state;

	if (!wellknown_thread(known, event, WELLKNOWN_PREV, &prev) ||
	    !wellknown_thread(known, event, WELLKNOWN_NEXT, &next) || prev == next)
		return;
	if (wellknown_number(known, event, WELLKNOWN_STATE, &state))
		leave(s, event, track_of(s, prev), state);
	run(s, track_of(s, next));
}

void switch_states_event(struct switch_states *s, const struct ktread_event *event,
			 const struct wellknown *known)
{
	struct switched_change change;
	uint32_t id = event->thread;
	struct track *track;

	if (event->lost || switched_change_of(event, &change))
		memset(s->track, 0, sizeof(s->track));
	switch (known->kind) {
	case WELLKNOWN_SWITCH:
		take_switch(s, event, known);
		return;
	case WELLKNOWN_BLOCK:
		wellknown_thread(known, event, WELLKNOWN_THREAD, &id);
		track_of(s, id)->announced = true;
		return;
	case WELLKNOWN_WAKE:
		if (!wellknown_thread(known, event, WELLKNOWN_THREAD, &id))
			return;
		track = track_of(s, id);
		s->wakes++;
		s->revived += track->left && track->state == WELLKNOWN_STATE_DEAD && !track->woken;
		wake(s, track);
		return;
	case WELLKNOWN_CREATE:
		if (!wellknown_thread(known, event, WELLKNOWN_THREAD, &id))
			return;
		s->creates++;
		track = track_of(s, id);
		wake(s, track);
		track->left = false;
		return;
	default:
		return;
	}
}

/* Returns whether threads nearly always ran again without a wakeup after a switch with this state. */
static bool run_without_wakeup(const struct switch_states *s, uint32_t state)
{
	return s->wakes >= FEW && s->unwoken[state] >= SOME / 2 &&
	       s->again[state] - s->unwoken[state] <= s->again[state] / PART;
}

/*
 * Returns whether threads ran again after a switch with the state dead. A new thread may have the id of a
 * dead thread, so this needs proof. It is proof if the kernel records the creation of threads, if some
 * threads were woken and others ran without a wakeup, or if the threads had announced before the switch that
 * they will sleep.
 */
static bool dead_threads_run(const struct switch_states *s)
{
	const uint32_t dead = WELLKNOWN_STATE_DEAD;
	const uint64_t again = s->unwoken[dead] + s->revived;

	if (s->slept[dead] >= FEW && s->slept[dead] >= s->of[dead] / PART)
		return true;
	if (s->creates)
		return again >= FEW && again >= s->of[dead] / 2;
	return s->unwoken[dead] >= FEW && s->revived >= FEW;
}

/*
 * Returns whether threads ran again without a wakeup after a switch with the state stopped, although the
 * kernel records wakeups, or whether the threads had announced before the switch that they will sleep. If the
 * kernel records no wakeups, also returns true if many switches have the state stopped, none has the state
 * runnable, and the threads ran again.
 */
static bool stopped_threads_run(const struct switch_states *s)
{
	const uint32_t stopped = WELLKNOWN_STATE_STOPPED;

	return (s->slept[stopped] >= FEW && s->slept[stopped] >= s->of[stopped] / PART) ||
	       run_without_wakeup(s, stopped) ||
	       (s->wakes == 0 && s->of[WELLKNOWN_STATE_RUNNABLE] == 0 && s->again[stopped] >= SOME &&
		s->of[stopped] >= s->switches / PART);
}

/*
 * Returns whether all switches have the state `state`, although some threads slept and others were preempted.
 */
static bool is_same(const struct switch_states *s, uint32_t state)
{
	return s->switches >= SOME && s->of[state] == s->switches && s->slept[state] >= FEW &&
	       s->preempted[state] >= FEW && s->wakes >= FEW;
}

static bool fill_in(const struct switch_states *s, uint32_t state, struct switch_states_found *found)
{
	*found = s->first[state];
	found->count = s->of[state];
	return true;
}

bool switch_states_have(const struct switch_states *s, enum switch_states_fault fault,
			struct switch_states_found *found)
{
	switch (fault) {
	case SWITCH_STATES_RANGE:
		return s->of[STATES] && fill_in(s, STATES, found);
	case SWITCH_STATES_DEAD:
		return dead_threads_run(s) && fill_in(s, WELLKNOWN_STATE_DEAD, found);
	case SWITCH_STATES_STOPPED:
		return stopped_threads_run(s) && fill_in(s, WELLKNOWN_STATE_STOPPED, found);
	case SWITCH_STATES_SAME:
		return (is_same(s, WELLKNOWN_STATE_SLEEP) && fill_in(s, WELLKNOWN_STATE_SLEEP, found)) ||
		       (is_same(s, WELLKNOWN_STATE_WAIT) && fill_in(s, WELLKNOWN_STATE_WAIT, found));
	case SWITCH_STATES_FAULTS:
		break;
	}
	return false;
}

bool switch_states_are_wrong(const struct switch_states *s)
{
	struct switch_states_found found;

	for (int fault = 0; fault < SWITCH_STATES_FAULTS; fault++)
		if (switch_states_have(s, (enum switch_states_fault)fault, &found))
			return true;
	return false;
}
