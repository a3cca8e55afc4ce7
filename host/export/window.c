/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Draws a time window of a trace. Spans of a thread are drawn only while it runs: a box begins where the
 * thread gets a CPU or the span begins, and ends where the thread leaves the CPU or the span ends.
 */
#include "export/views.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/scheduling.h"
#include "analyze/spans.h"
#include "analyze/threads.h"
#include "analyze/wellknown.h"
#include "base/grow.h"
#include "export/shown.h"
#include "ktrx/v2.h"

#define NAME_MAX 48u
#define TEXT_MAX 200u

/* Open spans of a thread, or of interrupts on a CPU. */
struct owner {
	struct spans_span nest[SPANS_NEST];
	uint32_t depth;
	uint64_t seen; /* timestamp of the last event of this thread or CPU */
};

/* Lost slots of a CPU, between two timestamps. */
struct loss {
	uint64_t slots;
	uint64_t from, to;
};

/* Lost slots before hidden events of a CPU. They are drawn if the CPU has an event that is not hidden. */
struct held {
	struct loss *loss;
	uint32_t losses, room;
	bool shown; /* true if the CPU had an event that is not hidden */
};

/* What was read of a ring. */
struct ring {
	uint64_t lost; /* number of slots that are missing before its events so far */
	uint64_t seen; /* timestamp of its last event */
	bool begun;
};

struct picture {
	/* beginning of the window as the user requested it; may be after the end of the trace */
	uint64_t asked;
	struct window *window;
	struct window_drawing drawing;
	struct threads *threads;
	struct gaps *gaps;
	struct spans *spans;
	struct shown shown;
	struct held held[WINDOW_CPUS];
	struct ring *ring; /* array, indexed by ring */
	struct threads_heads heads;
	struct wellknown_table known;
	struct owner *thread; /* open spans of each thread, indexed by thread */
	uint32_t thread_count;
	struct owner cpu[WINDOW_CPUS];
	/* indexed by CPU: timestamp since which the CPU has run its current thread; 0 if unknown */
	uint64_t runs_since[WINDOW_CPUS];
	/* indexed by CPU: value of `time` at the CPU's last event */
	uint64_t cpu_time[WINDOW_CPUS];
	uint64_t now; /* timestamp of the current event */
	uint64_t gap; /* timestamp of the gap in which the next change takes place; 0 if in none */
	/* timestamp of the stop of all recording that is being passed to the model of threads; 0: none is */
	uint64_t stopped;
	/*
	 * time of the current event for the models of threads and spans; not a timestamp, but a number that
	 * grows by 2 per event
	 */
	uint64_t time;
	int error;
};

static struct owner *thread_at(struct picture *p, uint32_t index)
{
	struct owner *larger = base_grow(p->thread, &p->thread_count, (size_t)index + 1, sizeof(*larger));

	if (!larger) {
		p->error = KTREAD_E_MEMORY;
		return NULL;
	}
	p->thread = larger;
	return &larger[index];
}

/* Returns the entry of the owner of spans (a thread or CPU); NULL if the owner is not drawn. */
static struct owner *owner_at(struct picture *p, struct spans_owner who)
{
	if (!who.cpu)
		return thread_at(p, who.number);
	return who.number < WINDOW_CPUS ? &p->cpu[who.number] : NULL;
}

/*
 * Writes the text in the box of a thread. Also writes the tooltip, which contains the thread's number, too.
 */
static void name_thread(const struct picture *p, uint32_t id, char *text, char *tip)
{
	const char *name = ktread_thread_name(p->window->trace, id);

	snprintf(tip, NAME_MAX, "thread %u", id);
	memcpy(text, tip, NAME_MAX);
	if (!name || !*name)
		return;
	snprintf(text, NAME_MAX, "%.40s", name);
	snprintf(tip, TEXT_MAX, "thread %u(%s)", id, text);
}

static void name_span(const struct picture *p, const struct spans_span *span, char *text)
{
	const char *call = NULL;

	if (span->kind == WELLKNOWN_SYSCALL_ENTER && span->key <= UINT32_MAX)
		call = ktread_syscall_name(p->window->trace, (uint32_t)span->key);
	if (call)
		snprintf(text, NAME_MAX, "%.40s", call);
	else if (span->kind == WELLKNOWN_SYSCALL_ENTER)
		snprintf(text, NAME_MAX, "call %llu", (unsigned long long)span->key);
	else if (span->kind == WELLKNOWN_FAULT_ENTER && span->has_key)
		snprintf(text, NAME_MAX, "fault 0x%llx", (unsigned long long)span->key);
	else if (span->kind == WELLKNOWN_IRQ_ENTER && span->has_key)
		snprintf(text, NAME_MAX, "irq %llu", (unsigned long long)span->key);
	else
		snprintf(text, NAME_MAX, "%s", span->kind == WELLKNOWN_IRQ_ENTER ? "irq" : "fault");
}

static const char *class_of(const struct spans_span *span)
{
	return span->kind == WELLKNOWN_SYSCALL_ENTER ? "c1"
	       : span->kind == WELLKNOWN_FAULT_ENTER ? "c2"
						     : "c4";
}

/*
 * Draws the open span at `depth` on `cpu`. The box begins at the later of two times: `from`, and the
 * beginning of the span.
 */
static void draw_span(struct picture *p, const struct owner *owner, bool of_cpu, uint32_t depth, uint32_t cpu,
		      uint64_t from, uint64_t to)
{
	const struct spans_span *span = &owner->nest[depth];
	char name[NAME_MAX];

	if (!of_cpu && depth >= WINDOW_NEST)
		return;
	name_span(p, span, name);
	window_draw_box(&p->drawing, cpu, of_cpu ? WINDOW_IRQ : (enum window_row)(WINDOW_SPAN + depth),
			class_of(span), from > span->stamp ? from : span->stamp, to, name, name);
}

static void draw_run(struct picture *p, const struct threads_thread *thread, uint32_t cpu, uint64_t to)
{
	static const char classes[][3] = { "c0", "c3", "c5", "c6", "c7" };
	const struct owner *owner = &p->thread[thread->index];
	char name[NAME_MAX], tip[TEXT_MAX];
	uint64_t since = p->runs_since[cpu < WINDOW_CPUS ? cpu : 0];
	bool idle;

	if (since == 0)
		return;
	name_thread(p, thread->id, name, tip);
	idle = thread->id == 0 || threads_name_is_idle(name, strlen(name));
	window_draw_box(&p->drawing, cpu, WINDOW_RUN,
			idle ? "idle" : classes[thread->id % (sizeof(classes) / sizeof(classes[0]))], since,
			to, idle ? "" : name, tip);
	for (uint32_t n = 0; n < owner->depth; n++)
		draw_span(p, owner, false, n, cpu, since, to);
}

/*
 * Returns the timestamp at which to draw a change. If the model reports a change before the current event,
 * the change is drawn at the timestamp of the CPU's previous event. A stop of all recording is drawn where it
 * happened.
 */
static uint64_t stamp_of(const struct picture *p, uint64_t time, uint32_t cpu)
{
	if (p->stopped)
		return p->stopped;
	return time < p->time && cpu < WINDOW_CPUS ? p->cpu[cpu].seen : p->now;
}

static void on_change(void *context, const struct threads_change *change)
{
	struct picture *p = context;
	const struct threads_thread *thread = change->thread;
	struct owner *owner = thread_at(p, thread->index);
	uint64_t stamp = p->gap ? p->gap : stamp_of(p, change->time, change->cpu);

	p->gap = 0;
	if (!owner)
		return;
	if (change->from == THREADS_RUNNING)
		draw_run(p, thread, change->cpu, stamp);
	if (change->cpu < WINDOW_CPUS &&
	    (change->from == THREADS_RUNNING || thread->state == THREADS_RUNNING))
		p->runs_since[change->cpu] = thread->state == THREADS_RUNNING ? stamp : 0;
}

/* Returns a time before the current event, for a change in a gap that begins at this timestamp. */
static uint64_t time_of(void *clock, uint64_t stamp)
{
	struct picture *p = clock;

	p->gap = stamp;
	return p->time - 2;
}

static void on_begin(void *context, struct spans_owner who, unsigned lane, const struct spans_span *span,
		     const struct ktread_event *event)
{
	struct picture *p = context;
	struct owner *owner = lane == 0 ? owner_at(p, who) : NULL;

	(void)event;
	if (owner && owner->depth < SPANS_NEST)
		owner->nest[owner->depth++] = *span;
}

static void on_end(void *context, struct spans_owner who, unsigned lane, const struct spans_span *span,
		   const struct ktread_event *event, uint64_t time)
{
	struct picture *p = context;
	struct owner *owner = lane == 0 ? owner_at(p, who) : NULL;
	const struct threads_thread *thread = who.cpu ? NULL : threads_at(p->threads, who.number);

	(void)span;
	if (!owner || owner->depth == 0)
		return;
	owner->depth--;
	if (who.cpu)
		draw_span(p, owner, true, owner->depth, who.number, 0,
			  event ? p->now : stamp_of(p, time, who.number));
	else if (thread->state == THREADS_RUNNING && thread->cpu < WINDOW_CPUS && p->runs_since[thread->cpu])
		draw_span(p, owner, false, owner->depth, thread->cpu, p->runs_since[thread->cpu],
			  event ? p->now : owner->seen);
}

static void mark(struct picture *p, const struct ktread_event *event)
{
	char tip[TEXT_MAX];
	int length = snprintf(tip, sizeof(tip), "%.40s.%.40s: ", event->type->group, event->type->name);

	ktread_format(event, tip + length, sizeof(tip) - (size_t)length);
	window_draw_mark(&p->drawing, event->cpu, event->stamp, tip);
}

/* Informs the models that events of this CPU are missing after its last event. */
static void break_off(struct picture *p, uint32_t cpu)
{
	threads_gap(p->threads, cpu, p->cpu_time[cpu]);
	spans_gap(p->spans, cpu, p->cpu_time[cpu]);
}

static void hold(struct picture *p, struct held *held, struct loss loss)
{
	struct loss *larger = base_grow(held->loss, &held->room, (size_t)held->losses + 1, sizeof(*larger));

	if (!larger) {
		p->error = KTREAD_E_MEMORY;
		return;
	}
	held->loss = larger;
	larger[held->losses++] = loss;
}

static void draw_held(struct picture *p, uint32_t cpu)
{
	struct held *held = &p->held[cpu];

	for (uint32_t n = 0; n < held->losses; n++)
		window_draw_gap(&p->drawing, cpu, held->loss[n].from, held->loss[n].to, held->loss[n].slots);
	held->losses = 0;
}

static void count_lost(struct picture *p, const struct ktread_event *event)
{
	struct ring *ring = &p->ring[event->ring];

	ring->lost += event->lost;
	if (!ring->begun && event->lost == 0)
		ring->lost = ktread_ring(p->window->trace, event->ring)->overwritten;
	ring->begun = true;
	ring->seen = event->stamp;
}

static void note_gap(struct picture *p, const struct ktread_event *event)
{
	struct held *held = event->cpu < WINDOW_CPUS ? &p->held[event->cpu] : NULL;

	gaps_event(p->gaps, event);
	count_lost(p, event);
	if (!held)
		return;
	held->shown |= !p->shown.hidden;
	if (event->lost > 0) {
		break_off(p, event->cpu);
		hold(p, held, (struct loss){ event->lost, p->cpu[event->cpu].seen, event->stamp });
	}
	if (!p->shown.hidden)
		draw_held(p, event->cpu);
}

/* Informs the model of threads that events were switched on or off. */
static void pass_switched(struct picture *p, const struct switched_change *change,
			  const struct ktread_event *event)
{
	if (change->stopped)
		p->stopped = switched_change_stamp(change, p->window->trace, event);
	threads_switched(p->threads, change, p->time);
	p->stopped = 0;
}

static void take(struct picture *p, const struct ktread_event *event)
{
	const struct wellknown *known = wellknown_of(&p->known, event);
	const enum threads_head head = threads_pass_head(&p->heads, p->window->trace, event);
	const struct threads_thread *thread;
	struct switched_change change;
	int error, taken;

	p->now = event->stamp;
	p->time += 2;
	if (head != THREADS_HEAD_COMPLETE && event->lost == 0 && event->cpu < WINDOW_CPUS)
		break_off(p, event->cpu);
	note_gap(p, event);
	if (switched_change_of(event, &change))
		pass_switched(p, &change, event);
	error = threads_event(p->threads, event, known, p->time);
	shown_reveal(&p->shown, p->threads, event, p->time);
	spans_hide(p->spans, p->shown.hidden);
	taken = spans_event(p->spans, event, known, p->time);
	if (error || taken < 0 || p->shown.failed)
		p->error = KTREAD_E_MEMORY;
	if (event->stamp >= p->asked)
		p->window->events += !p->shown.hidden;
	if (!taken && known->kind != WELLKNOWN_SWITCH && !p->shown.hidden)
		mark(p, event);
	thread = threads_find(p->threads, event->thread);
	if (thread && thread->index < p->thread_count)
		p->thread[thread->index].seen = event->stamp;
	if (event->cpu < WINDOW_CPUS) {
		p->cpu[event->cpu].seen = event->stamp;
		p->cpu_time[event->cpu] = p->time;
	}
	if (head == THREADS_HEAD_AROUND)
		threads_gap(p->threads, event->cpu, p->time);
}

/*
 * Continues to read after the end of the window until each CPU had an event. This is needed because an event
 * reports the slots that were lost before it, and these slots may belong to the window. Returns the result of
 * the last ktread_next().
 */
static int read_after(struct picture *p, const struct ktread_event *event)
{
	bool seen[WINDOW_CPUS] = { false };
	uint32_t left = p->drawing.cpus;
	int status = 1;

	p->time += 2;
	while (status > 0 && left > 0 && shown_event(&p->shown, event)) {
		if (event->cpu < p->drawing.cpus && !seen[event->cpu]) {
			seen[event->cpu] = true;
			left--;
			note_gap(p, event);
		} else {
			count_lost(p, event);
		}
		status = ktread_next(p->window->trace, &event);
	}
	return status;
}

/* Draws the slots that are missing after the last event of each ring. Requires: the whole trace was read. */
static void draw_tails(struct picture *p)
{
	for (uint32_t n = 0; n < ktread_info(p->window->trace)->rings; n++) {
		const struct ktread_ring *ring = ktread_ring(p->window->trace, n);
		const uint64_t lost = ring->overwritten + ring->invalid - ring->outside;

		if (ring->cpu < p->drawing.cpus && p->held[ring->cpu].shown && lost > p->ring[n].lost)
			window_draw_gap(&p->drawing, ring->cpu, p->ring[n].seen, p->window->to,
					lost - p->ring[n].lost);
	}
}

/*
 * Draws the spans and threads that are still open at the end of the window, up to where slots begin to be
 * missing.
 */
static void draw_rest(struct picture *p)
{
	shown_finish(&p->shown, p->threads, p->window->to);
	spans_hide(p->spans, false);
	spans_finish(p->spans);
	spans_finish_gaps(p->spans, p->window->to);
	for (uint32_t cpu = 0; cpu < p->drawing.cpus; cpu++) {
		const struct threads_thread *thread = threads_on(p->threads, cpu);

		if (p->held[cpu].shown)
			draw_held(p, cpu);
		if (thread && thread->index < p->thread_count)
			draw_run(p, thread, cpu, p->window->to);
		for (uint32_t n = 0; n < p->cpu[cpu].depth; n++)
			draw_span(p, &p->cpu[cpu], true, n, cpu, 0, p->window->to);
	}
}

static int draw_all(struct picture *p)
{
	const struct spans_sink sink = { p, on_begin, on_end };
	const struct ktread_event *event;
	int status = threads_create(&p->threads, shown_change, &p->shown);

	if (!status)
		status = threads_track_switches(p->threads, p->window->trace, &p->known);
	if (!status)
		status = spans_create(&p->spans, p->threads, &sink);
	if (!status)
		status = spans_track_switches(p->spans, p->window->trace);
	if (!status)
		status = gaps_read(&p->gaps, p->window->trace);
	if (!status)
		status = shown_open(&p->shown, p->window->trace);
	p->ring = calloc((size_t)ktread_info(p->window->trace)->rings + 1, sizeof(*p->ring));
	if (!p->ring)
		status = KTREAD_E_MEMORY;
	if (status)
		return status;
	p->shown.gaps = p->gaps;
	threads_learn(p->threads, gaps_scheduling(p->gaps));
	spans_know_gaps(p->spans, p->gaps);
	threads_find_heads(&p->heads, p->window->trace);
	window_draw_begin(&p->drawing);
	while ((status = ktread_next(p->window->trace, &event)) > 0 && event->stamp <= p->window->to &&
	       !p->error && shown_event(&p->shown, event))
		take(p, event);
	if (status > 0 && !p->error)
		status = read_after(p, event);
	p->time += 2;
	draw_rest(p);
	if (status == 0 && !p->error)
		draw_tails(p);
	window_draw_end(&p->drawing);
	return p->error ? p->error : status < 0 ? status : 0;
}

/* Finds the last timestamp of the trace and the number of CPUs. */
static int measure(struct ktread *trace, uint64_t *last, uint32_t *cpus)
{
	struct ktread_brief brief[256];
	int got;

	*last = ktread_first_stamp(trace);
	*cpus = ktread_cpus_used(ktread_info(trace));
	while ((got = ktread_next_briefs(trace, brief, 256)) > 0)
		for (int n = 0; n < got; n++) {
			*last = brief[n].stamp > *last ? brief[n].stamp : *last;
			if (brief[n].cpu != KTRX_NO_CPU && brief[n].cpu >= *cpus)
				*cpus = brief[n].cpu + 1;
		}
	return got < 0 ? got : ktread_rewind(trace);
}

int window_write(struct window *window)
{
	struct picture *p = calloc(1, sizeof(*p));
	uint64_t last;
	uint32_t cpus;
	int status = p ? measure(window->trace, &last, &cpus) : KTREAD_E_MEMORY;

	if (!status) {
		p->asked = window->from;
		window->to = window->to > last ? last : window->to;
		window->from = window->from > window->to ? window->to : window->from;
		/* the window must not be empty, because the picture would have a width of 0 */
		if (window->from == window->to)
			window->to++;
		p->window = window;
		p->shown.changed = on_change;
		p->shown.context = p->shown.clock = p;
		p->shown.time_of = time_of;
		p->drawing = (struct window_drawing){
			.window = window,
			.base = ktread_first_stamp(window->trace),
			.frequency = ktread_info(window->trace)->frequency,
			.cpus = cpus < WINDOW_CPUS ? cpus : WINDOW_CPUS,
		};
		status = draw_all(p);
	}
	if (p) {
		spans_destroy(p->spans);
		threads_destroy(p->threads);
		gaps_free(p->gaps);
		shown_close(&p->shown, window->trace);
		free(p->thread);
		free(p->ring);
		for (uint32_t cpu = 0; cpu < WINDOW_CPUS; cpu++)
			free(p->held[cpu].loss);
	}
	free(p);
	return status;
}
