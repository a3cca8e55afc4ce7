/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Evaluates the events of a trace: the second pass. */
#include <stdlib.h>
#include <string.h>

#include "analyze/event_name.h"
#include "analyze/scheduling.h"
#include "ktrx/slot.h"
#include "why/evidence_state.h"
#include "why/pulse.h"
#include "why/tries.h"

static struct why_cpu *cpu_of(struct why_evidence *evidence, const struct ktread_event *event)
{
	return event->cpu < evidence->cpus ? &evidence->cpu[event->cpu] : NULL;
}

static void put_text(struct why_event *kept, const struct ktread_event *event)
{
	char name[ANALYZE_EVENT_NAME_MOST + 1];
	char *end = analyze_event_name_put(name, event->type);
	size_t length = (size_t)(end - name);

	*kept = (struct why_event){ .stamp = event->stamp,
				    .slot = event->index,
				    .ring = event->ring,
				    .cpu = event->cpu,
				    .thread = event->thread,
				    .id = event->id,
				    .context = event->context };
	if (length > sizeof(kept->text) - 2)
		length = sizeof(kept->text) - 2;
	memcpy(kept->text, name, length);
	kept->text[length++] = ' ';
	ktread_format(event, kept->text + length, sizeof(kept->text) - length);
}

/*
 * Stores the event as text if it is one of the newest WHY_LAST events. `before` is the number of events
 * before it. If the guest still runs, it may have recorded more events since the first pass counted them.
 * Such later events are left out.
 */
static void keep_last(struct why_last *last, uint64_t before, const struct ktread_event *event)
{
	if (before + WHY_LAST < last->total || last->count == WHY_LAST)
		return;
	put_text(&last->event[last->count++], event);
}

static void count(const struct why_evidence *evidence, const struct why_cpu *cpu, struct why_rate *rate,
		  uint64_t stamp)
{
	rate->last = stamp;
	if (cpu && stamp < cpu->gap)
		return;
	rate->count++;
	rate->recent += evidence->end - stamp <= evidence->window;
}

/* Returns the number of ticks between two timestamps. Ticks before the time window do not count. */
static uint64_t within_window(const struct why_evidence *evidence, uint64_t from, uint64_t to)
{
	const uint64_t begin = evidence->end - evidence->window;

	if (from < begin)
		from = begin;
	return to > from ? to - from : 0;
}

/* Adds to the thread's running time the time from thread->since to `to`. */
static void note_ran(struct why_evidence *evidence, struct why_thread *thread, uint64_t to)
{
	uint64_t ticks = within_window(evidence, thread->since, to);

	if (why_idles_on(evidence, thread, thread->cpu))
		return;
	thread->ran += ticks;
	if (thread->cpu < evidence->cpus)
		evidence->cpu[thread->cpu].worked += ticks;
}

/*
 * Returns the number of interrupts so far on the thread's CPU. If the thread has a row in the kernel's table,
 * its CPU is the CPU in that row, which is the CPU at the end of the trace. A thread that has not run yet has
 * no CPU, except on a machine with a single CPU.
 */
static uint64_t interrupts_of(const struct why_evidence *evidence, const struct why_thread *thread)
{
	const uint32_t cpu = evidence->cpus == 1 ? 0 : why_cpu_of(thread);

	return cpu < evidence->cpus ? evidence->cpu[cpu].irqs.count : 0;
}

static void note_first(struct why_thread *thread, uint64_t stamp)
{
	if (stamp < thread->first)
		thread->first = stamp;
}

/* Resets the record of a thread when the kernel reuses the thread's id for a new thread. */
static void on_create(struct why_reader *reader, const struct ktread_event *event,
		      const struct wellknown *known)
{
	struct why_thread *thread;
	uint32_t id;

	if (!wellknown_thread(known, event, WELLKNOWN_THREAD, &id))
		return;
	thread = why_thread_touch(reader, id);
	if (!thread)
		return;
	thread->created = thread->first = event->stamp;
	thread->last_own_event = thread->last_work = thread->last_call = thread->woken = thread->slept_until =
		thread->last_sleep = 0;
	thread->blocked = thread->contends = thread->last_action = 0;
	thread->repeats = thread->fault_repeats = thread->fault_nest.count = 0;
	why_tries_forget(thread);
	thread->syscalls = thread->faults = (struct why_rate){ 0 };
	thread->in_syscall = thread->repeats_cut = thread->in_fault = false;
}

/* Receives a change of a thread's state from the model in threads.h. */
static void on_change(void *context, const struct threads_change *change)
{
	struct why_reader *reader = context;
	struct why_thread *thread = why_thread_touch(reader, change->thread->id);

	if (!thread)
		return;
	note_first(thread, reader->stamp);
	if (change->from == THREADS_RUNNING && thread->since && !reader->in_gap)
		note_ran(reader->evidence, thread, reader->stamp);
	thread->state = (enum threads_state)change->thread->state;
	thread->since = reader->stamp;
	thread->object = change->thread->object;
	thread->cpu = change->thread->cpu;
	if (thread->state == THREADS_DEAD)
		why_lock_owner_ended(reader, thread->id);
	/*
	 * for now, the number of interrupts before this moment; settle() replaces it by the number after this
	 * moment
	 */
	thread->interrupts = interrupts_of(reader->evidence, thread);
}

/*
 * Handles the beginning of a system call. If its number or arguments differ from those of the previous system
 * call, restarts the count of repeated system calls.
 */
static void on_syscall_enter(struct why_reader *reader, struct why_thread *thread,
			     const struct ktread_event *event, const struct wellknown *known)
{
	struct why_progress *progress = &reader->progress[thread - reader->evidence->thread];

	wellknown_number(known, event, WELLKNOWN_NUMBER, &thread->syscall);
	thread->in_syscall = true;
	progress->arguments = keyed_hash(event->payload, event->payload_size);
	progress->entered = event->stamp;
	if (thread->repeats &&
	    (progress->last_number != thread->syscall || progress->last_arguments != progress->arguments)) {
		thread->repeats = 0;
		thread->repeats_cut = false;
	}
}

static void on_syscall_exit(struct why_reader *reader, struct why_thread *thread,
			    const struct ktread_event *event, const struct wellknown *known)
{
	struct why_progress *progress = &reader->progress[thread - reader->evidence->thread];
	uint64_t result = 0;

	if (!thread->in_syscall)
		return;
	thread->in_syscall = false;
	wellknown_number(known, event, WELLKNOWN_RESULT, &result);
	thread->syscall_result = result;
	if (thread->repeats && progress->last_result != result) {
		thread->repeats = 0;
		thread->repeats_cut = false;
	}
	if (thread->repeats++ == 0)
		thread->repeat_first = progress->entered;
	progress->last_number = thread->syscall;
	progress->last_arguments = progress->arguments;
	progress->last_result = result;
}

/*
 * Returns true if slots that the CPU may have written were lost before the event. `cpu` recorded the event.
 */
static bool follows_gap(const struct why_reader *reader, struct why_cpu *cpu,
			const struct ktread_event *event)
{
	if (event->lost || (reader->events[event->cpu] == 1 && why_is_cut(reader, event)))
		return true;
	if (!cpu->after_boot || event->stamp < cpu->after_boot ||
	    why_is_shared(reader->evidence, event->ring))
		return false;
	cpu->after_boot = 0;
	return true;
}

/*
 * Handles a gap: slots of the event's CPU were lost before the event. System calls, faults and waits that
 * were in progress may have ended in these slots.
 */
static void on_gap(struct why_reader *reader, const struct ktread_event *event)
{
	const struct threads_thread *running = threads_on(reader->model, event->cpu);

	/* events do not show how long the thread ran during the lost slots, so that time is not counted */
	reader->in_gap = true;
	if (running)
		threads_gap(reader->model, event->cpu, reader->time - 1);
	reader->in_gap = false;
	why_lock_gap(reader);
	why_interrupt_gap(reader, &reader->evidence->cpu[event->cpu]);
	if (event->stamp > reader->gap_stamp)
		reader->gap_stamp = event->stamp;
}

/*
 * Returns the timestamp since which no ring has lost events by overwriting; 0: no ring was overwritten. If a
 * wait began before that timestamp, the event that ended it may have been overwritten.
 */
static uint64_t all_rings_since(const struct why_evidence *evidence)
{
	uint64_t stamp = 0;

	for (uint32_t n = 0; n < evidence->cpus; n++)
		if (evidence->cpu[n].cut && evidence->cpu[n].first_stamp > stamp)
			stamp = evidence->cpu[n].first_stamp;
	return stamp;
}

static int evaluate_kind(struct why_reader *reader, const struct ktread_event *event,
			 const struct wellknown *known, struct why_thread *thread)
{
	struct why_evidence *evidence = reader->evidence;
	struct why_cpu *cpu = cpu_of(evidence, event);

	switch (known->kind) {
	case WELLKNOWN_SWITCH:
		evidence->switched = true;
		if (cpu)
			count(evidence, cpu, &cpu->switches, event->stamp);
		why_lock_switch(reader, event, known);
		return 0;
	case WELLKNOWN_IRQ_ENTER:
		if (cpu)
			count(evidence, cpu, &cpu->irqs, event->stamp);
		return 0;
	case WELLKNOWN_FAULT_ENTER:
		if (thread)
			count(evidence, cpu, &thread->faults, event->stamp);
		return 0;
	case WELLKNOWN_SYSCALL_ENTER:
		if (thread) {
			count(evidence, cpu, &thread->syscalls, event->stamp);
			on_syscall_enter(reader, thread, event, known);
		}
		return 0;
	case WELLKNOWN_SYSCALL_EXIT:
		if (thread)
			on_syscall_exit(reader, thread, event, known);
		return 0;
	case WELLKNOWN_CREATE:
		on_create(reader, event, known);
		return 0;
	case WELLKNOWN_PANIC:
		why_panicked(evidence, event, known);
		return 0;
	case WELLKNOWN_LOCK_FAIL:
		if (thread)
			why_tries_event(reader, thread, event, known);
		return 0;
	case WELLKNOWN_LOCK_CONTEND:
	case WELLKNOWN_LOCK_ACQUIRE:
	case WELLKNOWN_LOCK_RELEASE:
		if (thread)
			why_tries_event(reader, thread, event, known);
		return why_lock_event(reader, event, known, thread);
	default:
		return 0;
	}
}

/*
 * Returns whether the event shows an action of the thread: it is not a context switch, a lock event or the
 * announcement of a sleep. See why_thread.last_action.
 */
static bool is_action(const struct wellknown *known)
{
	switch (known->kind) {
	case WELLKNOWN_SWITCH:
	case WELLKNOWN_BLOCK:
	case WELLKNOWN_LOCK_CONTEND:
	case WELLKNOWN_LOCK_ACQUIRE:
	case WELLKNOWN_LOCK_RELEASE:
	case WELLKNOWN_LOCK_FAIL:
		return false;
	default:
		return true;
	}
}

/*
 * Returns whether an interrupt handler recorded the event. The context field of the event is not enough,
 * because a kernel may state the context of the interrupted thread there.
 */
static bool is_by_interrupt(const struct why_reader *reader, const struct ktread_event *event,
			    const struct wellknown *known)
{
	return event->context != KTRX_CONTEXT_THREAD || known->kind == WELLKNOWN_IRQ_ENTER ||
	       known->kind == WELLKNOWN_IRQ_EXIT || known->kind == WELLKNOWN_IRQ_EOI ||
	       why_origin(reader, event) != WHY_BY_THREAD;
}

/*
 * Returns whether the event is about a fault of the thread itself, although its context is an interrupt. Some
 * kernels state this context for the handler of every exception. If the kernel records its interrupts, and
 * none is open on the CPU, the fault was not in an interrupt.
 */
static bool is_fault_of_thread(const struct why_reader *reader, const struct ktread_event *event,
			       const struct wellknown *known)
{
	return (known->kind == WELLKNOWN_FAULT_ENTER || known->kind == WELLKNOWN_FAULT_EXIT) &&
	       event->context == KTRX_CONTEXT_INTERRUPT && event->cpu < reader->evidence->cpus &&
	       !reader->open[event->cpu].inside && why_records(reader, WELLKNOWN_IRQ_ENTER) &&
	       why_records(reader, WELLKNOWN_IRQ_EXIT);
}

/*
 * Evaluates an event as an action of the thread. An event that an interrupt handler recorded is not an action
 * of the thread; it is used only to count nested faults.
 */
static void note_actions(const struct why_reader *reader, struct why_thread *thread,
			 const struct ktread_event *event, const struct wellknown *known,
			 enum why_actor_kind actor)
{
	why_fault_nests(thread, event, known);
	if (is_by_interrupt(reader, event, known) && !is_fault_of_thread(reader, event, known))
		return;
	if (known->kind != WELLKNOWN_SWITCH)
		thread->last_own_event = event->stamp;
	if (known->kind != WELLKNOWN_SWITCH && actor != WHY_ACTS_SCHEDULER)
		thread->last_work = event->stamp;
	if (known->kind != WELLKNOWN_SWITCH && actor == WHY_ACTS_THREAD)
		thread->last_call = event->stamp;
	if (is_action(known)) {
		thread->last_action = event->stamp;
		thread->last_action_cpu = event->cpu;
	}
	why_faults_event(thread, event, known);
}

/* Counts a wakeup. Must be called before the model in threads.h changes the thread's state. */
static void note_wake(struct why_reader *reader, const struct ktread_event *event,
		      const struct wellknown *known)
{
	const struct why_thread *thread;
	uint32_t id;

	if (!wellknown_thread(known, event, WELLKNOWN_THREAD, &id))
		return;
	thread = why_thread_find(reader->evidence, id);
	reader->evidence->wakes++;
	reader->evidence->odd_wakes += thread && thread->state == THREADS_RUNNABLE;
}

bool why_records(const struct why_reader *reader, enum wellknown_kind kind)
{
	return scheduling_covers(reader->evidence->scheduling, kind, reader->stamp, reader->stamp);
}

static int evaluate_event(struct why_reader *reader, const struct ktread_event *event)
{
	const struct wellknown *known = wellknown_of(reader->known, event);
	struct why_cpu *cpu = cpu_of(reader->evidence, event);
	struct switched_change switched;
	enum why_actor_kind actor;
	struct why_thread *thread;
	int error;

	reader->stamp = event->stamp;
	reader->time = event->stamp >= reader->time + 2 ? event->stamp : reader->time + 2;
	thread = why_thread_touch(reader, event->thread);
	reader->evidence->events++;
	reader->evidence->known += known->kind != WELLKNOWN_OTHER && known->kind != WELLKNOWN_COUNTER;
	if (thread)
		note_first(thread, event->stamp);
	if (!cpu && event->cpu < WHY_CPUS && known->kind == WELLKNOWN_SWITCH)
		reader->evidence->outside = event->cpu;
	if (cpu)
		keep_last(&cpu->last, reader->events[event->cpu]++, event);
	if (thread)
		keep_last(&thread->last, reader->progress[thread - reader->evidence->thread].events++, event);
	if (cpu && follows_gap(reader, cpu, event))
		on_gap(reader, event);
	if (thread)
		why_thread_void_old(reader, (uint32_t)(thread - reader->evidence->thread));
	if (known->kind == WELLKNOWN_WAKE)
		note_wake(reader, event, known);
	error = threads_event(reader->model, event, known, reader->time);
	if (error || reader->error)
		return error ? error : reader->error;
	/* threads_event() may have added threads and so moved the array of threads. */
	if (thread)
		thread = why_thread_touch(reader, event->thread);
	why_unseen_event(reader, event, known);
	if (known->kind == WELLKNOWN_OTHER && switched_change_of(event, &switched))
		why_lock_gap(reader);
	error = evaluate_kind(reader, event, known, thread);
	reader->evidence->fault_exits |= known->kind == WELLKNOWN_FAULT_EXIT;
	if (cpu)
		why_interrupt_event(reader, cpu, event, known);
	actor = why_tail_event(reader, event, known);
	/* evaluate_kind() may have added threads and so moved the array of threads. */
	if (thread)
		note_actions(reader, why_thread_touch(reader, event->thread), event, known, actor);
	why_wakes_event(reader, event, known);
	return error ? error : reader->error;
}

/*
 * Returns for how many ticks the thread has been runnable; 0: it is not runnable. If the thread has a row in
 * the kernel's table, this row decides, and events are ignored.
 */
static uint64_t runnable_for(const struct why_evidence *evidence, const struct why_thread *thread)
{
	const struct ktrx_holder *row = &thread->holder;

	if (thread->idle || evidence->cut || why_is_gone(evidence, thread))
		return 0;
	if (thread->has_holder && row->state != KTRX_THREAD_UNKNOWN)
		return row->state != KTRX_THREAD_RUNNABLE
			       ? 0
			       : why_age(evidence, row->state_stamp ? row->state_stamp : thread->since);
	return thread->state == THREADS_RUNNABLE ? why_age(evidence, thread->since) : 0;
}

/*
 * Sets the thread's state to unknown if the state may have ended without an event: recording was stopped
 * after the state began, or the events that show its end were disabled.
 */
static void doubt_state(const struct why_evidence *evidence, struct why_thread *thread)
{
	const bool asleep = thread->state == THREADS_SLEEPING || thread->state == THREADS_WAITING;

	if (thread->state == THREADS_UNKNOWN || thread->state == THREADS_DEAD)
		return;
	if (!evidence->stopped &&
	    !scheduling_off(evidence->scheduling, WELLKNOWN_SWITCH, thread->since, evidence->end) &&
	    !(asleep && scheduling_off(evidence->scheduling, WELLKNOWN_WAKE, thread->since, evidence->end)))
		return;
	thread->state = THREADS_UNKNOWN;
	thread->object = thread->blocked = 0;
}

/* Is called at the end of the trace. Computes what was not known about threads and CPUs before. */
static void settle(struct why_reader *reader)
{
	struct why_evidence *evidence = reader->evidence;

	for (uint32_t n = 0; n < evidence->threads; n++) {
		struct why_thread *thread = &evidence->thread[n];

		doubt_state(evidence, thread);
		why_bound_row(evidence, thread);
		why_end_row(evidence, thread);
		why_run_row(evidence, thread);
		if (thread->state == THREADS_RUNNING)
			note_ran(evidence, thread, evidence->end);
		thread->runnable = runnable_for(evidence, thread);
		thread->interrupts = interrupts_of(evidence, thread) - thread->interrupts;
		if (thread->has_holder && thread->holder.state == KTRX_THREAD_RUNNING &&
		    thread->holder.cpu < evidence->cpus)
			evidence->cpu[thread->holder.cpu].running = thread->id;
	}
	for (uint32_t n = 0; n < evidence->cpus; n++) {
		struct why_cpu *cpu = &evidence->cpu[n];
		const struct threads_thread *on = threads_on(reader->model, n);

		if (cpu->running == UINT32_MAX && on)
			cpu->running = on->id;
		else if (cpu->running == UINT32_MAX && cpu->has_row && cpu->row.heartbeats)
			cpu->running = cpu->row.thread;
	}
}

int why_evaluate(struct why_reader *reader)
{
	struct ktread *trace = reader->evidence->trace;
	const struct ktread_event *event;
	int status = threads_create(&reader->model, on_change, reader), error = 0;

	reader->events = calloc(reader->evidence->cpus + 1, sizeof(*reader->events));
	reader->open = calloc(reader->evidence->cpus + 1, sizeof(*reader->open));
	if (status || !reader->events || !reader->open)
		return KTREAD_E_MEMORY;
	threads_learn(reader->model, reader->evidence->scheduling);
	reader->gap_stamp = all_rings_since(reader->evidence);
	while (!error && (status = ktread_next(trace, &event)) > 0)
		error = evaluate_event(reader, event);
	if (reader->evidence->cut || reader->evidence->end_unread || reader->evidence->stopped) {
		why_lock_gap(reader);
		reader->gap_stamp = reader->evidence->end;
	}
	settle(reader);
	why_wakes_settle(reader->evidence);
	if (!error)
		error = why_lock_settle(reader);
	return error ? error : status;
}
