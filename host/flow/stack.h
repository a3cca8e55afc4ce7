/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The stacks of a stream's threads: which one is in use, and frames on it. What they mean is calls.c's. */
#ifndef FLOW_STACK_H
#define FLOW_STACK_H

#include "flow/calls.h"

#define FLOW_NO_FRAME UINT32_MAX

struct flow_stack {
	uint64_t key; /* of the thread */
	uint64_t used;
	struct flow_frame *frame;
	uint32_t depth, room;
	uint32_t beyond; /* calls above the highest frame that were not kept */
};

struct flow_stacks {
	struct flow_stack *stack; /* FLOW_STACKS_MOST */
	uint32_t count;
	uint32_t current;
	uint64_t turns;
};

/* 0 or KTREAD_E_MEMORY. */
int flow_stacks_init(struct flow_stacks *stacks);
void flow_stacks_free(struct flow_stacks *stacks);
/* Makes the thread's the current one, an empty one if it has none. 1: another had to be forgotten. */
int flow_stacks_turn(struct flow_stacks *stacks, uint64_t key);
/* All are empty from here on. */
void flow_stacks_forget(struct flow_stacks *stacks);

static inline struct flow_stack *flow_stacks_current(const struct flow_stacks *stacks)
{
	return &stacks->stack[stacks->current];
}

/* NULL: empty. */
static inline struct flow_frame *flow_stack_top(const struct flow_stack *stack)
{
	return stack->depth ? &stack->frame[stack->depth - 1] : NULL;
}

/* Room for one frame more, not yet counted in depth; NULL: out of memory. Not at FLOW_DEPTH_MOST. */
struct flow_frame *flow_stack_room(struct flow_stack *stack);

static inline int flow_frame_has(const struct flow_frame *frame, uint64_t address)
{
	return address >= frame->begin && address < frame->end;
}

/* The highest frame that returns to `address`, or FLOW_NO_FRAME. */
uint32_t flow_stack_returning_to(const struct flow_stack *stack, uint64_t address);
/* The highest frame below `depth` with `address` in its function. */
uint32_t flow_stack_running(const struct flow_stack *stack, uint32_t depth, uint64_t address);

#endif
