/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Finds out why threads end. A thread may be ended by another thread: by a signal, or because the other
 * thread ends the process, causes a fault or runs another program. Then the last calls of the ended thread
 * depend on timing. If a thread ends itself, or ends because of its own fault, its last calls are the same in
 * each run. So the comparison finds out which of these two cases applies to a thread.
 */
#include <string.h>

#include "diff/trace.h"

/* maximum number of calls that a thread may begin after another thread began to end it */
#define LATE_MOST    8u
#define CLONE_THREAD UINT64_C(0x10000)

/*
 * Returns whether a fault, or a call of the thread itself, causes this signal. Signals have the numbers of
 * Linux or of the BSDs.
 */
static bool is_synchronous(uint32_t number)
{
	/* SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGPIPE, SIGXFSZ, SIGSYS */
	static const uint8_t numbers[] = { 4, 5, 6, 7, 8, 11, 13, 25, 31 };

	for (size_t n = 0; n < sizeof(numbers); n++)
		if (number == numbers[n])
			return true;
	return false;
}

/*
 * Returns whether no fault causes this signal. Knows only signals that have the same number on all systems.
 */
static bool is_from_outside(uint32_t number)
{
	/* SIGHUP, SIGINT, SIGQUIT, SIGKILL, SIGALRM, SIGTERM */
	static const uint8_t numbers[] = { 1, 2, 3, 9, 14, 15 };

	for (size_t n = 0; n < sizeof(numbers); n++)
		if (number == numbers[n])
			return true;
	return false;
}

void diff_end_signal(struct diff_thread *thread, uint32_t number, uint64_t arrived, bool by_other)
{
	thread->signal = number;
	thread->arrived = arrived;
	thread->sent = by_other ? arrived : 0;
}

void diff_end_process(struct diff_trace *trace, uint32_t thread, uint64_t stamp)
{
	struct diff_thread *first = &trace->thread[trace->thread[thread].process];

	first->exit[first->exits++ % DIFF_EXITS] = stamp;
}

void diff_end_child(struct diff_trace *trace, uint32_t parent, uint32_t child, const struct diff_step *step)
{
	const char *name = trace->kind[step->kind].name;
	/* The first argument of clone() is its flags. */
	const bool clones = strcmp(name, "clone") == 0 && step->values > 0 &&
			    step->form[0] == DIFF_FORM_NUMBER && trace->value[step->value] & CLONE_THREAD;

	if (child != DIFF_NONE && (clones || diff_shares_process(name)))
		trace->thread[child].process = trace->thread[parent].process;
}

/* If the last signal that a thread got was sent by this call, stores when the call sent the signal. */
static void find_kill(struct diff_trace *trace, const struct diff_step *step)
{
	const uint8_t place = trace->kind[step->kind].kills;
	struct diff_thread *thread;
	uint32_t target;
	uint64_t id;

	if (place == 0 || step->values <= place || step->result_form == DIFF_FORM_ERROR)
		return;
	id = trace->value[step->value + place - 1];
	target = id > 0 && id < DIFF_NONE ? diff_trace_find(trace, (uint32_t)id) : DIFF_NONE;
	if (target == DIFF_NONE || target == step->thread)
		return;
	thread = &trace->thread[target];
	if (thread->signal && thread->signal == trace->value[step->value + place] &&
	    step->stamp <= thread->seen && step->stamp > thread->sent)
		thread->sent = step->stamp;
}

void diff_ends_find(struct diff_trace *trace)
{
	bool exits_thread = !trace->trace; /* `exit` ends only the thread, as on Linux */

	for (uint32_t n = 0; n < trace->kinds; n++)
		exits_thread |= strcmp(trace->kind[n].name, "exit_group") == 0;
	for (uint32_t n = 0; n < trace->steps; n++) {
		const struct diff_step *step = &trace->step[n];
		const struct diff_kind *kind = &trace->kind[step->kind];

		find_kill(trace, step);
		if (kind->exits && step->result_form != DIFF_FORM_ERROR &&
		    (!exits_thread || strcmp(kind->name, "exit") != 0))
			diff_end_process(trace, step->thread, step->stamp);
	}
	for (uint32_t n = 0; n < trace->threads; n++) {
		const struct diff_thread *thread = &trace->thread[n];

		if (thread->ended && thread->arrived && is_synchronous(thread->signal))
			diff_end_process(trace, n, thread->arrived);
	}
}

/* Returns whether a fault of another thread of the process has ended the thread. */
static bool has_others_fault(const struct diff_thread *thread)
{
	return is_synchronous(thread->signal) && thread->arrived == 0;
}

/*
 * Returns whether a thread ended soon after a timestamp: it began at most LATE_MOST calls after that
 * timestamp.
 */
static bool ends_soon_after(const struct diff_trace *trace, const struct diff_thread *thread, uint64_t stamp)
{
	uint32_t calls = 0;

	if (stamp == 0 || stamp > thread->seen)
		return false;
	for (uint32_t n = thread->steps; n > 0 && calls <= LATE_MOST; n--) {
		const struct diff_step *step = diff_step_of(trace, thread, n - 1);

		if (step->stamp <= stamp)
			break;
		calls += trace->kind[step->kind].call;
	}
	return calls <= LATE_MOST;
}

/*
 * Returns whether the last call of a thread sends a signal. The thread may have sent this signal to itself.
 */
static bool sends_last(const struct diff_trace *trace, const struct diff_thread *thread)
{
	for (uint32_t n = thread->steps; n > 0; n--) {
		const struct diff_kind *kind = &trace->kind[diff_step_of(trace, thread, n - 1)->kind];

		if (kind->call)
			return kind->kills != 0;
	}
	return false;
}

enum diff_end diff_end_of(const struct diff_trace *trace, const struct diff_thread *thread)
{
	const struct diff_thread *first = &trace->thread[thread->process];

	if (!thread->ended || thread->leaves || (is_synchronous(thread->signal) && !has_others_fault(thread)))
		return DIFF_END_ITSELF;
	if (thread->signal == 0 || has_others_fault(thread))
		for (uint32_t n = 0; n < DIFF_EXITS; n++)
			if (ends_soon_after(trace, thread, first->exit[n]))
				return DIFF_END_BY_OTHER;
	/* A signal for a process ends all its threads. */
	if (ends_soon_after(trace, thread, thread->sent) ||
	    (first->ended && first->signal == thread->signal && ends_soon_after(trace, thread, first->sent)))
		return DIFF_END_BY_OTHER;
	return is_from_outside(thread->signal) && !sends_last(trace, thread) ? DIFF_END_BY_SIGNAL
									     : DIFF_END_ITSELF;
}
