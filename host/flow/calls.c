/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Reconstructs calls from the steps of a stream; flow.h describes how. */
#include "flow/flow.h"

#include <stdlib.h>

#include "ktread/ktread.h"

/* bit in the key of a stack: set if the key is a thread, clear if it is an address space */
#define BY_THREAD   (UINT64_C(1) << 63)
#define LEAVES_KEPT 8u

/* The way in which execution reaches the next address. */
enum way {
	WAY_STRAIGHT,
	/*
	 * unknown: if the next address is the address of the next instruction, there was no branch, otherwise
	 * a branch of any kind
	 */
	WAY_UNKNOWN,
	WAY_CALL,
	WAY_RETURN,
	WAY_JUMP,
	WAY_INDIRECT,
	WAY_INTERRUPT,
	WAY_ENTER,
	WAY_LEAVE,
	WAY_RESUME, /* untraced code ran before the next address */
};

static const uint8_t way_of[] = {
	[HWT_BRANCH_NONE] = WAY_UNKNOWN,       [HWT_BRANCH_CALL] = WAY_CALL,
	[HWT_BRANCH_RETURN] = WAY_RETURN,      [HWT_BRANCH_JUMP] = WAY_JUMP,
	[HWT_BRANCH_CONDITIONAL] = WAY_JUMP,   [HWT_BRANCH_INDIRECT] = WAY_INDIRECT,
	[HWT_BRANCH_INDIRECT_CALL] = WAY_CALL, [HWT_BRANCH_ENTER_KERNEL] = WAY_ENTER,
	[HWT_BRANCH_LEAVE_KERNEL] = WAY_LEAVE,
};

struct flow_calls {
	struct flow_functions *functions;
	struct flow_sink sink;
	void *to;
	int alone;
	struct flow_stacks stacks;
	struct flow_doubts doubts;
	const struct hwt_step *step;
	enum way way;
	/* address after the last instruction; for an interrupt, the address that was interrupted */
	uint64_t after;
	/*
	 * Used only for WAY_RESUME: how execution would have continued without the untraced code. `before` is
	 * the way to the next address, and `next` is that address, valid if has_next is set.
	 */
	enum way before;
	uint8_t has_next;
	uint64_t next;
	/*
	 * Addresses of the exception return instructions that left the kernel; a kernel has only a few such
	 * instructions.
	 */
	uint64_t leaves[LEAVES_KEPT];
	uint32_t leaves_seen;
};

static int arrive(struct flow_calls *calls, uint64_t address);

/* ---- Calling the sink ---- */

static struct flow_moment moment_of(const struct flow_calls *calls, const struct flow_stack *stack)
{
	const uint64_t key = stack->key;

	return (struct flow_moment){
		.step = calls->step,
		.stack = stack->frame,
		.depth = stack->depth,
		.pid = calls->step->pid,
		.tid = key & BY_THREAD ? (uint32_t)key : 0,
		.space = key & BY_THREAD ? calls->step->space : key,
	};
}

static int push(struct flow_calls *calls, const struct flow_spot *spot, enum flow_how how, uint64_t back)
{
	struct flow_stack *stack = flow_stacks_current(&calls->stacks);
	struct flow_moment at;
	struct flow_frame *frame;
	int status = 0;

	if (stack->depth == FLOW_DEPTH_MOST) {
		stack->beyond++;
		calls->doubts.deeper++;
		return 0;
	}
	frame = flow_stack_room(stack);
	if (!frame)
		return KTREAD_E_MEMORY;
	*frame = (struct flow_frame){
		.function = spot->function,
		.begin = spot->begin,
		.end = spot->end,
		.from_start = spot->at_start,
		.back = back,
		.since = calls->step->stamp,
		.how = (uint8_t)how,
		.timed = how != FLOW_SEEN && calls->step->has_stamp,
	};
	at = moment_of(calls, stack);
	if (calls->sink.enter)
		status = calls->sink.enter(calls->to, frame, &at);
	stack->depth++;
	return status;
}

static int push_at(struct flow_calls *calls, uint64_t address, enum flow_how how, uint64_t back)
{
	struct flow_spot spot;
	int status =
		flow_functions_at(calls->functions, calls->step->pid, calls->step->stamp, address, &spot);

	return status < 0 ? status : push(calls, &spot, how, back);
}

/*
 * Pops frames until `depth` frames are left. If `certain` is 0, it is unknown when the popped frames ended.
 */
static int pop_to(struct flow_calls *calls, uint32_t depth, int certain)
{
	struct flow_stack *stack = flow_stacks_current(&calls->stacks);
	int status = 0;

	while (stack->depth > depth && status == 0) {
		struct flow_frame *frame = &stack->frame[--stack->depth];
		struct flow_moment at = moment_of(calls, stack);
		uint64_t ticks;

		frame->timed = frame->timed && certain;
		if (flow_took(frame, calls->step, &ticks) && stack->depth > 0)
			frame[-1].inside += ticks;
		if (calls->sink.leave)
			status = calls->sink.leave(calls->to, frame, &at);
	}
	stack->beyond = 0;
	return status;
}

static int cut(struct flow_calls *calls, struct flow_stack *stack)
{
	struct flow_moment at = moment_of(calls, stack);
	int status = calls->sink.cut && stack->depth ? calls->sink.cut(calls->to, &at) : 0;

	stack->depth = stack->beyond = 0;
	return status;
}

static void forget_stacks(struct flow_calls *calls);

static int cut_all(struct flow_calls *calls)
{
	int status = 0;

	for (uint32_t n = 0; n < calls->stacks.count && status == 0; n++)
		status = cut(calls, &calls->stacks.stack[n]);
	forget_stacks(calls);
	return status;
}

/*
 * Empties the stack if no frame matches, and pushes a frame for the function that runs. The functions that
 * called it are unknown.
 */
static int restart(struct flow_calls *calls, uint64_t address)
{
	struct flow_stack *stack = flow_stacks_current(&calls->stacks);
	int status = 0;

	if (stack->depth) {
		calls->doubts.resyncs++;
		status = cut(calls, stack);
	}
	return status < 0 ? status : push_at(calls, address, FLOW_SEEN, 0);
}

/* ---- Ways to an address ------------------------------------------------------------------------ */

/* Handles a jump, or execution that continues with the next instruction. */
static int moved(struct flow_calls *calls, uint64_t address, int indirect)
{
	struct flow_stack *stack = flow_stacks_current(&calls->stacks);
	struct flow_frame *top = flow_stack_top(stack);
	struct flow_spot spot;
	uint64_t back;
	uint8_t inner;
	uint32_t n;
	int status;

	if (stack->beyond)
		return 0;
	if (!top)
		return restart(calls, address);
	if (flow_frame_has(top, address))
		return 0;
	n = indirect ? flow_stack_running(stack, stack->depth - 1, address) : FLOW_NO_FRAME;
	/* longjmp() to a function further down the stack */
	if (n != FLOW_NO_FRAME && address != stack->frame[n].begin)
		return pop_to(calls, n + 1, 1);
	status = flow_functions_at(calls->functions, calls->step->pid, calls->step->stamp, address, &spot);
	if (status < 0)
		return status;
	if (flow_same_function(spot.function, top->function)) {
		top->begin = spot.begin;
		top->end = spot.end;
		return 0;
	}
	back = top->back;
	inner = top->inner;
	status = pop_to(calls, stack->depth - 1, 1);
	if (status == 0)
		status = push(calls, &spot, FLOW_TAIL, back);
	if (status == 0 && inner && !stack->beyond)
		flow_stack_top(stack)->inner = 1;
	return status;
}

/*
 * Handles a call. A call into the middle of the calling function is not a call of another function: a
 * retpoline makes such a call, replaces the return address, and uses a return instruction to jump to the new
 * address.
 */
static int called(struct flow_calls *calls, uint64_t address)
{
	const struct flow_stack *stack = flow_stacks_current(&calls->stacks);
	struct flow_frame *top = stack->beyond ? NULL : flow_stack_top(stack);

	if (!top || !top->function->name || !flow_frame_has(top, address) || address == top->begin)
		return push_at(calls, address, FLOW_CALL, calls->after);
	top->inner = 1;
	return 0;
}

static int returned(struct flow_calls *calls, uint64_t address)
{
	struct flow_stack *stack = flow_stacks_current(&calls->stacks);
	uint32_t n = flow_stack_returning_to(stack, address);
	struct flow_frame *top = flow_stack_top(stack);
	int status;

	if (stack->beyond) {
		stack->beyond--;
		return 0;
	}
	if (n == FLOW_NO_FRAME && top && top->inner) {
		top->inner = 0;
		return moved(calls, address, 1);
	}
	if (n != FLOW_NO_FRAME) {
		status = pop_to(calls, n, 1);
		return status < 0 ? status : moved(calls, address, 0);
	}
	if (stack->depth) {
		status = pop_to(calls, stack->depth - 1, 0);
		if (status < 0)
			return status;
	}
	n = flow_stack_running(stack, stack->depth, address);
	return n != FLOW_NO_FRAME ? pop_to(calls, n + 1, 0) : restart(calls, address);
}

/* Handles a branch whose kind the decoder does not report. */
static int branched(struct flow_calls *calls, uint64_t address)
{
	const struct flow_stack *stack = flow_stacks_current(&calls->stacks);
	struct flow_spot spot;
	int status;

	if (address == calls->after)
		return moved(calls, address, 0);
	if (flow_stack_returning_to(stack, address) != FLOW_NO_FRAME)
		return returned(calls, address);
	status = flow_functions_at(calls->functions, calls->step->pid, calls->step->stamp, address, &spot);
	if (status < 0)
		return status;
	return spot.function->name && spot.begin == address ? push(calls, &spot, FLOW_CALL, calls->after)
							    : moved(calls, address, 1);
}

/*
 * Handles code at which tracing begins. If it is the beginning of a function, that function has just been
 * entered.
 */
static int entered(struct flow_calls *calls, uint64_t address)
{
	struct flow_spot spot;
	int status =
		flow_functions_at(calls->functions, calls->step->pid, calls->step->stamp, address, &spot);

	if (status < 0)
		return status;
	if (!spot.function->name || spot.begin != address)
		return restart(calls, address);
	return push(calls, &spot, FLOW_CALL, calls->has_next ? calls->next : 0);
}

/*
 * Handles the first address after untraced code: filtered-out code, a system call, a signal handler, or
 * another thread.
 */
static int resumed(struct flow_calls *calls, uint64_t address)
{
	struct flow_stack *stack = flow_stacks_current(&calls->stacks);
	const struct flow_frame *top = flow_stack_top(stack);
	uint32_t n;

	if (calls->has_next && calls->next == address) {
		calls->way = calls->before;
		return arrive(calls, address);
	}
	if (calls->after == address &&
	    (calls->before == WAY_CALL || calls->before == WAY_ENTER || calls->before == WAY_INTERRUPT))
		return top ? 0 : entered(calls, address);
	if (top && flow_frame_has(top, address) && address != top->begin)
		return 0;
	n = flow_stack_returning_to(stack, address);
	if (n != FLOW_NO_FRAME)
		return pop_to(calls, n, 1);
	n = flow_stack_running(stack, stack->depth, address);
	if (n != FLOW_NO_FRAME && address != stack->frame[n].begin)
		return pop_to(calls, n + 1, 0);
	/*
	 * The top frame belongs to a tail call to untraced code. The return of the called function was not
	 * traced, so the frame ends here.
	 */
	if (top && top->how == FLOW_TAIL && calls->before == WAY_INTERRUPT && calls->after == top->begin) {
		int status = pop_to(calls, stack->depth - 1, 0);

		if (status < 0)
			return status;
	}
	return entered(calls, address);
}

static int arrive(struct flow_calls *calls, uint64_t address)
{
	const enum way way = calls->way;

	calls->way = WAY_STRAIGHT;
	switch (way) {
	case WAY_CALL:
		return called(calls, address);
	case WAY_ENTER:
		return push_at(calls, address, FLOW_KERNEL, calls->after);
	case WAY_INTERRUPT:
		return push_at(calls, address, FLOW_INTERRUPT, calls->after);
	case WAY_LEAVE:
		/*
		 * the kernel uses an exception return to the next instruction only to serialize the CPU, so
		 * execution stays in the same function
		 */
		if (address == calls->after)
			break;
		return returned(calls, address);
	case WAY_RETURN:
		return returned(calls, address);
	case WAY_UNKNOWN:
		return branched(calls, address);
	case WAY_RESUME:
		return resumed(calls, address);
	case WAY_JUMP:
	case WAY_INDIRECT:
	case WAY_STRAIGHT:
		break;
	}
	return moved(calls, address, way == WAY_INDIRECT);
}

/* ---- Handling steps ---------------------------------------------------------------------------- */

/* Makes the next step independent of earlier steps, except for the address that the step `off` reports. */
static void reset(struct flow_calls *calls, enum way before, const struct hwt_step *off)
{
	calls->way = WAY_RESUME;
	calls->before = before;
	calls->has_next = off && off->has_address;
	calls->next = off ? off->address : 0;
}

/* Empties all stacks, and makes the next step independent of earlier steps. */
static void forget_stacks(struct flow_calls *calls)
{
	flow_stacks_forget(&calls->stacks);
	reset(calls, WAY_STRAIGHT, NULL);
}

static uint64_t key_of(const struct hwt_step *step)
{
	return step->tid ? BY_THREAD | step->tid : step->space;
}

/* Makes the step's thread the current one. */
static int turn(struct flow_calls *calls)
{
	struct flow_stack *stack = flow_stacks_current(&calls->stacks);
	const uint64_t key = key_of(calls->step);
	struct flow_moment at;

	if (key == 0 || key == stack->key)
		return 0;
	/* the unit reports only now which thread runs */
	if (stack->key == 0 && calls->stacks.count == 1) {
		stack->key = key;
		return 0;
	}
	for (uint32_t n = 0; n < stack->depth && !calls->alone; n++)
		stack->frame[n].timed = 0;
	calls->doubts.stacks += (uint64_t)flow_stacks_turn(&calls->stacks, key);
	if (calls->way != WAY_RESUME)
		reset(calls, WAY_STRAIGHT, NULL);
	at = moment_of(calls, flow_stacks_current(&calls->stacks));
	return calls->sink.turn ? calls->sink.turn(calls->to, &at) : 0;
}

static int report_run(struct flow_calls *calls, int continued)
{
	const struct flow_stack *stack = flow_stacks_current(&calls->stacks);
	struct flow_moment at = moment_of(calls, stack);
	const struct flow_frame *top = flow_stack_top(stack);

	at.continued = (uint8_t)continued;
	return calls->sink.run && top ? calls->sink.run(calls->to, top, &at) : 0;
}

/*
 * Handles a sequence of instructions that continues without a branch from one function into the next, as in
 * interrupt vectors.
 */
static int run_on(struct flow_calls *calls, const struct hwt_step *step)
{
	const struct flow_stack *stack = flow_stacks_current(&calls->stacks);
	const struct flow_frame *top = flow_stack_top(stack);
	int status = 0;

	while (!stack->beyond && top && top->function->name && step->last >= top->end) {
		const uint64_t from = top->end;

		status = moved(calls, from, 0);
		if (status == 0)
			status = report_run(calls, 1);
		top = flow_stack_top(stack);
		if (status < 0 || !top || top->end <= from)
			break;
	}
	return status;
}

static void note_leave(struct flow_calls *calls, uint64_t address)
{
	for (uint32_t n = 0; n < LEAVES_KEPT && n < calls->leaves_seen; n++)
		if (calls->leaves[n] == address)
			return;
	calls->leaves[calls->leaves_seen++ % LEAVES_KEPT] = address;
}

static int run(struct flow_calls *calls, const struct hwt_step *step)
{
	int status = arrive(calls, step->address);

	if (status == 0)
		status = report_run(calls, 0);
	if (status == 0)
		status = run_on(calls, step);
	calls->way = step->branch < sizeof(way_of) && (step->taken || step->branch == HWT_BRANCH_NONE)
			     ? (enum way)way_of[step->branch]
			     : WAY_STRAIGHT;
	calls->after = step->end;
	if (step->branch == HWT_BRANCH_LEAVE_KERNEL)
		note_leave(calls, step->last);
	return status;
}

static int is_known_leave(const struct flow_calls *calls, uint64_t address)
{
	for (uint32_t n = 0; n < LEAVES_KEPT && n < calls->leaves_seen; n++)
		if (calls->leaves[n] == address)
			return 1;
	return 0;
}

/*
 * Handles an exception return: pops the frame of the last entry into the kernel, and all frames above it.
 * Sets *back to the address to which the kernel returns; 0: unknown.
 */
static int leave_kernel(struct flow_calls *calls, uint64_t *back)
{
	const struct flow_stack *stack = flow_stacks_current(&calls->stacks);
	uint32_t n = stack->depth;

	while (n > 0 && stack->frame[n - 1].how != FLOW_INTERRUPT && stack->frame[n - 1].how != FLOW_KERNEL)
		n--;
	n -= n > 0;
	*back = stack->depth ? stack->frame[n].back : 0;
	return pop_to(calls, n, 1);
}

/*
 * Handles an interrupt. If a unit reports an interrupt at the address of an exception return, that return has
 * completed, because kernels execute it with interrupts disabled. A unit that does not see the target of the
 * return reports the address of the return instead. So the interrupted code is the code to which the
 * exception return led.
 */
static int interrupt(struct flow_calls *calls, const struct hwt_step *step)
{
	int status = arrive(calls, step->address);

	calls->after = step->address;
	if (status == 0 && is_known_leave(calls, step->address))
		status = leave_kernel(calls, &calls->after);
	calls->way = WAY_INTERRUPT;
	return status;
}

/*
 * Handles the end of tracing. A function that returns to untraced code ends now, not when tracing continues.
 */
static int off(struct flow_calls *calls, const struct hwt_step *step)
{
	struct flow_stack *stack = flow_stacks_current(&calls->stacks);
	enum way before = calls->way == WAY_RESUME ? calls->before : calls->way;
	uint32_t n = FLOW_NO_FRAME;
	int status = 0;

	if (calls->way == WAY_RETURN && stack->depth && !stack->beyond) {
		if (step->has_address)
			n = flow_stack_returning_to(stack, step->address);
		status = pop_to(calls, n == FLOW_NO_FRAME ? stack->depth - 1 : n, 1);
		before = WAY_STRAIGHT;
	} else if (calls->way == WAY_LEAVE) { /* return to user mode, which is not traced */
		uint64_t back;

		status = leave_kernel(calls, &back);
		before = WAY_STRAIGHT;
	}
	reset(calls, before, step);
	return status;
}

int flow_calls_step(struct flow_calls *calls, const struct hwt_step *step)
{
	int status;

	calls->step = step;
	if (step->kind == HWT_OVERFLOW || step->kind == HWT_GAP)
		return cut_all(calls);
	status = turn(calls);
	if (status < 0)
		return status;
	switch (step->kind) {
	case HWT_RUN:
		return run(calls, step);
	case HWT_ASYNC:
		return interrupt(calls, step);
	case HWT_OFF:
		return off(calls, step);
	default:
		return 0;
	}
}

int flow_calls_new(struct flow_calls **calls, struct flow_functions *functions, const struct flow_sink *sink,
		   void *to, int alone)
{
	struct flow_calls *c = calloc(1, sizeof(*c));

	*calls = c;
	if (!c)
		return KTREAD_E_MEMORY;
	c->functions = functions;
	c->sink = *sink;
	c->to = to;
	c->alone = alone;
	reset(c, WAY_STRAIGHT, NULL);
	return flow_stacks_init(&c->stacks);
}

void flow_calls_free(struct flow_calls *calls)
{
	if (!calls)
		return;
	flow_stacks_free(&calls->stacks);
	free(calls);
}

const struct flow_doubts *flow_calls_doubts(const struct flow_calls *calls)
{
	return &calls->doubts;
}
