/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Reconstructs calls: the steps of one stream become functions that are entered and left.
 *
 * A call pushes a frame. A return pops the frame whose return address matches. If no return address matches,
 * it pops the frames above the function in which execution continues. An interrupt or a system call also
 * pushes a frame. A jump to the beginning of another function replaces the frame (a tail call). longjmp()
 * pops all frames above its target. If nothing matches, the stack is emptied and gets one frame, for the
 * function that runs; the beginning of this frame is unknown.
 *
 * There is a stack for each thread, identified by its number or, if the unit does not report it, by its
 * address space. No duration is reported across a gap or an overflow, or for a frame whose beginning is
 * unknown.
 */
#ifndef FLOW_CALLS_H
#define FLOW_CALLS_H

#include <stdint.h>

#include "flow/flow.h"
#include "hwt/hwt.h"

#define FLOW_DEPTH_MOST 512u /* largest number of frames in a stack; deeper calls are only counted */
/* largest number of stacks of a stream; if there are more, the least recently used stack is dropped */
#define FLOW_STACKS_MOST 256u

enum flow_how {
	FLOW_SEEN, /* the function was already running when the trace or the stack began */
	FLOW_CALL,
	/*
	 * entered by a tail call: another function jumped to this function, which has replaced it on the
	 * stack
	 */
	FLOW_TAIL,
	FLOW_INTERRUPT,
	FLOW_KERNEL, /* entered by a system call: the function is the kernel's entry */
};

struct flow_frame {
	const struct flow_function *function;
	uint64_t begin, end; /* addresses of the function's code in memory: [begin, end) */
	uint64_t back;	     /* return address; 0: unknown */
	uint64_t since;	     /* timestamp when the function was entered; valid only if `timed` is set */
	uint64_t inside;     /* ticks spent in functions that this function called */
	uint32_t mark;	     /* for use by the sink; initially 0 */
	uint8_t how;	     /* enum flow_how */
	/* set if the steps contain the frame's beginning, and no steps have been missing since */
	uint8_t timed;
	/* set if execution was at the function's first instruction when the frame was pushed */
	uint8_t from_start;
	/*
	 * set between a call from the function to an address within the same function and the return of that
	 * call
	 */
	uint8_t inner;
};

/* Context of a callback. */
struct flow_moment {
	const struct hwt_step *step;
	const struct flow_frame *stack; /* frames of the thread, oldest first */
	/*
	 * number of frames in `stack`: for enter(), without the new frame; for leave(), without the frame
	 * that ended
	 */
	uint32_t depth;
	/* set if the sequence of instructions began in another function and continues into this one */
	uint8_t continued;
	uint32_t pid, tid;
	uint64_t space;
};

struct flow_sink {
	/* Each callback returns 0 or a negative error. A callback may be NULL. */
	int (*enter)(void *to, struct flow_frame *frame, const struct flow_moment *at);
	int (*leave)(void *to, const struct flow_frame *frame, const struct flow_moment *at);
	/*
	 * Called for a sequence of instructions in the function of the topmost frame. A sequence that
	 * continues into the next function is divided.
	 */
	int (*run)(void *to, const struct flow_frame *frame, const struct flow_moment *at);
	/*
	 * Called when all frames of the thread are dropped, because it is unknown which functions still run.
	 */
	int (*cut)(void *to, const struct flow_moment *at);
	/* Called when another thread begins to run. */
	int (*turn)(void *to, const struct flow_moment *at);
};

/* Counts of places where the reconstructed calls may be wrong. */
struct flow_doubts {
	uint64_t resyncs; /* number of times that a stack was emptied because no frame matched */
	uint64_t deeper;  /* number of calls deeper than FLOW_DEPTH_MOST */
	/* number of stacks that were dropped because there were more than FLOW_STACKS_MOST */
	uint64_t stacks;
};

struct flow_calls;

/*
 * Creates the state for one stream. `alone`: true if the threads of this stream never run in another stream,
 * so that a thread that does not run in this stream does not run at all. Returns 0 or KTREAD_E_MEMORY.
 */
int flow_calls_new(struct flow_calls **calls, struct flow_functions *functions, const struct flow_sink *sink,
		   void *to, int alone);
void flow_calls_free(struct flow_calls *calls);
/* Processes the next step. Returns 0, an error of the sink, or KTREAD_E_MEMORY. */
int flow_calls_step(struct flow_calls *calls, const struct hwt_step *step);
const struct flow_doubts *flow_calls_doubts(const struct flow_calls *calls);

/*
 * Sets *ticks to the number of ticks from the entry into the frame up to the step. Returns false if this
 * number is unknown.
 */
static inline int flow_took(const struct flow_frame *frame, const struct hwt_step *step, uint64_t *ticks)
{
	*ticks = step->stamp - frame->since;
	return frame->timed && step->has_stamp && step->stamp >= frame->since;
}

/* The stacks of a stream's threads. calls.c decides which frames they contain. */

#define FLOW_NO_FRAME UINT32_MAX

struct flow_stack {
	uint64_t key; /* number that identifies the thread or its address space */
	uint64_t used;
	struct flow_frame *frame;
	uint32_t depth, room;
	uint32_t beyond; /* number of calls above the topmost frame, which have no frames */
};

struct flow_stacks {
	struct flow_stack *stack; /* array of FLOW_STACKS_MOST elements */
	uint32_t count;
	uint32_t current;
	uint64_t turns;
};

/* Returns 0 or KTREAD_E_MEMORY. */
int flow_stacks_init(struct flow_stacks *stacks);
void flow_stacks_free(struct flow_stacks *stacks);
/*
 * Makes the stack of the thread `key` the current stack; adds an empty stack if the thread has none. Returns
 * 1 if another stack was dropped to make room, otherwise 0.
 */
int flow_stacks_turn(struct flow_stacks *stacks, uint64_t key);
/* Empties all stacks. */
void flow_stacks_forget(struct flow_stacks *stacks);

static inline struct flow_stack *flow_stacks_current(const struct flow_stacks *stacks)
{
	return &stacks->stack[stacks->current];
}

/* Returns the topmost frame, or NULL if the stack is empty. */
static inline struct flow_frame *flow_stack_top(const struct flow_stack *stack)
{
	return stack->depth ? &stack->frame[stack->depth - 1] : NULL;
}

/*
 * Returns memory for one more frame, but does not increment depth. Returns NULL if out of memory. Requires:
 * depth is less than FLOW_DEPTH_MOST.
 */
struct flow_frame *flow_stack_room(struct flow_stack *stack);

static inline int flow_frame_has(const struct flow_frame *frame, uint64_t address)
{
	return address >= frame->begin && address < frame->end;
}

/* Returns the index of the topmost frame whose return address is `address`, or FLOW_NO_FRAME. */
uint32_t flow_stack_returning_to(const struct flow_stack *stack, uint64_t address);
/*
 * Returns the index of the topmost frame below `depth` whose function contains `address`, or FLOW_NO_FRAME.
 */
uint32_t flow_stack_running(const struct flow_stack *stack, uint32_t depth, uint64_t address);

#endif
