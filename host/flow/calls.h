/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Who called whom: steps of one stream become functions that are entered and left.
 *
 * Calls push a frame, returns take away the one that they return from; which one that is, the return address
 * says, and where it fits none, the code that is returned to. An interrupt or a system call is a frame, too.
 * A jump to another function's beginning takes the place of the frame (a tail call); longjmp() takes away all
 * down to where it goes. What fits nothing that is known begins anew, from a frame whose beginning was not
 * seen.
 *
 * Each thread has a stack, by its number, or by its address space where the unit tells no more. No duration
 * is ever told across a gap or an overflow, nor of a frame whose beginning was not seen.
 */
#ifndef FLOW_CALLS_H
#define FLOW_CALLS_H

#include <stdint.h>

#include "flow/flow.h"
#include "hwt/hwt.h"

#define FLOW_DEPTH_MOST	 512u /* frames of a stack; deeper calls are counted */
#define FLOW_STACKS_MOST 256u /* of a stream; then the one that was not used for longest is forgotten */

enum flow_how {
	FLOW_SEEN, /* it was running already */
	FLOW_CALL,
	FLOW_TAIL, /* in place of the one that jumped here */
	FLOW_INTERRUPT,
	FLOW_KERNEL, /* by a system call */
};

struct flow_frame {
	const struct flow_function *function;
	uint64_t begin, end; /* of its code in memory */
	uint64_t back;	     /* where it returns to; 0: unknown */
	uint64_t since;	     /* stamp of its beginning, if timed */
	uint64_t inside;     /* ticks in what it called */
	uint32_t mark;	     /* the sink's own; 0 at first */
	uint8_t how;	     /* enum flow_how */
	uint8_t timed;	     /* its beginning was seen, and nothing since is missing */
	uint8_t from_start;  /* the thread was at the function's first instruction then */
	uint8_t inner;	     /* it has called a place within itself, which has not returned */
};

/* Where something happens. */
struct flow_moment {
	const struct hwt_step *step;
	const struct flow_frame *stack; /* of the thread, lowest first */
	uint32_t depth;			/* frames on it: before it is entered, after it is left */
	uint8_t continued;		/* a run that began in another function has gone on into this one */
	uint32_t pid, tid;
	uint64_t space;
};

struct flow_sink {
	/* Each 0 or a negative error; NULL: not wanted. */
	int (*enter)(void *to, struct flow_frame *frame, const struct flow_moment *at);
	int (*leave)(void *to, const struct flow_frame *frame, const struct flow_moment *at);
	/* A run in the frame on top, or in the part of it that belongs to that function. */
	int (*run)(void *to, const struct flow_frame *frame, const struct flow_moment *at);
	/* All of the thread's frames are forgotten, as what became of them is not known. */
	int (*cut)(void *to, const struct flow_moment *at);
	/* Another thread goes on. */
	int (*turn)(void *to, const struct flow_moment *at);
};

/* How often rules had to be bent. */
struct flow_doubts {
	uint64_t resyncs; /* frames begun anew, as nothing fitted */
	uint64_t deeper;  /* calls beyond FLOW_DEPTH_MOST */
	uint64_t stacks;  /* forgotten, beyond FLOW_STACKS_MOST */
};

struct flow_calls;

/*
 * `alone`: threads of this stream run nowhere else, so that what they do between two turns is known. 0 or
 * KTREAD_E_MEMORY.
 */
int flow_calls_new(struct flow_calls **calls, struct flow_functions *functions, const struct flow_sink *sink,
		   void *to, int alone);
void flow_calls_free(struct flow_calls *calls);
/* Takes the next step. 0, or what the sink or memory said. */
int flow_calls_step(struct flow_calls *calls, const struct hwt_step *step);
const struct flow_doubts *flow_calls_doubts(const struct flow_calls *calls);

/* The ticks that a frame has taken up to `step`; false: not known. */
static inline int flow_took(const struct flow_frame *frame, const struct hwt_step *step, uint64_t *ticks)
{
	*ticks = step->stamp - frame->since;
	return frame->timed && step->has_stamp && step->stamp >= frame->since;
}

/* The stacks of a stream's threads: which one is in use, and frames on it. What they mean is calls.c's. */

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
