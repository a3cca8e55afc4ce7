/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What is drawn on lanes: the states of threads and CPUs, arrows between them, and functions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "ktrx/slot.h"
#include "ktrx/v2.h"
#include "page/pass.h"

/* ---- Lanes of threads and CPUs ---- */

/*
 * Maximum number of lanes. When it is reached, a new thread uses the lane of an ended thread with the same
 * id.
 */
#define LANES_MOST (4 * THREADS_MAX)

static struct page_owner *owner_at(struct page_pass *pass, struct page_owners *owners, uint32_t n)
{
	struct page_owner *larger = base_grow(owners->owner, &owners->room, (size_t)n + 1, sizeof(*larger));

	if (!larger) {
		pass->error = KTREAD_E_MEMORY;
		return NULL;
	}
	owners->owner = larger;
	return &larger[n];
}

/*
 * Returns the number of the string that is the name of a thread's process, for example "init (1)"; 0 if it is
 * unknown.
 */
static uint32_t name_process(struct page_pass *pass, uint32_t thread)
{
	const uint32_t id = processes_of(pass->page->processes, thread);
	const struct processes_process *process = id ? processes_find(pass->page->processes, id) : NULL;
	const bool redact = pass->page->options.redact;
	const char *command = process && !redact ? process->command : "";
	char text[PROCESSES_COMMAND + 32];

	if (id == 0)
		return 0;
	if (*command == '\0' && !redact)
		command = ktread_thread_name(pass->page->trace, id);
	if (command && *command)
		snprintf(text, sizeof(text), "%.*s (%u)", (int)PROCESSES_COMMAND, command, id);
	else
		snprintf(text, sizeof(text), "process %u", id);
	return page_string(&pass->strings, text, strlen(text));
}

/*
 * Describes a thread's lane, with this name. If `length` is 0 or the page is redacted, describes the lane
 * without a name.
 */
static void describe_thread(struct page_pass *pass, struct page_owner *owner, uint32_t id, const char *name,
			    size_t length)
{
	const uint32_t group = name_process(pass, id);
	const uint32_t string = page_string(&pass->strings, name, pass->page->options.redact ? 0 : length);

	owner->idle = id == 0 || threads_name_is_idle(name, length);
	if (owner->lane == 0)
		owner->lane = 1 + page_lane_add(&pass->lanes, PAGE_LANE_THREAD, id, string, group,
						owner->idle ? PAGE_LANE_IDLE : 0);
	else
		page_lane_change(&pass->lanes, owner->lane - 1, PAGE_LANE_THREAD, id, string, group,
				 owner->idle ? PAGE_LANE_IDLE : 0);
}

struct page_owner *page_owner_thread(struct page_pass *pass, const struct threads_thread *thread)
{
	struct page_owner *owner = owner_at(pass, &pass->of_threads, thread->index);
	const char *name;

	if (!owner || (owner->lane && owner->life == thread->life))
		return owner;
	if (pass->lanes.count < LANES_MOST)
		owner->lane = 0;
	owner->life = thread->life;
	name = ktread_thread_name(pass->page->trace, thread->id);
	describe_thread(pass, owner, thread->id, name ? name : "", name ? strlen(name) : 0);
	return owner;
}

static struct page_owner *page_owner_cpu(struct page_pass *pass, uint32_t cpu)
{
	struct page_owner *owner = owner_at(pass, &pass->cpus, cpu);
	char name[32] = "CPU unknown";

	if (!owner || owner->lane)
		return owner;
	if (cpu < THREADS_CPUS_MAX)
		snprintf(name, sizeof(name), "CPU %u", cpu);
	owner->lane =
		1 + page_lane_add(&pass->lanes, cpu < THREADS_CPUS_MAX ? PAGE_LANE_CPU : PAGE_LANE_OTHER, cpu,
				  page_string(&pass->strings, name, strlen(name)), 0, 0);
	return owner;
}

struct page_owner *page_owner_of(struct page_pass *pass, struct spans_owner who)
{
	return who.cpu ? page_owner_cpu(pass, who.number)
		       : page_owner_thread(pass, threads_at(pass->threads, who.number));
}

void page_owners_event(struct page_pass *pass, const struct ktread_event *event,
		       const struct wellknown *known)
{
	const struct threads_thread *thread;
	struct page_owner *owner;
	struct ktread_value name;
	uint32_t id = event->thread;

	if (known->kind != WELLKNOWN_CREATE &&
	    (known->kind != WELLKNOWN_PROCESS_EXEC || pass->page->options.redact))
		return;
	if (known->kind == WELLKNOWN_CREATE && !wellknown_thread(known, event, WELLKNOWN_THREAD, &id))
		return;
	thread = threads_find(pass->threads, id);
	if (!thread || id == 0 || !wellknown_string(known, event, WELLKNOWN_NAME, &name))
		return;
	if (known->kind == WELLKNOWN_PROCESS_EXEC) {
		const char *slash = memrchr(name.string, '/', name.length);

		if (slash) {
			name.length -= (uint16_t)(slash + 1 - name.string);
			name.string = slash + 1;
		}
	}
	owner = page_owner_thread(pass, thread);
	if (owner)
		describe_thread(pass, owner, id, name.string, name.length);
}

/* ---- Arrows from wakers to the threads they wake, and from CPUs to the CPUs they interrupt ---- */

/*
 * Returns 1 + the lane on which an event is drawn: the lane of its CPU for an event in an interrupt,
 * otherwise the lane of its thread.
 */
static uint32_t page_lane_of(struct page_pass *pass, const struct ktread_event *event)
{
	const struct page_owner *owner = page_owner_of(pass, spans_owner_by(pass->threads, event));

	return owner ? owner->lane : 0;
}

/* Adds an arrow to the lane `to`. `length`: time in ticks until the effect; 0 if unknown. */
static void page_arrow_end(struct page_pass *pass, const struct page_begun *begun, uint32_t to, unsigned kind,
			   uint64_t length)
{
	const uint64_t time = page_time(pass->page, begun->begin);
	const uint64_t end = page_time(pass->page, begun->begin + length);
	const struct page_arrow arrow = {
		.time = time,
		.length = end - time,
		.slot = begun->slot,
		.ring = begun->ring,
		.from = begun->other - 1,
		.to = to,
		.kind = (uint8_t)kind,
	};

	if (page_is_due(pass, time, end) && page_arrows_add(&pass->arrows, &arrow) < 0)
		pass->error = KTREAD_E_MEMORY;
}

/* Ends request `n` of a CPU. `length`: time in ticks until the request was received; 0 if unknown. */
static void end_request(struct page_pass *pass, struct page_owner *owner, uint32_t n, uint64_t length)
{
	page_arrow_end(pass, &owner->request[n].sent, owner->lane - 1, PAGE_ARROW_IPI, length);
	owner->requests--;
	memmove(&owner->request[n], &owner->request[n + 1],
		(owner->requests - n) * sizeof(owner->request[0]));
}

static void send(struct page_pass *pass, const struct ktread_event *event, uint32_t target, uint64_t what)
{
	const uint32_t lane = page_lane_of(pass, event);
	struct page_owner *owner = page_owner_cpu(pass, target);

	if (!owner || lane == 0)
		return;
	if (owner->requests == PAGE_REQUESTS)
		end_request(pass, owner, 0, 0);
	owner->request[owner->requests++] = (struct page_request){
		.sent = { .begin = event->stamp, .slot = event->index, .ring = event->ring, .other = lane },
		.what = what,
	};
}

/* Ends all requests for one of the actions that the CPU executes now. */
static void receive(struct page_pass *pass, const struct ktread_event *event, uint64_t what)
{
	struct page_owner *owner = page_owner_cpu(pass, event->cpu);

	for (uint32_t n = 0; owner && n < owner->requests;) {
		const struct page_request *request = &owner->request[n];
		const uint64_t begin = request->sent.begin;

		if (what == 0 || request->what == 0 || (request->what & what))
			end_request(pass, owner, n, event->stamp > begin ? event->stamp - begin : 0);
		else
			n++;
	}
}

void page_requests_event(struct page_pass *pass, const struct ktread_event *event,
			 const struct wellknown *known)
{
	uint64_t target = event->cpu, what = 0;

	if (known->kind != WELLKNOWN_IPI_SEND && known->kind != WELLKNOWN_IPI_RECEIVE)
		return;
	wellknown_number(known, event, WELLKNOWN_NUMBER, &what);
	if (known->kind == WELLKNOWN_IPI_SEND && !wellknown_number(known, event, WELLKNOWN_CPU, &target))
		return;
	if (target >= THREADS_CPUS_MAX)
		return;
	if (known->kind == WELLKNOWN_IPI_SEND)
		send(pass, event, (uint32_t)target, what);
	else
		receive(pass, event, what);
}

void page_requests_forget(struct page_pass *pass)
{
	for (uint32_t n = 0; n < pass->cpus.room; n++)
		while (pass->cpus.owner[n].requests)
			end_request(pass, &pass->cpus.owner[n], 0, 0);
}

/* ---- What threads do, and which thread runs on a CPU ---- */

static const uint8_t class_of[] = {
	[THREADS_UNKNOWN] = PAGE_CLASS_UNKNOWN,	  [THREADS_RUNNING] = PAGE_CLASS_RUNNING,
	[THREADS_RUNNABLE] = PAGE_CLASS_RUNNABLE, [THREADS_SLEEPING] = PAGE_CLASS_SLEEPING,
	[THREADS_WAITING] = PAGE_CLASS_BLOCKED,	  [THREADS_STOPPED] = PAGE_CLASS_STOPPED,
	[THREADS_DEAD] = PAGE_CLASS_DEAD,
};

/*
 * Adds the slice of a state that ends at `end`. If slots are missing during the state, or if events were
 * disabled, the slice ends at the last time at which the state is certain. `cpu`: the CPU of a running
 * thread, otherwise GAPS_ANYWHERE. Returns whether the state certainly ended at `end`.
 */
static bool add_state(struct page_pass *pass, const struct page_begun *state, uint32_t lane, uint32_t cpu,
		      uint64_t end, unsigned flags)
{
	struct page *page = pass->page;
	uint64_t gap;

	if (!gaps_state_lasts(page->gaps, page->scheduling, cpu != GAPS_ANYWHERE, cpu, state->begin, end)) {
		flags |= PAGE_SLICE_END_UNKNOWN;
		gap = gaps_first(page->gaps, cpu, state->begin, end);
		end = gap < end ? gap : state->begin;
	}
	page_slice_end(pass, state, lane - 1, PAGE_ROW_STATE, 0, end, flags);
	return (flags & PAGE_SLICE_END_UNKNOWN) == 0;
}

static struct page_begun begin(const struct page_pass *pass, uint64_t stamp, unsigned class, uint32_t other)
{
	return (struct page_begun){ .begin = stamp,
				    .slot = pass->event->index,
				    .ring = pass->event->ring,
				    .other = other,
				    .class = (uint8_t) class };
}

static void end_running(struct page_pass *pass, uint32_t cpu, uint64_t stamp, unsigned flags)
{
	struct page_owner *owner = page_owner_cpu(pass, cpu);

	if (!owner || owner->state == 0)
		return;
	owner->state = 0;
	add_state(pass, &owner->current, owner->lane, cpu, stamp, flags);
}

/* Ends the CPU's slice of a thread that ran there, and begins one for a thread that runs there now. */
static void change_cpu(struct page_pass *pass, const struct threads_change *change, uint32_t lane, bool idle)
{
	const uint32_t thread = change->thread->index + 1;
	struct page_owner *owner = page_owner_cpu(pass, change->cpu);

	if (!owner)
		return;
	if (change->thread->state != THREADS_RUNNING) {
		if (owner->state == thread)
			end_running(pass, change->cpu, change->time,
				    change->thread->state == THREADS_UNKNOWN ? PAGE_SLICE_END_UNKNOWN : 0);
		return;
	}
	end_running(pass, change->cpu, change->time, PAGE_SLICE_END_UNKNOWN);
	owner->state = thread;
	owner->current = begin(pass, change->time, idle ? PAGE_CLASS_IDLE : PAGE_CLASS_RUNNING, lane);
}

/*
 * Ends the state of a thread; `next` is the following state. If `next` is THREADS_UNKNOWN, it is uncertain
 * when the state ended.
 */
static void end_state(struct page_pass *pass, struct page_owner *owner, uint64_t stamp,
		      enum threads_state next)
{
	const uint32_t cpu = owner->state == THREADS_RUNNING ? owner->cpu : GAPS_ANYWHERE;
	bool certain;

	if (owner->state == THREADS_UNKNOWN)
		return;
	certain = add_state(pass, &owner->current, owner->lane, cpu, stamp,
			    next == THREADS_UNKNOWN ? PAGE_SLICE_END_UNKNOWN : 0);
	owner->state = THREADS_UNKNOWN;
	if (owner->woken.other == 0)
		return;
	page_arrow_end(pass, &owner->woken, owner->lane - 1, PAGE_ARROW_WAKE,
		       certain && next == THREADS_RUNNING && stamp > owner->woken.begin
			       ? stamp - owner->woken.begin
			       : 0);
	owner->woken.other = 0;
}

/*
 * Returns the class of a state. An idle thread that does not run does not wait for a CPU, so it is shown as
 * sleeping.
 */
static unsigned class_of_thread(const struct page_owner *owner, unsigned state)
{
	if (!owner->idle)
		return class_of[state];
	return state == THREADS_RUNNING	   ? PAGE_CLASS_IDLE
	       : state == THREADS_RUNNABLE ? PAGE_CLASS_SLEEPING
					   : class_of[state];
}

void page_thread_changed(void *context, const struct threads_change *change)
{
	struct page_pass *pass = context;
	const struct threads_thread *thread = change->thread;
	struct page_owner *owner, *cpu;

	/* Thread 0 is the idle thread of all CPUs at the same time, so it has no lane and no states. */
	if (thread->id == 0) {
		change_cpu(pass, change, 0, true);
		return;
	}
	/* end the state before the thread's new life gets another lane */
	if (thread->index < pass->of_threads.room)
		end_state(pass, &pass->of_threads.owner[thread->index], change->time,
			  (enum threads_state)thread->state);
	owner = page_owner_thread(pass, thread);
	if (owner && !change->woken)
		change_cpu(pass, change, owner->lane, owner->idle);
	if (!owner || thread->state == THREADS_UNKNOWN)
		return;
	cpu = thread->state == THREADS_RUNNING ? page_owner_cpu(pass, change->cpu) : NULL;
	owner->state = thread->state;
	owner->cpu = change->cpu;
	owner->current =
		begin(pass, change->time, class_of_thread(owner, thread->state), cpu ? cpu->lane : 0);
	if (change->woken)
		owner->woken = begin(pass, change->time, 0, page_lane_of(pass, pass->event));
}

void page_states_end(struct page_pass *pass)
{
	for (uint32_t n = 0; n < pass->of_threads.room; n++)
		end_state(pass, &pass->of_threads.owner[n], pass->last, THREADS_UNKNOWN);
	for (uint32_t cpu = 0; cpu < pass->cpus.room && cpu < THREADS_CPUS_MAX; cpu++)
		if (pass->cpus.owner[cpu].state)
			end_running(pass, cpu, pass->last, PAGE_SLICE_END_UNKNOWN);
}

/* ---- Functions of a hardware trace: nested slices on separate lanes ---- */

/* maximum number of open functions that are stored; functions nested more deeply get no slice */
#define DEPTH_MOST 4096u

static uint64_t add_lane(void *context, const char *name, uint64_t time)
{
	struct page_pass *pass = context;
	struct page_functions *functions = &pass->functions;
	struct page_track *larger =
		base_grow(functions->track, &functions->room, (size_t)functions->tracks + 1, sizeof(*larger));

	(void)time;
	if (!larger) {
		pass->error = KTREAD_E_MEMORY;
		return UINT64_MAX;
	}
	functions->track = larger;
	larger[functions->tracks].lane = page_lane_add(&pass->lanes, PAGE_LANE_FUNCTIONS, functions->tracks,
						       page_string(&pass->strings, name, strlen(name)), 0, 0);
	return functions->tracks++;
}

static void begin_function(struct page_pass *pass, struct page_track *track, const struct ktread_event *event)
{
	struct page_begun *larger = NULL;
	struct ktread_value value;

	if (track->depth < DEPTH_MOST)
		larger = base_grow(track->open, &track->room, (size_t)track->depth + 1, sizeof(*larger));
	track->depth++;
	if (!larger)
		return;
	track->open = larger;
	larger[track->depth - 1] = (struct page_begun){
		.begin = event->stamp, .slot = event->index, .ring = event->ring, .class = PAGE_CLASS_FUNCTION
	};
	if (ktread_value(event, 0, &value) == 0 && value.type == KTRX_TYPE_STRING)
		larger[track->depth - 1].name = page_string(&pass->strings, value.string, value.length);
}

/* Ends the innermost function. `flags`: PAGE_SLICE_END_UNKNOWN if the trace ends before the function. */
static void end_function(struct page_pass *pass, struct page_track *track, uint64_t end, unsigned flags)
{
	if (track->depth == 0)
		return;
	track->depth--;
	if (track->depth < track->room)
		page_slice_end(pass, &track->open[track->depth], track->lane, PAGE_ROW_NEST, track->depth,
			       end, flags);
}

static void draw(void *context, uint64_t number, enum functions_mark mark, const struct ktread_event *event,
		 uint64_t time)
{
	struct page_pass *pass = context;

	if (number >= pass->functions.tracks)
		return;
	if (mark == FUNCTIONS_BEGIN)
		begin_function(pass, &pass->functions.track[number], event);
	else if (mark == FUNCTIONS_END)
		end_function(pass, &pass->functions.track[number], time, pass->functions.flags);
}

/* Returns whether the event reports that a part of the hardware trace is missing. */
static bool is_loss(const struct ktread_event *event)
{
	return strcmp(event->type->name, "lost") == 0;
}

int page_functions_event(struct page_pass *pass, const struct ktread_event *event)
{
	const struct functions_sink sink = { add_lane, draw, pass };

	/* functions that were open when data was lost may have ended in the lost data */
	pass->functions.flags = is_loss(event) ? PAGE_SLICE_END_UNKNOWN : 0;
	return functions_event(&pass->functions.model, &sink, event, event->stamp);
}

void page_functions_end(struct page_pass *pass)
{
	const struct functions_sink sink = { add_lane, draw, pass };

	pass->functions.flags = PAGE_SLICE_END_UNKNOWN;
	functions_close(&pass->functions.model, &sink, pass->last);
}

void page_functions_free(struct page_pass *pass)
{
	for (uint32_t n = 0; n < pass->functions.tracks; n++)
		free(pass->functions.track[n].open);
	free(pass->functions.track);
	functions_free(&pass->functions.model);
}
