/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The stacks of threads, and the state that views of calls share. */
#include "flow/flow.h"

#include <stdlib.h>

#include "base/grow.h"
#include "flow/views.h"
#include "ktread/ktread.h"

/* ---- The stacks of a stream's threads ---- */

int flow_stacks_init(struct flow_stacks *stacks)
{
	stacks->stack = calloc(FLOW_STACKS_MOST, sizeof(*stacks->stack));
	if (!stacks->stack)
		return KTREAD_E_MEMORY;
	stacks->count = 1;
	return 0;
}

void flow_stacks_free(struct flow_stacks *stacks)
{
	for (uint32_t n = 0; stacks->stack && n < FLOW_STACKS_MOST; n++)
		free(stacks->stack[n].frame);
	free(stacks->stack);
}

/* Returns the least recently used stack. */
static uint32_t oldest(const struct flow_stacks *stacks)
{
	uint32_t found = 0;

	for (uint32_t n = 1; n < stacks->count; n++)
		if (stacks->stack[n].used < stacks->stack[found].used)
			found = n;
	return found;
}

int flow_stacks_turn(struct flow_stacks *stacks, uint64_t key)
{
	uint32_t n = 0;
	int forgot = 0;

	flow_stacks_current(stacks)->used = ++stacks->turns;
	while (n < stacks->count && stacks->stack[n].key != key)
		n++;
	if (n == stacks->count) {
		forgot = n == FLOW_STACKS_MOST;
		n = forgot ? oldest(stacks) : stacks->count++;
		stacks->stack[n].depth = stacks->stack[n].beyond = 0;
		stacks->stack[n].key = key;
	}
	stacks->current = n;
	return forgot;
}

void flow_stacks_forget(struct flow_stacks *stacks)
{
	for (uint32_t n = 0; n < stacks->count; n++)
		stacks->stack[n].depth = stacks->stack[n].beyond = 0;
}

struct flow_frame *flow_stack_room(struct flow_stack *stack)
{
	struct flow_frame *frame =
		base_grow(stack->frame, &stack->room, (size_t)stack->depth + 1, sizeof(*frame));

	if (!frame)
		return NULL;
	stack->frame = frame;
	return &frame[stack->depth];
}

uint32_t flow_stack_returning_to(const struct flow_stack *stack, uint64_t address)
{
	for (uint32_t n = stack->depth; n > 0; n--)
		if (stack->frame[n - 1].back == address && address != 0)
			return n - 1;
	return FLOW_NO_FRAME;
}

uint32_t flow_stack_running(const struct flow_stack *stack, uint32_t depth, uint64_t address)
{
	for (uint32_t n = depth; n > 0; n--)
		if (flow_frame_has(&stack->frame[n - 1], address))
			return n - 1;
	return FLOW_NO_FRAME;
}

/* ---- Shared by views of calls ---- */

int flow_is_alone(const struct flow *flow, const struct hwt_stream *stream)
{
	return stream->context.mode == KTRX_HWT_MODE_THREAD || hwt_file_streams(flow->file) == 1;
}

int flow_call_view_begin(struct flow_call_view *view, const struct hwt_stream *stream,
			 const struct flow_sink *sink, void *to)
{
	flow_call_view_end(view);
	return flow_calls_new(&view->calls, view->flow->functions, sink, to,
			      flow_is_alone(view->flow, stream));
}

void flow_call_view_end(struct flow_call_view *view)
{
	const struct flow_doubts *doubts;

	if (!view->calls)
		return;
	doubts = flow_calls_doubts(view->calls);
	view->doubts.resyncs += doubts->resyncs;
	view->doubts.deeper += doubts->deeper;
	view->doubts.stacks += doubts->stacks;
	flow_calls_free(view->calls);
	view->calls = NULL;
}
