/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Finds calls that failed and that the program repeats after a sleep, such as an open() that fails while
 * another program has the lock file. The number of failed attempts depends on timing, so they are not
 * compared. Other calls between the attempts are compared as usual.
 */
#include <string.h>

#include "diff/trace.h"

#define TRY_MOST 16u /* maximum number of steps in an attempt and the sleep that follows it */

static bool is_wait(const char *name)
{
	return strcmp(name, "wait4") == 0 || strcmp(name, "waitpid") == 0;
}

/*
 * Returns whether a call failed. A wait4() that returned 0 counts as failed: with WNOHANG, 0 means that the
 * child still runs.
 */
static bool has_failed(const struct diff_trace *trace, const struct diff_step *step)
{
	const struct diff_kind *kind = &trace->kind[step->kind];

	if (!kind->call || step->interrupted)
		return false;
	if (step->result_form == DIFF_FORM_ERROR)
		return true;
	return (step->result_form == DIFF_FORM_NUMBER || step->result_form == DIFF_FORM_PROCESS) &&
	       step->result == 0 && is_wait(kind->name);
}

/* Returns whether a step is a call that only waited until some time had passed. */
static bool is_pause(const struct diff_trace *trace, const struct diff_step *step)
{
	const struct diff_kind *kind = &trace->kind[step->kind];

	if (kind->poll)
		return step->result_form == DIFF_FORM_NUMBER && step->result == 0;
	return kind->pauses && (step->result_form != DIFF_FORM_ERROR || step->interrupted);
}

/*
 * Returns whether two steps are the same call with the same arguments. In output of strace, the data to which
 * pointers point must be the same; in other traces, the pointers.
 */
static bool is_same_call(const struct diff_trace *trace, const struct diff_step *first,
			 const struct diff_step *second)
{
	if (first->key != second->key || first->values != second->values || trace->kind[first->kind].hidden)
		return false;
	for (uint8_t n = 0; n < first->values; n++)
		if (first->form[n] != second->form[n] ||
		    trace->value[first->value + n] != trace->value[second->value + n])
			return false;
	return true;
}

/*
 * Returns the index of the first step after the call at index `from` and the events that were recorded during
 * that call.
 */
static uint32_t end_of_call(const struct diff_trace *trace, const struct diff_thread *thread, uint32_t from)
{
	uint32_t n = from + 1;

	while (n < thread->steps && n <= from + TRY_MOST && diff_step_of(trace, thread, n)->inside)
		n++;
	return n;
}

/*
 * Returns whether all events that were recorded during the call at index `from` were also recorded during the
 * call at index `again`.
 */
static bool records_the_same(const struct diff_trace *trace, const struct diff_thread *thread, uint32_t from,
			     uint32_t again)
{
	const uint32_t ends = end_of_call(trace, thread, from), last = end_of_call(trace, thread, again);

	for (uint32_t n = from + 1; n < ends; n++) {
		uint32_t like = again + 1;

		while (like < last &&
		       diff_step_of(trace, thread, like)->key != diff_step_of(trace, thread, n)->key)
			like++;
		if (like >= last)
			return false;
	}
	return true;
}

static void drop_call(const struct diff_trace *trace, const struct diff_thread *thread, uint32_t from)
{
	const uint32_t end = end_of_call(trace, thread, from);

	for (uint32_t n = from; n < end; n++)
		trace->step[trace->order[thread->first + n]].dropped = true;
}

/*
 * If the call at index `from` failed and is repeated after a sleep, drops that call and the sleeps directly
 * before the next attempt.
 */
static void drop_try(const struct diff_trace *trace, const struct diff_thread *thread, uint32_t from)
{
	const struct diff_step *first = diff_step_of(trace, thread, from);
	uint32_t pause = from, n;

	if (!has_failed(trace, first))
		return;
	for (n = from + 1; n < thread->steps && n <= from + TRY_MOST; n++) {
		const struct diff_step *step = diff_step_of(trace, thread, n);

		if (!trace->kind[step->kind].call)
			continue;
		if (is_same_call(trace, first, step))
			break;
		if (!is_pause(trace, step))
			pause = from;
		else if (pause == from)
			pause = n;
	}
	if (n >= thread->steps || n > from + TRY_MOST || pause == from ||
	    !records_the_same(trace, thread, from, n) ||
	    diff_trace_gap_between(trace, first->stamp, diff_step_of(trace, thread, n)->stamp))
		return;
	drop_call(trace, thread, from);
	for (; pause < n; pause++)
		if (trace->kind[diff_step_of(trace, thread, pause)->kind].call)
			drop_call(trace, thread, pause);
}

static void drop_of_thread(struct diff_trace *trace, struct diff_thread *thread)
{
	uint32_t *order = &trace->order[thread->first];
	uint32_t kept = 0;

	for (uint32_t n = 0; n < thread->steps; n++)
		drop_try(trace, thread, n);
	for (uint32_t n = 0; n < thread->steps; n++) {
		if (trace->step[order[n]].dropped)
			trace->noise[DIFF_NOISE_LOOP]++;
		else
			order[kept++] = order[n];
	}
	thread->steps = kept;
}

void diff_retries_drop(struct diff_trace *trace)
{
	for (uint32_t n = 0; n < trace->threads; n++)
		drop_of_thread(trace, &trace->thread[n]);
}
