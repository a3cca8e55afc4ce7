/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Selects events by name ("group.name" with * and ?), and changes their requested states and flags. Applies
 * these changes, and records them in the trace.
 */
#include "core.h"
#include "hook.h"

#define KTRACE_OWN_GROUP "ktrace"
#define KTRACE_FLAGS_SHIFT \
	((__builtin_offsetof(struct ktrx_event, flags) - __builtin_offsetof(struct ktrx_event, header)) * 8)

static char char_at(struct ktrace_span text, uint32_t at)
{
	return at < text.length ? text.text[at] : '\0';
}

/*
 * Returns the character at offset `at` of the full name "group.name". The event descriptor contains a NUL
 * instead of the dot.
 */
static char name_at(const struct ktrx_event *event, uint32_t at)
{
	const char *group = ktrace_event_group(event);

	return at == ktrace_length(group, KTRX_U32_MAX) ? '.' : group[at];
}

/*
 * Matches with backtracking: if the rest of the pattern does not match, the last * takes one more character
 * of the name.
 */
static int matches(const struct ktrx_event *event, struct ktrace_span pattern)
{
	uint32_t at = 0, name = 0, star = KTRX_U32_MAX, taken = 0;

	while (name_at(event, name)) {
		char wanted = char_at(pattern, at);

		if (wanted == '*') {
			star = at++;
			taken = name;
		} else if (wanted && (wanted == '?' || wanted == name_at(event, name))) {
			at++;
			name++;
		} else if (star != KTRX_U32_MAX) {
			at = star + 1;
			name = ++taken;
		} else {
			return 0;
		}
	}
	while (char_at(pattern, at) == '*')
		at++;
	return at == pattern.length;
}

static int has(const char *text, uint32_t length, const char *characters)
{
	for (uint32_t i = 0; i < length; i++)
		for (const char *c = characters; *c; c++)
			if (text[i] == *c)
				return 1;
	return 0;
}

/* A pattern without a dot and without wildcards is the name of a group. */
int ktrace_event_matches(const struct ktrx_event *event, struct ktrace_span pattern)
{
	return has(pattern.text, pattern.length, ".*?") ? matches(event, pattern)
							: ktrace_span_is(pattern, ktrace_event_group(event));
}

/*
 * Events of the library's own group match only if the pattern begins with the name of that group. So a
 * pattern such as * does not turn off the record of a panic.
 */
static int is_left_out(const struct ktrx_event *event, struct ktrace_span pattern)
{
	return !ktrace_span_skip(&pattern, KTRACE_OWN_GROUP) &&
	       ktrace_span_is(ktrace_span_of(KTRACE_OWN_GROUP), ktrace_event_group(event));
}

/*
 * Changes flags by a compare-and-swap of the word that contains them: a request of the host may change the
 * word at the same time.
 */
static void flags_change(struct ktrx_event *event, uint8_t mask, uint8_t flags)
{
	uint64_t *word = (uint64_t *)(void *)&event->header;
	uint64_t old, changed;

	do {
		old = *(volatile ktrace_u64_any *)word;
		changed = (old & ~((uint64_t)mask << KTRACE_FLAGS_SHIFT)) | (uint64_t)(flags & mask)
										    << KTRACE_FLAGS_SHIFT;
	} while (old != changed && !ktrace_arch_compare_swap(word, old, changed));
}

void ktrace_event_change(struct ktrx_event *event, const struct ktrace_change *change)
{
	if (change->change & KTRX_CHANGE_STATE)
		*(volatile uint8_t *)&event->wanted = change->state;
	flags_change(event, change->change >> 1, change->flags);
}

uint32_t ktrace_events_change(struct ktrace_span pattern, const struct ktrace_change *change)
{
	uint32_t found = 0;

	for (struct ktrx_event *event = ktrace_event_first(); event; event = ktrace_event_next(event)) {
		if (!ktrace_event_matches(event, pattern) || is_left_out(event, pattern))
			continue;
		ktrace_event_change(event, change);
		found++;
	}
	return found;
}

/* ---- ktrace.switched and ktrace.stopped ------------------------------------------------------- */

/*
 * When an event starts or stops being recorded, that change is itself recorded (spec/ktrx.md, section 7): one
 * record of the library's event `ktrace.switched` for each range of event ids that starts or stops being
 * recorded. A stop of all recording is recorded by the next start, as `ktrace.stopped`.
 */

/*
 * A range of events whose state changes in the same way. The change is not recorded yet. If all members are
 * 0, there is no range.
 */
struct switched {
	uint32_t first, last; /* ids */
	uint8_t state;
};

KTRACE_DECLARE(1, ktrace_event_ktrace_switched, "ktrace\0switched", KTRX_STATE_RECORD, KTRX_EVENT_RARE,
	       KTRX_V1_NONE, "events %hu to %hu: state %hhu", (uint16_t, first), (uint16_t, last),
	       (uint8_t, state));
KTRACE_DECLARE(1, ktrace_event_ktrace_stopped, "ktrace\0stopped", KTRX_STATE_RECORD, KTRX_EVENT_RARE,
	       KTRX_V1_NONE, "events %hu to %hu: recorded until %llu of CPU %u", (uint16_t, first),
	       (uint16_t, last), (unsigned long long, until), (uint32_t, cpu));

/* Returns nonzero if the trace may contain a record. Changes before the first record need not be recorded. */
static int has_recorded(void)
{
	const struct ktrx_ring *boot = &ktrace_ring[0];

	return ktrace_state.initialised ||
	       KTRX_WORD_INDEX(*(volatile uint64_t *)(uintptr_t)boot->head) != boot->first;
}

/*
 * Returns whether records of changes go into the boot ring. If there is no ring of rare events, they do,
 * because the boot ring keeps them longer than a CPU's ring does. Exception: a boot ring that keeps the
 * oldest records (KTRX_POLICY_STOP) may be full. In that case they go into the CPU's ring.
 */
static int is_early(void)
{
	return !ktrace_state.rare && ktrace_ring[0].policy != KTRX_POLICY_STOP;
}

/* Records the range. */
static void switched_end(struct switched *noted)
{
	if (noted->first != 0 && has_recorded())
		KTRACE_SITE(1, is_early(), ktrace_event_ktrace_switched, (uint16_t)noted->first,
			    (uint16_t)noted->last, noted->state);
	noted->first = 0;
}

/*
 * Adds `event`, which changes from one state to another, to the range. If the event does not continue the
 * range, records that range and begins a new one. The caller passes events in the order of their ids, and
 * calls switched_end() at the end.
 */
static void switched_add(struct switched *noted, const struct ktrx_event *event, uint8_t from, uint8_t to)
{
	if (event->id == 0 || ((from ^ to) & KTRX_STATE_RECORD) == 0)
		return;
	to &= (uint8_t)~KTRX_STATE_SLOW;
	if (noted->first && (noted->state != to || noted->last + 1 != event->id))
		switched_end(noted);
	if (noted->first == 0)
		noted->first = event->id;
	noted->last = event->id;
	noted->state = to;
}

static uint32_t running_cpu(void)
{
	const uint32_t ring = ktrace_state.initialised ? KTRX_WORD_RING(ktrace_arch_reserve_read()) : 0;

	return ring ? ktrace_ring[ring].cpu : ktrace_arch_early_cpu();
}

/*
 * Reads the clock before it becomes visible that recording is stopped. So all events that were on are
 * recorded up to this time, even if another CPU turns them off. If two contexts stop recording at the same
 * time, the time of the first one counts.
 */
void ktrace_stop_note(void)
{
	struct ktrace_stop *stop = &ktrace_state.stop;
	uint64_t stamp;
	uint32_t cpu;

	ktrace_attach(); /* has_recorded() needs the boot ring */
	if (*(const volatile uint32_t *)&ktrace_state.stopped || !has_recorded())
		return;
	do {
		cpu = running_cpu();
		stamp = ktrace_arch_clock();
	} while (cpu != running_cpu()); /* the thread may have migrated */
	ktrace_arch_clock_fence();
	if (ktrace_arch_compare_swap(&stop->noted, 0, 1)) {
		stop->stamp = stamp;
		stop->cpu = cpu;
		__atomic_store_n(&stop->noted, 2, __ATOMIC_RELEASE);
	}
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/*
 * Called after a start. If recording was stopped again in the meantime, the time of that stop may be lost.
 * The next start then records no stop.
 */
void ktrace_stop_forget(void)
{
	ktrace_arch_compare_swap(&ktrace_state.stop.noted, 2, 0);
}

/*
 * Adds the event to the bit map of events that a stop turned off, or removes it. Returns whether it was in
 * the bit map.
 */
static int stop_mark(uint32_t id, int stopped)
{
	uint64_t *word = &ktrace_state.stop.event[id / 64];
	const uint64_t bit = KTRX_U64(1) << id % 64;
	uint64_t old, changed;

	do {
		old = *(volatile uint64_t *)word;
		changed = stopped ? old | bit : old & ~bit;
	} while (old != changed && !ktrace_arch_compare_swap(word, old, changed));
	return (old & bit) != 0;
}

/* Records the range as stopped. */
static void stopped_end(struct switched *noted)
{
	const struct ktrace_stop *stop = &ktrace_state.stop;

	if (noted->first != 0 && __atomic_load_n(&stop->noted, __ATOMIC_ACQUIRE) == 2)
		KTRACE_SITE(1, is_early(), ktrace_event_ktrace_stopped, (uint16_t)noted->first,
			    (uint16_t)noted->last, *(const volatile uint64_t *)&stop->stamp,
			    *(const volatile uint32_t *)&stop->cpu);
	noted->first = 0;
}

/*
 * Records until when the events were recorded that the last stop turned off. Called after a start, before
 * these events are recorded again, so that readers learn of the stop before they see later events. Returns
 * whether there were such events.
 */
static int record_stopped(void)
{
	struct switched noted = { 0, 0, 0 };
	int found = 0;

	if (*(const volatile uint32_t *)&ktrace_state.stopped)
		return 0;
	for (struct ktrx_event *event = ktrace_event_first(); event; event = ktrace_event_next(event)) {
		if (event->id == 0 || !stop_mark(event->id, 0))
			continue;
		if (noted.first && noted.last + 1 != event->id)
			stopped_end(&noted);
		if (noted.first == 0)
			noted.first = event->id;
		noted.last = event->id;
		found = 1;
	}
	stopped_end(&noted);
	return found;
}

/* ---- states of all events --------------------------------------------------------------------- */

static void event_state_set(struct ktrx_event *event, uint8_t state)
{
	uint32_t slow = state & KTRX_STATE_SLOW ? KTRACE_HEADER_SLOW : 0;

	*(volatile uint32_t *)&event->header = (event->header & ~KTRACE_HEADER_SLOW) | slow;
	*(volatile uint8_t *)&event->state = state;
}

/* Returns nonzero if the fast path is sufficient for the event. */
static int is_plain(const struct ktrx_event *event, uint8_t state)
{
	return state == KTRX_STATE_RECORD && event->flags == 0 && event->id != 0 &&
	       ktrace_state.initialised && ktrace_state.callers == 0 && ktrace_state.sites == 0 &&
	       (ktrace_state.verbose == 0 || !ktrace_state.print) &&
	       ktrace_ring[1].policy != KTRX_POLICY_STOP;
}

static uint8_t state_wanted(const struct ktrx_event *event)
{
	uint8_t state = *(const volatile uint32_t *)&ktrace_state.stopped ? KTRX_STATE_OFF : event->wanted;

	return state == KTRX_STATE_OFF || is_plain(event, state) ? state : state | KTRX_STATE_SLOW;
}

/*
 * Records which events stop being recorded. Called before they stop, so that the trace is complete up to this
 * record. A stop of all recording is not recorded, because no record follows it, and the next start is
 * recorded.
 */
static void record_off(void)
{
	struct switched noted = { 0, 0, 0 };

	if (*(const volatile uint32_t *)&ktrace_state.stopped)
		return;
	for (struct ktrx_event *event = ktrace_event_first(); event; event = ktrace_event_next(event)) {
		const uint8_t wanted = state_wanted(event);

		if (!(wanted & KTRX_STATE_RECORD))
			switched_add(&noted, event, *(volatile uint8_t *)&event->state, wanted);
	}
	switched_end(&noted);
}

/* Makes records of places take the same code path, slow or fast, as records of their events. */
static void set_places(void)
{
	for (struct ktrx_place *place = ktrace_place_first(); place; place = ktrace_place_next(place)) {
		const struct ktrx_event *event = ktrace_place_event(place);

		if (event)
			ktrace_place_set_slow(place, (*(const volatile uint32_t *)&event->header &
						      KTRACE_HEADER_SLOW) != 0);
	}
}

/*
 * Sets the states of all events. After a start, first records the stop before it, and at the end records
 * which events started to be recorded. If it recorded a stop, or if `again` is set, records this for all
 * events that are recorded. Returns whether it recorded a stop.
 */
static int set_all(int again)
{
	struct switched noted = { 0, 0, 0 };
	struct ktrx_event *switched = &ktrace_event_ktrace_switched.event;
	struct ktrx_event *stopping = &ktrace_event_ktrace_stopped.event;
	int stop_recorded, all;

	event_state_set(switched, state_wanted(switched));
	event_state_set(stopping, state_wanted(stopping));
	stop_recorded = record_stopped();
	all = stop_recorded || again;
	for (struct ktrx_event *event = ktrace_event_first(); event; event = ktrace_event_next(event)) {
		const uint8_t before = *(volatile uint8_t *)&event->state, wanted = state_wanted(event);

		if (before & KTRX_STATE_RECORD && event->id != 0 &&
		    *(const volatile uint32_t *)&ktrace_state.stopped)
			stop_mark(event->id, 1);
		event_state_set(event, wanted);
		if (wanted & KTRX_STATE_RECORD)
			switched_add(&noted, event,
				     all && event != switched && event != stopping ? KTRX_STATE_OFF : before,
				     wanted);
	}
	switched_end(&noted);
	return stop_recorded;
}

/*
 * Repeats the pass over all events if another change was made during the pass, so that the last change wins
 * for all events. This requires that a change is visible before it is counted, and that a pass reads nothing
 * before its own change is counted.
 *
 * If another CPU starts recording at the same time, it may have recorded that events are on before this pass
 * recorded that they were stopped. So this pass records that they are on, too. If recording is stopped again
 * in the middle of this pass, that record is lost, and the next pass makes it.
 */
void ktrace_states_update(void)
{
	uint64_t changes, seen;
	int stop_recorded = 0;

	ktrace_attach(); /* the code below needs event ids */
	if (KTRACE_STATE)
		ktrace_hooks_update();
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	changes = ktrace_arch_fetch_add(&ktrace_state.changes, 1) + 1;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	do {
		seen = changes;
		record_off();
		stop_recorded = set_all(stop_recorded);
		set_places();
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		changes = __atomic_load_n(&ktrace_state.changes, __ATOMIC_ACQUIRE);
	} while (changes != seen);
}

/*
 * Uses the requested state of the event (`wanted`), not the state that its descriptor has now. Another
 * context that changes states may not have reached the descriptor yet, although its pass over the places has
 * already passed this place.
 */
void ktrace_place_follow(struct ktrx_place *place, const struct ktrx_event *event)
{
	uint64_t changes;

	do {
		changes = __atomic_load_n(&ktrace_state.changes, __ATOMIC_ACQUIRE);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		ktrace_place_set_slow(place, (state_wanted(event) & KTRX_STATE_SLOW) != 0);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	} while (__atomic_load_n(&ktrace_state.changes, __ATOMIC_ACQUIRE) != changes);
}
