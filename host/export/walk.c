/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "export/walk.h"

#include <stdlib.h>

#include "base/grow.h"
#include "ktrx/v2.h"

const struct walk_missing_words walk_missing_words[] = {
	[WALK_LOST] = { "lost", "slots" },
	[WALK_OVERWRITTEN] = { "overwritten", "slots" },
	[WALK_DROPPED] = { "lost", "records" },
	[WALK_LEFT_OUT] = { "left out of scheduling", "events" },
};

/* Informs the models that events of this CPU are missing after `from`, the time of the CPU's last event. */
static void break_off(struct walk *walk, uint32_t cpu, uint64_t from)
{
	if (from != 0)
		threads_gap(walk->threads, cpu, from);
	spans_gap(walk->spans, cpu, from);
	flows_gap(&walk->flows);
}

static void pass_missing(struct walk *walk, const struct walk_missing *missing)
{
	if (walk->sink.missing)
		walk->sink.missing(walk->sink.context, missing);
}

static void hold(struct walk *walk, struct walk_ring *ring, const struct walk_missing *missing)
{
	struct walk_missing *larger =
		base_grow(ring->held, &ring->room, (size_t)ring->helds + 1, sizeof(*larger));

	if (!larger) {
		walk->error = KTREAD_E_MEMORY;
		return;
	}
	ring->held = larger;
	larger[ring->helds++] = *missing;
}

/* Reports the gaps of a ring that were held back, as gaps of a CPU. */
static void pass_held(struct walk *walk, struct walk_ring *ring, uint32_t cpu)
{
	for (uint32_t n = 0; n < ring->helds; n++) {
		ring->held[n].cpu = cpu;
		pass_missing(walk, &ring->held[n]);
	}
	ring->helds = 0;
}

/*
 * Reports slots that were lost before the current event. If the event is hidden, they are reported at the
 * next event of the ring that is not, unless they are from a time before the time window.
 */
static void pass_lost(struct walk *walk, const struct ktread_event *event, bool head, uint64_t lost,
		      uint64_t from)
{
	const struct walk_missing missing = { head ? WALK_OVERWRITTEN : WALK_LOST, event->cpu, lost, from,
					      walk->time - 1 };
	struct walk_ring *ring = &walk->rings[event->ring];

	if (event->stamp < walk->shown.since)
		ring->helds = 0;
	else if (lost > 0 && walk->shown.hidden)
		hold(walk, ring, &missing);
	if (walk->shown.hidden)
		return;
	pass_held(walk, ring, event->cpu);
	if (lost > 0)
		pass_missing(walk, &missing);
}

/*
 * Returns whether events of this ring's CPU may be missing before the first event of the ring, because they
 * were refused by a full boot ring. gaps_read() has the same rule.
 */
static bool may_lack_boot(const struct walk *walk, uint32_t n)
{
	const struct ktread_ring *boot = ktread_ring(walk->trace, 0);

	return n > 0 && boot->cpu == KTRX_NO_CPU && boot->dropped > 0;
}

/*
 * Handles slots that were lost before the current event. Slots missing at the beginning of a ring were
 * overwritten by design, and do not count as lost. But spans that began earlier, on another CPU or in the
 * boot ring, may have ended in this gap.
 */
static void note_loss(struct walk *walk, const struct ktread_event *event)
{
	struct walk_ring *ring = &walk->rings[event->ring];
	bool head = !ring->begun;
	uint64_t lost = event->lost;
	uint64_t from;

	if (head && lost == 0)
		lost = ktread_ring(walk->trace, event->ring)->overwritten;
	ring->begun = true;
	ring->shown |= !walk->shown.hidden;
	ring->lost += lost;
	walk->around = threads_pass_head(&walk->heads, walk->trace, event) == THREADS_HEAD_AROUND;
	if (event->cpu >= THREADS_CPUS_MAX)
		return;
	if (!walk->shown.hidden)
		ring->cpu = event->cpu;
	from = walk->seen[event->cpu];
	walk->seen[event->cpu] = walk->time;
	if (walk->around || lost > 0 || (head && may_lack_boot(walk, event->ring)))
		break_off(walk, event->cpu, from);
	pass_lost(walk, event, head, lost, from);
}

/* Implements note_loss() for a format that judges durations. */
static void note_lost(struct walk *walk, const struct ktread_event *event)
{
	if (event->cpu >= THREADS_CPUS_MAX)
		return;
	if (event->lost > 0) {
		threads_gap(walk->threads, event->cpu, walk->seen[event->cpu]);
		spans_gap(walk->spans, event->cpu, walk->seen[event->cpu]);
	}
	walk->seen[event->cpu] = walk->time;
}

/* Gets the name and the process of a thread from the event that created the thread. */
static void note_thread(struct walk *walk, const struct ktread_event *event, const struct wellknown *known)
{
	const struct threads_thread *thread = NULL;
	struct ktread_value name = { .string = NULL };
	uint64_t process = 0;
	uint32_t id;

	if (wellknown_thread(known, event, WELLKNOWN_THREAD, &id))
		thread = threads_find(walk->threads, id);
	if (!thread)
		return;
	if (!wellknown_string(known, event, WELLKNOWN_NAME, &name))
		name.length = 0;
	wellknown_number(known, event, WELLKNOWN_PROCESS, &process);
	walk->sink.named(walk->sink.context, thread, name.string, name.length,
			 (uint32_t)process & KTRX_THREAD_MAX);
}

/* Handles exec: the process and the thread get the name of the new program. */
static void note_exec(struct walk *walk, const struct ktread_event *event, const struct wellknown *known)
{
	const struct threads_thread *thread = threads_find(walk->threads, event->thread);
	uint32_t process = processes_subject(walk->processes, event, known);
	struct ktread_value path;

	if (thread && process != 0 && wellknown_string(known, event, WELLKNOWN_NAME, &path))
		walk->sink.runs(walk->sink.context, thread, process, path.string, path.length);
}

/*
 * Returns whether the changes of thread states show the event completely. They do not for a wakeup by an
 * interrupt: a change of state cannot show that an interrupt caused it, so such a wakeup is also an instant.
 */
static bool is_shown_elsewhere(const struct ktread_event *event, const struct wellknown *known)
{
	return known->kind == WELLKNOWN_SWITCH ||
	       (known->kind == WELLKNOWN_WAKE && event->context == KTRX_CONTEXT_THREAD);
}

static int pass_function(struct walk *walk, const struct ktread_event *event)
{
	const struct functions_sink sink = { walk->sink.function_track, walk->sink.function,
					     walk->sink.context };

	walk->events++;
	if (!walk->sink.function)
		return 0;
	return functions_event(&walk->functions, &sink, event, walk->time);
}

/* Passes an event that is not hidden to the format. `taken`: true if the event begins or ends a span. */
static void show_event(struct walk *walk, struct spans_owner owner, const struct ktread_event *event,
		       const struct wellknown *known, bool taken)
{
	if (known->kind == WELLKNOWN_CREATE && walk->sink.named)
		note_thread(walk, event, known);
	if (known->kind == WELLKNOWN_PROCESS_EXEC && walk->sink.runs)
		note_exec(walk, event, known);
	if (known->kind == WELLKNOWN_COUNTER && walk->sink.counters)
		walk->sink.counters(walk->sink.context, event);
	else if (!taken && walk->sink.instant && !is_shown_elsewhere(event, known))
		walk->sink.instant(walk->sink.context, owner, event);
	walk->events++;
}

/* A flow that begins at a hidden event is not shown, so it must not end at a later event. */
static struct flows_step flow_of(struct walk *walk, const struct ktread_event *event,
				 const struct wellknown *known)
{
	const struct flows_step step = flows_event(&walk->flows, event, known);

	if (!walk->shown.hidden || step.id == 0)
		return step;
	if (!step.ends)
		flows_forget(&walk->flows, &step);
	return (struct flows_step){ .id = 0 };
}

static uint64_t time_of_change(struct walk *walk, const struct switched_change *change,
			       const struct ktread_event *event)
{
	if (!change->stopped)
		return walk->time;
	return walk_clock_ns(&walk->clock, switched_change_stamp(change, walk->trace, event));
}

static int pass_event(struct walk *walk, const struct ktread_event *event)
{
	const struct wellknown *known = wellknown_of(&walk->known, event);
	const bool hidden = walk->shown.hidden;
	const struct threads_thread *current;
	struct switched_change change;
	struct spans_owner owner;
	int taken;

	walk->stamp = event->stamp;
	walk->time = walk_clock_event(&walk->clock, event->stamp);
	if (__builtin_expect(walk->rings[event->ring].beside, 0))
		return hidden ? 0 : pass_function(walk, event);
	if (event->lost > 0)
		gaps_event(walk->gaps, event);
	if (walk->sink.judges)
		note_lost(walk, event);
	else
		note_loss(walk, event);
	if (walk->sink.event && !hidden)
		walk->sink.event(walk->sink.context, event);
	if (!walk->sink.judges && switched_change_of(event, &change))
		threads_switched(walk->threads, &change, time_of_change(walk, &change, event));
	if (!walk->error)
		walk->error = threads_event_of(walk->threads, event, known, walk->time, &current);
	if (walk->error)
		return walk->error;
	if (walk->shown.filter) {
		shown_reveal(&walk->shown, walk->threads, event, walk->time);
		spans_hide(walk->spans, hidden);
	}
	walk->path = files_event(walk->files, event, known);
	walk->flow = flow_of(walk, event, known);
	owner = spans_owner_at(walk->threads, event, current);
	taken = spans_event_of(walk->spans, owner, event, known, walk->time);
	if (taken < 0)
		return taken;
	if (!hidden)
		show_event(walk, owner, event, known, taken);
	if (walk->around)
		threads_gap(walk->threads, event->cpu, walk->time);
	return walk->error;
}

/*
 * Reports the losses after the last event of a ring: unreadable slots, and records that the ring refused
 * because it was full.
 */
static void finish_ring(struct walk *walk, uint32_t n)
{
	const struct ktread_ring *ring = ktread_ring(walk->trace, n);
	const uint64_t lost = ring->overwritten + ring->invalid - ring->outside;
	struct walk_missing missing = { WALK_LOST, ring->cpu, 0, 0, walk->clock.last + 1 };

	if (!walk->rings[n].shown)
		return;
	pass_held(walk, &walk->rings[n], walk->rings[n].cpu);
	if (ring->cpu >= THREADS_CPUS_MAX)
		return;
	missing.from = walk->seen[ring->cpu];
	if (lost > walk->rings[n].lost && !walk->shown.ended)
		missing.count = lost - walk->rings[n].lost;
	if (missing.count > 0 || ring->dropped > 0)
		break_off(walk, ring->cpu, missing.from);
	if (missing.count > 0)
		pass_missing(walk, &missing);
	missing.kind = WALK_DROPPED;
	missing.count = ring->dropped;
	if (ring->dropped > 0)
		pass_missing(walk, &missing);
}

/*
 * Reports that a state is unknown after some time if slots are missing before the current event. `begun` and
 * `stamp`: time and timestamp of the event with which the state began. `time`: time at which it ends.
 */
static void end_state(struct walk *walk, const struct threads_thread *thread, enum threads_state state,
		      uint64_t begun, uint64_t stamp, uint64_t time)
{
	struct walk_unknown unknown = { .thread = thread, .until = time, .cpu_until = WALK_TIME_MAX };
	struct gaps_where where;
	uint64_t gap;

	if (state <= THREADS_RUNNING || state == THREADS_DEAD || thread->id == 0)
		return;
	gap = gaps_find(walk->gaps, GAPS_ANYWHERE, stamp, walk->stamp, &where);
	if (gap == UINT64_MAX)
		return;
	unknown.from = walk_clock_ns(&walk->clock, gap);
	unknown.from = (unknown.from > begun ? unknown.from : begun) + 1;
	unknown.cpu = ktread_ring(walk->trace, where.ring)->cpu;
	if (unknown.cpu > THREADS_CPUS_MAX)
		unknown.cpu = THREADS_CPUS_MAX;
	if (where.to != UINT64_MAX)
		unknown.cpu_until = walk_clock_ns(&walk->clock, where.to);
	if (unknown.from < time)
		walk->sink.unknown(walk->sink.context, &unknown);
}

/* Reports that the state of a thread was unknown until `until`, if pass_change() has noted that. */
static void pass_unknown(struct walk *walk, const struct threads_thread *thread, uint64_t until)
{
	struct walk_unknown unknown = { .thread = thread, .until = until, .cpu = THREADS_CPUS_MAX };

	if (thread->index >= walk->unknowns || walk->unknown[thread->index] == 0)
		return;
	unknown.from = walk->unknown[thread->index];
	walk->unknown[thread->index] = 0;
	walk->sink.unknown(walk->sink.context, &unknown);
}

static void note_unknown(struct walk *walk, uint32_t index, uint64_t time)
{
	uint64_t *larger = base_grow(walk->unknown, &walk->unknowns, (size_t)index + 1, sizeof(*larger));

	if (!larger) {
		walk->error = KTREAD_E_MEMORY;
		return;
	}
	walk->unknown = larger;
	larger[index] = time;
}

/* Passes a change of a thread's state to a format that wants to know where states are unknown. */
static void pass_change(void *context, const struct threads_change *change)
{
	struct walk *walk = context;

	pass_unknown(walk, change->thread, change->time);
	end_state(walk, change->thread, change->from, change->from_time, change->from_stamp, change->time);
	walk->sink.thread(walk->sink.context, change);
	/* events that show states were switched off, or a filter hides the event that ended the state */
	if (change->thread->state == THREADS_UNKNOWN && change->from > THREADS_RUNNING &&
	    change->thread->id != 0)
		note_unknown(walk, change->thread->index, change->time);
}

static void finish_states(struct walk *walk, uint64_t until)
{
	walk->stamp = until;
	for (uint32_t n = 0; n < threads_count(walk->threads); n++) {
		const struct threads_thread *thread = threads_at(walk->threads, n);

		pass_unknown(walk, thread, WALK_TIME_MAX);
		end_state(walk, thread, shown_state(&walk->shown, thread), thread->since, thread->stamp,
			  WALK_TIME_MAX);
	}
}

static void finish(struct walk *walk)
{
	const struct functions_sink sink = { walk->sink.function_track, walk->sink.function,
					     walk->sink.context };
	uint64_t left_out = threads_left_out(walk->threads), since, until;

	if (left_out > 0)
		pass_missing(walk, &(struct walk_missing){ WALK_LEFT_OUT, THREADS_CPUS_MAX, left_out, 0,
							   walk->clock.last });
	for (uint32_t n = 0; n < ktread_info(walk->trace)->rings; n++)
		finish_ring(walk, n);
	ktread_filter_window(walk->trace, &since, &until);
	shown_finish(&walk->shown, walk->threads, until);
	if (walk->sink.unknown)
		finish_states(walk, until);
	spans_finish(walk->spans);
	spans_finish_gaps(walk->spans, until);
	spans_close(walk->spans, walk->clock.last + 2);
	if (walk->sink.function)
		functions_close(&walk->functions, &sink, walk->clock.last + 2);
}

int walk_run(struct walk *walk)
{
	const struct ktread_event *event;
	int status = shown_open(&walk->shown, walk->trace);

	while (status >= 0 && (status = ktread_next(walk->trace, &event)) > 0 &&
	       shown_event(&walk->shown, event)) {
		status = pass_event(walk, event);
		if (walk->shown.failed)
			status = KTREAD_E_MEMORY;
		if (status < 0 || (walk->output && *walk->output))
			break;
	}
	walk->shown.hidden = false;
	spans_hide(walk->spans, false);
	finish(walk);
	shown_close(&walk->shown, walk->trace);
	if (status >= 0)
		status = walk->error;
	return status < 0 ? status : 0;
}

static int make_rings(struct walk *walk)
{
	const uint32_t rings = ktread_info(walk->trace)->rings;

	walk->rings = calloc((size_t)rings + 1, sizeof(*walk->rings));
	for (uint32_t n = 0; walk->rings && n < rings; n++)
		walk->rings[n].beside = ktread_ring(walk->trace, n)->kind == KTREAD_RING_BESIDE;
	threads_find_heads(&walk->heads, walk->trace);
	return walk->rings ? 0 : KTREAD_E_MEMORY;
}

static uint64_t time_of(void *clock, uint64_t stamp)
{
	return walk_clock_ns(clock, stamp);
}

int walk_open(struct walk *walk, struct ktread *trace, const struct walk_sink *sink)
{
	const struct spans_sink spans = { sink->context, sink->begin, sink->end };
	int error;

	walk->trace = trace;
	walk->sink = *sink;
	walk->shown.changed = sink->unknown ? pass_change : sink->thread;
	walk->shown.context = sink->unknown ? walk : sink->context;
	walk->shown.only_running = sink->unknown;
	walk->shown.time_of = time_of;
	walk->shown.clock = &walk->clock;
	walk_clock_init(&walk->clock, ktread_info(trace)->frequency);
	error = processes_read(&walk->processes, trace, &walk->known);
	if (!error)
		error = files_create(&walk->files, trace);
	if (!error)
		error = gaps_read(&walk->gaps, trace);
	if (!error)
		error = threads_create(&walk->threads, shown_change, &walk->shown);
	if (error)
		return error;
	walk->shown.gaps = sink->judges ? NULL : walk->gaps;
	threads_learn(walk->threads, gaps_scheduling(walk->gaps));
	error = threads_track_switches(walk->threads, trace, &walk->known);
	if (!error)
		error = make_rings(walk);
	if (!error)
		error = spans_create(&walk->spans, walk->threads, &spans);
	if (error || sink->judges)
		return error;
	spans_know_gaps(walk->spans, walk->gaps);
	return spans_track_switches(walk->spans, trace);
}

void walk_close(struct walk *walk, struct export_report *report)
{
	report->events = walk->events;
	if (walk->spans && walk->gaps) {
		report->unpaired = spans_unpaired(walk->spans);
		report->states_unknown =
			scheduling_states_are_empty(gaps_scheduling(walk->gaps), &report->announced);
	}
	spans_destroy(walk->spans);
	threads_destroy(walk->threads);
	gaps_free(walk->gaps);
	processes_free(walk->processes);
	files_destroy(walk->files);
	functions_free(&walk->functions);
	free(walk->unknown);
	for (uint32_t n = 0; walk->rings && n < ktread_info(walk->trace)->rings; n++)
		free(walk->rings[n].held);
	free(walk->rings);
}

uint32_t walk_process_of(const struct walk *walk, uint32_t thread)
{
	uint32_t process = processes_of(walk->processes, thread);

	if (process != 0)
		return process;
	return ktread_info(walk->trace)->records_only ? thread : WALK_KERNEL_PID;
}

/* ---- Names of spans ---- */

void walk_name_span(struct walk *walk, struct walk_name *name, const struct spans_span *span,
		    const struct ktread_event *event)
{
	const struct wellknown *known = wellknown_of(&walk->known, event);
	struct ktread_value value;

	name->kind = WALK_NAME_TEXT;
	name->number = span->key;
	name->length = 0;
	if (span->kind == WELLKNOWN_SYSCALL_ENTER)
		name->kind = WALK_NAME_CALL;
	else if (span->kind == WELLKNOWN_IRQ_ENTER && span->has_key)
		name->kind = WALK_NAME_IRQ;
	if (name->kind != WALK_NAME_TEXT && wellknown_string(known, event, WELLKNOWN_NAME, &value))
		name->kind = WALK_NAME_TEXT;
	if (name->kind == WALK_NAME_TEXT)
		name->length = span_name(&walk->names, walk->trace, span, event, known, name->text);
}

void walk_name_text(const struct walk *walk, struct walk_name *name)
{
	if (name->kind == WALK_NAME_CALL)
		name->length = span_name_call(walk->trace, name->number, name->text);
	else if (name->kind == WALK_NAME_IRQ)
		name->length = span_name_interrupt(name->number, name->text);
}
