/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Folded stacks, the input of flame graph tools: where the time of each thread went. A stack begins with the
 * thread. The open spans follow and, if the thread did not run, its state:
 *
 *	worker (12);read;[sleeping] 20000
 *
 * Times are in nanoseconds. They are added up in a tree that contains all different stacks. The size of the
 * tree is limited. If a new stack does not fit into the tree, its time counts for the longest part of the
 * stack that is in the tree.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/scheduling.h"
#include "base/escape.h"
#include "base/grow.h"
#include "base/index.h"
#include "base/output.h"
#include "base/put.h"
#include "export/walk.h"

#define NODES_MOST 131072u
#define NAME_MOST  64u
#define DEPTH_MOST (SPANS_NEST + 2u)

struct node {
	uint32_t parent; /* index of the parent node; UINT32_MAX for a thread */
	uint32_t length;
	uint64_t time; /* total time during which this node was the top of the stack */
	char name[NAME_MOST];
};

/* A thread: its open spans, and its state since the last change. */
struct thread_stack {
	uint32_t life; /* value of the thread's `life` for which this stack was made */
	bool known;
	/* the stack: node[0] is the thread, all later elements are its open spans */
	uint32_t node[DEPTH_MOST];
	uint32_t depth;
	uint64_t since; /* time of the last change */
	uint64_t stamp; /* timestamp of the event of the last change */
	uint32_t cpu;	/* if the thread runs: its CPU */
	uint8_t state;	/* state of the thread since the last change, an enum threads_state */
};

struct folded {
	struct walk walk;
	struct base_output out;
	struct node *node;
	uint32_t nodes, room;
	struct base_index index;
	struct thread_stack *thread;
	uint32_t threads;
};

static uint64_t hash_of(uint32_t parent, const char *name, size_t length)
{
	return base_hash_bytes(base_hash(0, parent), name, length);
}

/* Returns the child of a node with that name. Returns the node itself if there are too many nodes. */
static uint32_t child_of(struct folded *folded, uint32_t parent, const char *name, size_t length)
{
	const uint64_t hash = hash_of(parent, name, length);
	struct node *bigger;

	for (uint32_t probe = 0, row; base_index_next(&folded->index, hash, &probe, &row);) {
		const struct node *node = &folded->node[row];

		if (node->parent == parent && node->length == length && memcmp(node->name, name, length) == 0)
			return row;
	}
	if (folded->nodes == NODES_MOST)
		return parent;
	bigger = base_grow(folded->node, &folded->room, (size_t)folded->nodes + 1, sizeof(*bigger));
	if (bigger)
		folded->node = bigger;
	if (!bigger || base_index_add(&folded->index, hash, folded->nodes) < 0) {
		folded->walk.error = KTREAD_E_MEMORY;
		return parent;
	}
	folded->node[folded->nodes] = (struct node){ .parent = parent, .length = (uint32_t)length };
	memcpy(folded->node[folded->nodes].name, name, length);
	return folded->nodes++;
}

/*
 * Turns a name of the trace into a frame. Replaces semicolons, which separate frames, by colons. Spaces may
 * remain, because the number follows the last space of a line.
 */
static size_t make_frame(char *frame, const char *name, size_t length)
{
	const size_t size = (size_t)(base_escape_utf8(frame, name, length, NAME_MOST) - frame);

	for (size_t n = 0; n < size; n++)
		if (frame[n] == ';')
			frame[n] = ':';
	return size;
}

/* ---- Adding time to stacks ---- */

/*
 * Ends the state of a thread where slots are missing, because events there may have changed the state: on the
 * CPU of a running thread, otherwise on any CPU. Returns the time up to which the state is certain, at most
 * `time`.
 */
static uint64_t end_state(struct folded *folded, struct thread_stack *stack, uint64_t time)
{
	const uint32_t place = stack->state == THREADS_RUNNING ? stack->cpu : GAPS_ANYWHERE;
	uint64_t gap, certain;

	if (stack->state == THREADS_UNKNOWN || stack->state == THREADS_DEAD)
		return time;
	gap = gaps_first(folded->walk.gaps, place, stack->stamp, folded->walk.stamp);
	if (gap == UINT64_MAX)
		return time;
	certain = gap > stack->stamp ? walk_clock_ns(&folded->walk.clock, gap) : stack->since;
	/* the models report that a thread has left its CPU 1 ns after the CPU's last event before a gap */
	certain += stack->state == THREADS_RUNNING;
	return certain < time ? certain : time;
}

/* Adds the time of a thread since the last change to its current stack. */
static void count(struct folded *folded, struct thread_stack *stack, uint64_t time)
{
	static const char *const states[] = { [THREADS_RUNNABLE] = "[runnable]",
					      [THREADS_SLEEPING] = "[sleeping]",
					      [THREADS_WAITING] = "[waiting]",
					      [THREADS_STOPPED] = "[stopped]" };
	const uint64_t since = stack->since, certain = end_state(folded, stack, time);
	const uint8_t state = stack->state;
	uint32_t node = stack->depth ? stack->node[stack->depth - 1] : UINT32_MAX;

	/*
	 * counted already: a span that may have ended in a gap is ended by a later event, at the gap's
	 * beginning
	 */
	if (time <= since)
		return;
	stack->since = time;
	stack->stamp = folded->walk.stamp;
	if (certain < time)
		stack->state = THREADS_UNKNOWN;
	if (node == UINT32_MAX || state == THREADS_UNKNOWN || state == THREADS_DEAD || certain <= since)
		return;
	if (state != THREADS_RUNNING)
		node = child_of(folded, node, states[state], strlen(states[state]));
	if (folded->nodes > 0)
		folded->node[node].time += certain - since;
}

static struct thread_stack *stack_of(struct folded *folded, const struct threads_thread *thread)
{
	struct thread_stack *stack =
		base_grow(folded->thread, &folded->threads, (size_t)thread->index + 1, sizeof(*stack));
	const char *name = ktread_thread_name(folded->walk.trace, thread->id);
	char frame[NAME_MOST], text[NAME_MOST];
	int length;

	if (!stack) {
		folded->walk.error = KTREAD_E_MEMORY;
		return NULL;
	}
	folded->thread = stack;
	stack = &stack[thread->index];
	if (stack->known && stack->life == thread->life)
		return stack;
	length = snprintf(text, sizeof(text), "%.40s (%u)", name ? name : "thread", thread->id);
	*stack = (struct thread_stack){
		.known = true,
		.life = thread->life,
		.depth = 1,
		.since = folded->walk.time,
		.stamp = folded->walk.stamp,
	};
	stack->node[0] = child_of(folded, UINT32_MAX, frame, make_frame(frame, text, (size_t)length));
	return stack;
}

static void take_change(void *context, const struct threads_change *change)
{
	struct folded *folded = context;
	struct thread_stack *stack = stack_of(folded, change->thread);

	if (!stack)
		return;
	count(folded, stack, change->time);
	stack->state = change->thread->state;
	stack->cpu = change->cpu;
}

static void begin_span(void *context, struct spans_owner owner, unsigned lane, const struct spans_span *span,
		       const struct ktread_event *event)
{
	struct folded *folded = context;
	struct thread_stack *stack;
	struct walk_name name;
	char frame[NAME_MOST];

	if (owner.cpu || lane > 0)
		return;
	stack = stack_of(folded, threads_at(folded->walk.threads, owner.number));
	if (!stack || stack->depth == DEPTH_MOST)
		return;
	count(folded, stack, folded->walk.time);
	walk_name_span(&folded->walk, &name, span, event);
	walk_name_text(&folded->walk, &name);
	stack->node[stack->depth] = child_of(folded, stack->node[stack->depth - 1], frame,
					     make_frame(frame, name.text, name.length));
	stack->depth++;
}

static void end_span(void *context, struct spans_owner owner, unsigned lane, const struct spans_span *span,
		     const struct ktread_event *event, uint64_t time)
{
	struct folded *folded = context;
	struct thread_stack *stack;

	(void)span;
	(void)event;
	if (owner.cpu || lane > 0)
		return;
	stack = stack_of(folded, threads_at(folded->walk.threads, owner.number));
	if (!stack)
		return;
	count(folded, stack, time);
	if (stack->depth > 1)
		stack->depth--;
}

/* ---- Writing the folded stacks ---- */

static void write_node(struct folded *folded, uint32_t n)
{
	uint32_t path[DEPTH_MOST + 1], depth = 0;
	char *at = base_output_line(&folded->out);

	for (uint32_t node = n; node != UINT32_MAX && depth <= DEPTH_MOST; node = folded->node[node].parent)
		path[depth++] = node;
	while (depth > 0) {
		const struct node *node = &folded->node[path[--depth]];

		memcpy(at, node->name, node->length);
		at += node->length;
		*at++ = depth > 0 ? ';' : ' ';
	}
	at = base_put_decimal(at, folded->node[n].time);
	base_output_done(&folded->out, base_put_literal(at, "\n"));
}

static int write_all(struct folded *folded)
{
	int error = walk_run(&folded->walk);

	for (uint32_t n = 0; n < folded->threads; n++)
		if (folded->thread[n].known)
			count(folded, &folded->thread[n], folded->walk.clock.last);
	for (uint32_t n = 0; n < folded->nodes; n++)
		if (folded->node[n].time > 0)
			write_node(folded, n);
	return error;
}

static int folded_write(struct ktread *trace, int fd, struct export_report *report)
{
	struct folded *folded = calloc(1, sizeof(*folded));
	const struct walk_sink sink = {
		.context = folded,
		.thread = take_change,
		.begin = begin_span,
		.end = end_span,
	};
	int error;

	if (!folded)
		return KTREAD_E_MEMORY;
	error = base_output_open(&folded->out, fd) < 0 ? KTREAD_E_MEMORY : 0;
	if (!error)
		error = walk_open(&folded->walk, trace, &sink);
	if (!error)
		error = write_all(folded);
	walk_close(&folded->walk, report);
	report->output_error = base_output_close(&folded->out);
	if (report->output_error)
		error = KTREAD_E_SYSTEM;
	base_index_free(&folded->index);
	free(folded->node);
	free(folded->thread);
	free(folded);
	return error;
}

const struct export_format export_folded = {
	.name = "folded",
	.purpose = "time of threads by span, on and off CPU (flamegraph.pl, speedscope)",
	.write = folded_write,
};
