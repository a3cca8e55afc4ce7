/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Calls that a program makes again after a pause because they have failed, such as an open() that fails while
 * another program has the lock file. The number of failed tries depends on time.
 */
#include <string.h>

#include "diff/trace.h"

#define TRY_MOST 16u /* steps of a try and the pause after it */

static bool is_wait(const char *name)
{
	return strcmp(name, "wait4") == 0 || strcmp(name, "waitpid") == 0;
}

/* Returns whether a call has failed. If wait4() does not block, its result is 0 until the process ends. */
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

/* Returns whether two steps are the same call, with the same arguments as far as they can be compared. */
static bool is_same_call(const struct diff_trace *trace, const struct diff_step *first,
			 const struct diff_step *second)
{
	if (first->key != second->key || first->values != second->values)
		return false;
	for (uint8_t n = 0; n < first->values; n++)
		if (first->form[n] != DIFF_FORM_OPAQUE &&
		    trace->value[first->value + n] != trace->value[second->value + n])
			return false;
	return true;
}

/*
 * Returns the place of the step at which the call at place `from` is made again, if it has failed and the
 * last call before that is a pause; otherwise returns `from`.
 */
static uint32_t next_try(const struct diff_trace *trace, const struct diff_thread *thread, uint32_t from)
{
	const struct diff_step *first = diff_step_of(trace, thread, from);
	bool paused = false;

	if (!has_failed(trace, first))
		return from;
	for (uint32_t n = from + 1; n < thread->steps && n <= from + TRY_MOST; n++) {
		const struct diff_step *step = diff_step_of(trace, thread, n);

		if (!trace->kind[step->kind].call)
			continue;
		if (is_same_call(trace, first, step))
			return paused && !diff_trace_gap_between(trace, first->stamp, step->stamp) ? n : from;
		paused = trace->kind[step->kind].pauses;
	}
	return from;
}

static void drop_of_thread(struct diff_trace *trace, struct diff_thread *thread)
{
	uint32_t *order = &trace->order[thread->first];
	uint32_t kept = 0;

	for (uint32_t n = 0; n < thread->steps;) {
		const uint32_t next = next_try(trace, thread, n);

		trace->noise[DIFF_NOISE_LOOP] += next - n;
		if (next == n)
			order[kept++] = order[n++];
		else
			n = next;
	}
	thread->steps = kept;
}

void diff_retries_drop(struct diff_trace *trace)
{
	for (uint32_t n = 0; n < trace->threads; n++)
		drop_of_thread(trace, &trace->thread[n]);
}
