/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Finds calls that transfer one block of data in several parts. Each call requests the bytes that the
 * previous call has not transferred. The number of parts depends on timing.
 */
#include "diff/trace.h"

#define SIZE 2u /* index of the argument that is the number of bytes */

/* The parts of a transfer that have been found so far. */
struct transfer {
	bool begun;		 /* true if the last call is a part of a transfer */
	struct diff_step *first; /* the first part; NULL if the next call cannot be another part */
	uint64_t stamp;		 /* timestamp of the last part */
	uint64_t left;		 /* number of bytes that no part has transferred yet */
	uint64_t inside[DIFF_RECENT];
	uint32_t insides;
};

static uint64_t value_of(const struct diff_trace *trace, const struct diff_step *step, uint32_t n)
{
	return n < step->values ? trace->value[step->value + n] : UINT64_MAX;
}

/* Returns whether a call has transferred only a part of the bytes that it requested. */
static bool is_part(const struct diff_trace *trace, const struct diff_step *step)
{
	return trace->kind[step->kind].transfer && step->result_form == DIFF_FORM_NUMBER &&
	       step->values > SIZE && step->form[SIZE] == DIFF_FORM_NUMBER && step->result > 0 &&
	       step->result < value_of(trace, step, SIZE);
}

/*
 * Returns whether a call requests the rest of the transfer. A call that has not returned may be the last
 * part.
 */
static bool continues(const struct diff_trace *trace, const struct transfer *transfer,
		      const struct diff_step *step)
{
	const bool moves = step->result_form == DIFF_FORM_NUMBER && step->result > 0;

	return transfer->first && step->key == transfer->first->key &&
	       (moves || step->result_form == DIFF_FORM_UNKNOWN) &&
	       value_of(trace, step, 0) == value_of(trace, transfer->first, 0) &&
	       value_of(trace, step, SIZE) == transfer->left &&
	       !diff_trace_gap_between(trace, transfer->stamp, step->stamp);
}

/* Adds a part to a transfer. Sets the duration of the transfer to unknown. */
static void add_part(const struct diff_trace *trace, struct transfer *transfer, const struct diff_step *step)
{
	struct diff_step *first = transfer->first;

	first->took = 0;
	first->result += step->result;
	transfer->stamp = step->stamp;
	transfer->left -= step->result;
	if (step->result_form == DIFF_FORM_UNKNOWN)
		first->result_form = DIFF_FORM_UNKNOWN;
	if (!is_part(trace, step))
		transfer->first = NULL;
}

/* Returns whether an event within the transfer is equal to an event of an earlier part. */
static bool is_repeated(struct transfer *transfer, const struct diff_step *step)
{
	for (uint32_t n = 0; n < transfer->insides && n < DIFF_RECENT; n++)
		if (transfer->inside[n] == step->key)
			return true;
	transfer->inside[transfer->insides++ % DIFF_RECENT] = step->key;
	return false;
}

static void join_thread(struct diff_trace *trace, struct diff_thread *thread)
{
	struct transfer transfer = { .begun = false };
	uint32_t *order = &trace->order[thread->first];
	uint32_t kept = 0;

	for (uint32_t n = 0; n < thread->steps; n++) {
		struct diff_step *step = &trace->step[order[n]];
		const bool call = trace->kind[step->kind].call;

		if (call ? continues(trace, &transfer, step)
			 : step->inside && transfer.begun && is_repeated(&transfer, step)) {
			if (call)
				add_part(trace, &transfer, step);
			trace->noise[DIFF_NOISE_LOOP]++;
			continue;
		}
		order[kept++] = order[n];
		if (!call)
			continue;
		transfer.begun = is_part(trace, step);
		transfer.first = transfer.begun ? step : NULL;
		transfer.stamp = step->stamp;
		transfer.left = transfer.begun ? value_of(trace, step, SIZE) - step->result : 0;
		transfer.insides = 0;
	}
	thread->steps = kept;
}

void diff_transfers_join(struct diff_trace *trace)
{
	for (uint32_t n = 0; n < trace->threads; n++)
		join_thread(trace, &trace->thread[n]);
}
