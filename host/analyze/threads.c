/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "analyze/threads.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/index.h"
#include "ktrx/slot.h"
#include "ktrx/v2.h"

#define NONE THREADS_NONE

/* Bit maps of events: switches, and all events that change the states of threads. */
struct tracked {
	uint8_t switches[SWITCHED_MAP], states[SWITCHED_MAP];
	uint8_t off[SWITCHED_MAP]; /* those of `states` that are known to be off now */
};

struct threads {
	union {
		struct threads_view view;
		struct {
			struct threads_thread *thread; /* array of `count` threads */
			uint32_t *on;		       /* indexed by CPU: index of the running thread */
			uint32_t cpus;
			uint32_t left;
		};
	};
	threads_changed *changed;
	void *context;
	uint32_t count, capacity;
	struct base_index index; /* table that finds threads by id */
	uint64_t left_out;
	/* true after the first switch; from then on, only switches change which thread runs */
	bool switches;
	/*
	 * true if threads announce that they block: a thread that is switched out without an announcement
	 * is then runnable
	 */
	bool blocks;
	bool stateless; /* true if the states in sched.switch are not filled in */
	bool deads;	/* true if sched.switch records state 4 when a thread has ended */
	/* true if `stateless` has to become false at the first state other than 0 */
	bool learns;
	/* facts about the trace; NULL: it is unknown which events were recorded */
	const struct scheduling *scheduling;
	/* events that describe threads; NULL: threads_switched() has no effect */
	struct tracked *tracked;
	bool blind;	/* true while switches are not recorded */
	uint64_t stamp; /* timestamp of the current event */
};

int threads_create(struct threads **threads, threads_changed *changed, void *context)
{
	struct threads *t = calloc(1, sizeof(*t));

	if (!t)
		return KTREAD_E_MEMORY;
	t->changed = changed;
	t->left = NONE;
	t->context = context;
	*threads = t;
	return 0;
}

void threads_destroy(struct threads *t)
{
	if (!t)
		return;
	free(t->thread);
	base_index_free(&t->index);
	free(t->on);
	free(t->tracked);
	free(t);
}

void threads_learn(struct threads *t, const struct scheduling *scheduling)
{
	t->scheduling = scheduling;
	t->blocks = scheduling_recorded(scheduling, WELLKNOWN_BLOCK);
	t->stateless = !scheduling_states(scheduling);
	t->deads = scheduling_has_deads(scheduling);
}

void threads_learn_on(struct threads *t)
{
	t->stateless = t->learns = true;
}

int threads_track_switches(struct threads *t, const struct ktread *trace, struct wellknown_table *table)
{
	t->tracked = calloc(1, sizeof(*t->tracked));
	if (!t->tracked)
		return KTREAD_E_MEMORY;
	wellknown_mark(trace, table, WELLKNOWN_SWITCH, t->tracked->switches);
	scheduling_mark(trace, table, t->tracked->states);
	return 0;
}

/* Returns the index of a thread, or NOBODY. */
static inline uint32_t find(const struct threads *t, uint32_t id)
{
	uint32_t probe = 0, i;

	return base_index_next(&t->index, base_hash_id(id), &probe, &i) ? i : NONE;
}

/* Implements touch() for an unknown thread. */
static __attribute__((noinline)) int add(struct threads *t, uint32_t id, uint32_t *index)
{
	struct threads_thread *thread;

	if (t->count == THREADS_MAX) {
		t->left_out++;
		return 0;
	}
	thread = base_grow(t->thread, &t->capacity, t->count + 1u, sizeof(*thread));
	if (!thread)
		return KTREAD_E_MEMORY;
	t->thread = thread;
	if (base_index_add(&t->index, base_hash_id(id), t->count) < 0)
		return KTREAD_E_MEMORY;
	*index = t->count++;
	thread[*index] = (struct threads_thread){ .id = id, .index = *index, .cpu = KTRX_NO_CPU };
	thread[*index].anywhere = id == 0 || (t->scheduling && scheduling_is_idle(t->scheduling, id));
	return 0;
}

/*
 * Finds or adds a thread. Stores its index, or NOBODY if there are too many threads. Returns 0 or
 * KTREAD_E_MEMORY. Makes pointers to threads invalid.
 */
static inline int touch(struct threads *t, uint32_t id, uint32_t *index)
{
	*index = find(t, id);
	return *index == NONE ? add(t, id, index) : 0;
}

static int touch_cpu(struct threads *t, uint32_t cpu)
{
	uint32_t i = t->cpus, *on;

	if (cpu < t->cpus)
		return 0;
	on = base_grow(t->on, &t->cpus, (size_t)cpu + 1, sizeof(*on));
	if (!on)
		return KTREAD_E_MEMORY;
	for (; i < t->cpus; i++)
		on[i] = NONE;
	t->on = on;
	return 0;
}

/*
 * Changes a thread's state and reports the change. The caller fills in all of `change` except the thread, its
 * previous state with its time, and `announced`.
 */
static void change(struct threads *t, uint32_t index, enum threads_state state, struct threads_change *change)
{
	struct threads_thread *thread = &t->thread[index];
	const bool ends = thread->announced == THREADS_DEAD;

	change->thread = thread;
	change->from = (enum threads_state)thread->state;
	change->from_time = thread->since;
	change->from_stamp = thread->stamp;
	change->announced = thread->announced != THREADS_UNKNOWN &&
			    !(ends && (state == THREADS_RUNNING || change->woken));
	thread->state = (uint8_t)state;
	thread->since = thread->seen = change->time;
	thread->stamp = t->stamp;
	/*
	 * This change of state ends the announcement that the thread will sleep. The announcement that the
	 * thread will end lasts until it has ended.
	 */
	thread->announced =
		ends && state != THREADS_DEAD && state != THREADS_UNKNOWN ? THREADS_DEAD : THREADS_UNKNOWN;
	thread->may_live = false;
	if (state == THREADS_RUNNING)
		thread->cpu = change->cpu;
	t->changed(t->context, change);
}

/* Reports that a thread no longer runs on `cpu` and that its new state is unknown. */
static void lose_track(struct threads *t, uint32_t index, uint32_t cpu, uint64_t time, bool followed)
{
	t->on[cpu] = NONE;
	change(t, index, THREADS_UNKNOWN,
	       &(struct threads_change){ .time = time, .cpu = cpu, .followed = followed });
}

/*
 * Handles a thread that appears on a CPU although, according to the model, it runs on another CPU. The trace
 * lacks the switch away from the thread on that CPU.
 */
static void lose_elsewhere(struct threads *t, uint32_t index, uint64_t time)
{
	const struct threads_thread *thread = &t->thread[index];

	if (!thread->anywhere && thread->state == THREADS_RUNNING)
		lose_track(t, index, thread->cpu, time - 1, false);
}

/* Reports that a thread now runs on `cpu`. Requires: in the model, no other thread runs on `cpu`. */
static void run(struct threads *t, uint32_t index, uint32_t cpu, uint64_t time)
{
	struct threads_thread *thread = &t->thread[index];

	lose_elsewhere(t, index, time);
	if (thread->state == THREADS_DEAD)
		thread->life++;
	t->on[cpu] = index;
	change(t, index, THREADS_RUNNING, &(struct threads_change){ .time = time, .cpu = cpu });
}

static enum threads_state state_of_field(uint64_t state)
{
	switch (state) {
	case WELLKNOWN_STATE_RUNNABLE:
		return THREADS_RUNNABLE;
	case WELLKNOWN_STATE_SLEEP:
		return THREADS_SLEEPING;
	case WELLKNOWN_STATE_WAIT:
		return THREADS_WAITING;
	case WELLKNOWN_STATE_STOPPED:
		return THREADS_STOPPED;
	case WELLKNOWN_STATE_DEAD:
		return THREADS_DEAD;
	default:
		return THREADS_UNKNOWN;
	}
}

/*
 * Returns whether announcements of sleep have been recorded ever since the thread began to run. If so, a
 * thread without an announcement did not go to sleep.
 */
static bool would_announce(const struct threads *t, const struct threads_thread *thread, uint64_t stamp)
{
	return t->blocks &&
	       (!t->scheduling || scheduling_covers(t->scheduling, WELLKNOWN_BLOCK, thread->stamp, stamp));
}

/*
 * Returns the state of the thread that is switched away from. Sets *may_live as for threads_thread.may_live.
 * A thread may be preempted or sleep between sched.exit and its last switch. If the kernel records state 4
 * for threads that have ended, any state of a live thread shows that.
 */
static enum threads_state state_after(const struct threads *t, const struct ktread_event *event,
				      const struct wellknown *known, uint32_t prev, bool *may_live)
{
	uint64_t state = 0;
	const bool has_state = wellknown_number(known, event, WELLKNOWN_STATE, &state);

	if (t->thread[prev].id == 0 || t->thread[prev].announced == THREADS_RUNNABLE)
		return THREADS_RUNNABLE;
	/* Some kernels have a number of their own for the state of a thread that has ended. */
	if (t->thread[prev].announced == THREADS_DEAD) {
		*may_live = !t->stateless && has_state && state < WELLKNOWN_STATE_DEAD;
		if (!*may_live || !t->deads)
			return THREADS_DEAD;
	}
	if (!t->stateless && has_state)
		return state_of_field(state);
	if (t->thread[prev].announced != THREADS_UNKNOWN)
		return (enum threads_state)t->thread[prev].announced;
	return would_announce(t, &t->thread[prev], event->stamp) ? THREADS_RUNNABLE : THREADS_UNKNOWN;
}

static int on_switch(struct threads *t, const struct ktread_event *event, const struct wellknown *known,
		     uint64_t time)
{
	uint32_t prev, next, prev_id, next_id, cpu = event->cpu;
	enum threads_state state;
	bool may_live = false;
	uint64_t given;
	int error;

	if (!wellknown_thread(known, event, WELLKNOWN_PREV, &prev_id) ||
	    !wellknown_thread(known, event, WELLKNOWN_NEXT, &next_id) || prev_id == next_id)
		return 0;
	t->switches = true;
	t->blind = false;
	/*
	 * Fast path: in nearly all cases, according to the model, the thread that is switched away from runs
	 * on this CPU.
	 */
	prev = t->on[cpu];
	error = prev != NONE && t->thread[prev].id == prev_id ? 0 : touch(t, prev_id, &prev);
	if (!error)
		error = touch(t, next_id, &next);
	if (error || prev == NONE || next == NONE)
		return error;
	if (t->learns && wellknown_number(known, event, WELLKNOWN_STATE, &given)) {
		t->stateless &= given == WELLKNOWN_STATE_RUNNABLE;
		t->deads |= given == WELLKNOWN_STATE_DEAD;
	}
	t->left = prev;
	if (t->on[cpu] == next)
		return 0; /* the state is known already */
	if (t->on[cpu] != prev)
		lose_elsewhere(t, prev, time);
	lose_elsewhere(t, next, time);
	if (t->on[cpu] != NONE && t->on[cpu] != prev)
		lose_track(t, t->on[cpu], cpu, time, true);

	state = state_after(t, event, known, prev, &may_live);
	if (state == THREADS_UNKNOWN && t->on[cpu] == prev)
		lose_track(t, prev, cpu, time, true);
	else if (state != THREADS_UNKNOWN)
		change(t, prev, state,
		       &(struct threads_change){ .time = time, .cpu = cpu, .followed = true });
	t->thread[prev].may_live = may_live && state == THREADS_DEAD;
	t->on[cpu] = NONE;
	run(t, next, cpu, time);
	return 0;
}

static int on_leave(struct threads *t, const struct ktread_event *event, const struct wellknown *known,
		    enum threads_state announced)
{
	uint64_t object = 0, state;
	uint32_t id, index;
	int error;

	if (!wellknown_thread(known, event, WELLKNOWN_THREAD, &id))
		id = event->thread;
	/* No thread announces that it stays runnable, so state 0 means that the field was not filled in. */
	if (wellknown_number(known, event, WELLKNOWN_STATE, &state) &&
	    state_of_field(state) != THREADS_UNKNOWN && state != WELLKNOWN_STATE_RUNNABLE)
		announced = state_of_field(state);
	wellknown_number(known, event, WELLKNOWN_OBJECT, &object);
	t->blocks |= known->kind == WELLKNOWN_BLOCK;
	error = touch(t, id, &index);
	if (error || index == NONE)
		return error;
	t->thread[index].announced = (uint8_t)announced;
	t->thread[index].object = object;
	return 0;
}

static bool asleep(const struct threads_thread *thread)
{
	return thread->state == THREADS_SLEEPING || thread->state == THREADS_WAITING;
}

static void wake(struct threads *t, uint32_t index, const struct ktread_event *event, uint64_t time)
{
	struct threads_thread *thread = &t->thread[index];

	if (thread->state == THREADS_RUNNING || thread->state == THREADS_RUNNABLE || thread->id == 0) {
		/*
		 * The thread was woken between its announcement and the switch away from it, so it stays
		 * runnable, whatever state the switch has.
		 */
		if (thread->announced == THREADS_SLEEPING || thread->announced == THREADS_WAITING)
			thread->announced = THREADS_RUNNABLE;
		return;
	}
	if (thread->state == THREADS_DEAD)
		thread->life++;
	change(t, index, THREADS_RUNNABLE,
	       &(struct threads_change){ .time = time,
					 .cpu = event->cpu,
					 .woken = true,
					 .waker = event->thread,
					 .interrupt = event->context != KTRX_CONTEXT_THREAD });
}

static int on_wake(struct threads *t, const struct ktread_event *event, const struct wellknown *known,
		   uint64_t time)
{
	uint32_t id, index;
	int error;

	if (!wellknown_thread(known, event, WELLKNOWN_THREAD, &id))
		return 0;
	error = touch(t, id, &index);
	if (!error && index != NONE)
		wake(t, index, event, time);
	return error;
}

/* Returns the thread that has slept on `object` for the longest time, or is about to sleep on it. */
static uint32_t longest_sleeper(const struct threads *t, uint64_t object)
{
	uint32_t found = NONE;

	for (uint32_t i = 0; i < t->count; i++) {
		const struct threads_thread *thread = &t->thread[i];

		if (thread->object != object || (!asleep(thread) && thread->announced != THREADS_SLEEPING))
			continue;
		if (found == NONE || thread->since < t->thread[found].since)
			found = i;
	}
	return found;
}

/*
 * In version 1 of the event, the field's meaning depends on the kernel: the id of the woken thread, or the
 * number of woken threads.
 */
static void on_wake_queue(struct threads *t, const struct ktread_event *event, const struct wellknown *known,
			  uint64_t time)
{
	const struct threads_thread *named;
	uint64_t object, number;

	if (!wellknown_number(known, event, WELLKNOWN_OBJECT, &object) ||
	    !wellknown_number(known, event, WELLKNOWN_NUMBER, &number))
		return;
	named = threads_find(t, (uint32_t)number & known->thread_bits);
	if (named && asleep(named) && named->object == object) {
		wake(t, named->index, event, time);
		return;
	}
	for (; number > 0; number--) {
		uint32_t index = longest_sleeper(t, object);

		if (index == NONE)
			return;
		wake(t, index, event, time);
		t->thread[index].object = 0;
	}
}

static int on_create(struct threads *t, const struct ktread_event *event, const struct wellknown *known)
{
	uint32_t id, index;
	int error;

	if (!wellknown_thread(known, event, WELLKNOWN_THREAD, &id))
		return 0;
	error = touch(t, id, &index);
	if (!error && index != NONE && t->thread[index].announced == THREADS_DEAD)
		t->thread[index].announced = THREADS_UNKNOWN;
	if (!error && index != NONE && t->thread[index].state == THREADS_DEAD) {
		t->thread[index].life++;
		t->thread[index].state = THREADS_UNKNOWN;
	}
	return error;
}

/*
 * Records that the event's thread runs on its CPU. Before the first switch and after lost slots, nothing
 * else shows which thread runs.
 */
static int note_running(struct threads *t, const struct ktread_event *event, uint64_t time)
{
	uint32_t index = t->on[event->cpu];
	int error;

	/*
	 * Fast path: in nearly all cases, the event's thread already runs on the event's CPU according to the
	 * model.
	 */
	if (index != NONE && t->thread[index].id == event->thread) {
		t->thread[index].seen = time;
		return 0;
	}
	error = touch(t, event->thread, &index);
	if (error || index == NONE)
		return error;
	t->thread[index].seen = time;
	if (t->blind || t->on[event->cpu] == index || (t->switches && t->on[event->cpu] != NONE))
		return 0;
	if (t->on[event->cpu] != NONE)
		lose_track(t, t->on[event->cpu], event->cpu, time, true);
	run(t, index, event->cpu, time);
	return 0;
}

int threads_take(struct threads *t, const struct ktread_event *event, const struct wellknown *known,
		 uint64_t time)
{
	uint32_t index;
	int error;

	if (event->thread == KTREAD_NO_THREAD)
		return 0;
	t->stamp = event->stamp;
	/*
	 * Adds the thread, but does not record on which CPU it ran. If there is no room for the thread,
	 * touch() counts it.
	 */
	if (event->cpu >= THREADS_CPUS_MAX) {
		error = touch(t, event->thread, &index);
		t->left_out += index != NONE;
		return error;
	}
	error = touch_cpu(t, event->cpu);
	if (!error && known->kind != WELLKNOWN_SWITCH)
		error = note_running(t, event, time);
	if (error)
		return error;
	switch (known->kind) {
	case WELLKNOWN_SWITCH:
		return on_switch(t, event, known, time);
	case WELLKNOWN_BLOCK:
		return on_leave(t, event, known, THREADS_SLEEPING);
	case WELLKNOWN_EXIT:
		return on_leave(t, event, known, THREADS_DEAD);
	case WELLKNOWN_WAKE:
		return on_wake(t, event, known, time);
	case WELLKNOWN_WAKE_QUEUE:
		on_wake_queue(t, event, known, time);
		return 0;
	case WELLKNOWN_CREATE:
		return on_create(t, event, known);
	default:
		return 0;
	}
}

void threads_gap(struct threads *t, uint32_t cpu, uint64_t from)
{
	if (cpu < t->cpus && t->on[cpu] != NONE)
		lose_track(t, t->on[cpu], cpu, from + 1, false);
}

/*
 * Returns the time from which on a thread's state is unknown: `time`, but not before the state began. If
 * `time` is UNKNOWN, returns the time of the thread's last event.
 */
#define UNKNOWN UINT64_MAX
static uint64_t lost_at(const struct threads_thread *thread, uint64_t time)
{
	if (time == UNKNOWN)
		return thread->seen;
	return time > thread->since ? time : thread->since;
}

/*
 * Makes the states of all threads unknown from `time` or UNKNOWN on. If `run_on` is set, running threads keep
 * their state.
 */
static void forget_states(struct threads *t, uint64_t time, bool run_on)
{
	for (uint32_t cpu = 0; cpu < t->cpus && !run_on; cpu++)
		if (t->on[cpu] != NONE)
			lose_track(t, t->on[cpu], cpu, lost_at(&t->thread[t->on[cpu]], time), false);
	for (uint32_t n = 0; n < t->count; n++) {
		struct threads_thread *thread = &t->thread[n];

		if (thread->state > THREADS_RUNNING && thread->state < THREADS_DEAD)
			change(t, n, THREADS_UNKNOWN,
			       &(struct threads_change){ .time = lost_at(thread, time), .cpu = thread->cpu });
	}
}

void threads_switched(struct threads *t, const struct switched_change *switched, uint64_t time)
{
	bool switches = false, changes = false, late = false;

	for (uint32_t id = switched->first; t->tracked && id <= switched->last && id <= KTRX_EVENT_MAX;
	     id++) {
		const uint8_t bit = (uint8_t)(1u << id % 8);
		uint8_t *off = &t->tracked->off[id / 8];

		if (!(t->tracked->states[id / 8] & bit))
			continue;
		switches |= t->tracked->switches[id / 8] & bit;
		changes |= !switched->records;
		/* the trace does not show when the event was switched off */
		late |= switched->records && !(*off & bit);
		*off = (uint8_t)(switched->records ? *off & ~bit : *off | bit);
	}
	if (changes || late)
		forget_states(t, late ? UNKNOWN : time, !switches);
	if (switches)
		t->blind = !switched->records;
}

bool threads_mixes_zero(const struct threads *t)
{
	return t->scheduling && scheduling_mixes_threads(t->scheduling);
}

const struct threads_thread *threads_at(const struct threads *t, uint32_t index)
{
	return index < t->count ? &t->thread[index] : NULL;
}

const struct threads_thread *threads_find(const struct threads *t, uint32_t id)
{
	return threads_at(t, find(t, id));
}

uint32_t threads_count(const struct threads *t)
{
	return t->count;
}

uint64_t threads_left_out(const struct threads *t)
{
	return t->left_out;
}
