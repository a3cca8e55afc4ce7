/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Lock order: threads take the same locks in different orders, so a deadlock may happen. No deadlock is
 * possible if all threads first take a common outer lock, because then only one thread at a time takes these
 * locks.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "why/finding.h"
#include "why/graph.h"

#define MOST 8u /* maximum number of findings */

struct context {
	const struct why_evidence *evidence;
	struct why_findings *findings;
	uint64_t *lock; /* for each node, the address of its lock; sorted */
	uint32_t found;
};

static int by_value(const void *a, const void *b)
{
	const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

static uint32_t node_of(const struct context *context, uint32_t locks, uint64_t lock)
{
	const uint64_t *found = bsearch(&lock, context->lock, locks, sizeof(lock), by_value);

	return (uint32_t)(found - context->lock);
}

/* Returns the lock order from which an edge was made. */
static const struct why_order *order_of(const struct context *context, const struct why_edge *edge)
{
	return &context->evidence->order[edge->object];
}

static bool is_guarded_by(const struct why_order *order, uint64_t lock)
{
	for (uint32_t n = 0; n < WHY_OUTER; n++)
		if (order->outer[n] == lock)
			return true;
	return false;
}

/* Returns whether there is an outer lock that was held each time when the locks of these edges were taken. */
static bool is_guarded(const struct context *context, const struct why_edge *const *edge, uint32_t count)
{
	const struct why_order *first = order_of(context, edge[0]);

	for (uint32_t n = 0; n < WHY_OUTER && first->outer[n]; n++) {
		uint32_t guarded = 1;

		while (guarded < count && is_guarded_by(order_of(context, edge[guarded]), first->outer[n]))
			guarded++;
		if (guarded == count)
			return true;
	}
	return false;
}

static bool is_by_one_thread(const struct context *context, const struct why_edge *const *edge,
			     uint32_t count)
{
	const struct why_order *first = order_of(context, edge[0]);

	for (uint32_t n = 0; n < count; n++) {
		const struct why_order *order = order_of(context, edge[n]);

		if (order->several || order->thread != first->thread || order->trace != first->trace)
			return false;
	}
	return true;
}

static void say_order(const struct context *context, struct why_finding *finding,
		      const struct why_order *order)
{
	const struct why_evidence *evidence = context->evidence;
	char who[WHY_WORDS], first[WHY_WORDS], then[WHY_WORDS], place[WHY_WORDS], trace[32] = "";
	const char *held = why_say_object(evidence, order->first, first, sizeof(first));
	const char *taken = why_say_object(evidence, order->then, then, sizeof(then));

	why_say_actor(evidence, order->thread + 1, who, sizeof(who));
	if (order->trace) {
		why_say(who, sizeof(who), "thread %" PRIu32, order->thread);
		why_say(trace, sizeof(trace), " in earlier trace %" PRIu32, order->trace);
	}
	finding_evidence(&finding->base, "%s%s held lock %s when it took lock %s%s", who, trace, held, taken,
			 order->count > 1 ? ", more than once" : "");
	if (!order->trace)
		finding_refer(&finding->base, order->stamp, order->thread + 1, order->then);
	if (order->first_pc)
		finding_evidence(&finding->base, "  lock %s was taken at %s", held,
				 why_say_call(evidence, order->first_pc, place, sizeof(place)));
	if (order->then_pc)
		finding_evidence(&finding->base, "  lock %s was taken at %s", taken,
				 why_say_call(evidence, order->then_pc, place, sizeof(place)));
	why_finding_actor(finding, (struct why_actor){ .id = order->thread + 1,
						       .holds = order->first,
						       .waits = order->then,
						       .pc = order->then_pc });
}

static int found_cycle(void *data, const struct why_edge *const *edge, uint32_t count)
{
	struct context *context = data;
	char first[WHY_WORDS], then[WHY_WORDS];
	struct why_finding *finding;
	bool place_missing = false;

	if (is_by_one_thread(context, edge, count) || is_guarded(context, edge, count))
		return WHY_CYCLE_LEFT;
	if (context->found++ == MOST)
		return WHY_CYCLE_ENOUGH;
	finding = why_finding_new(context->findings, WHY_LOCK_ORDER, FINDING_LIKELY);
	if (!finding)
		return KTREAD_E_MEMORY;
	why_say_object(context->evidence, order_of(context, edge[0])->first, first, sizeof(first));
	why_say_object(context->evidence, order_of(context, edge[0])->then, then, sizeof(then));
	if (count == 2)
		finding_say(finding->base.what,
			    "locks %s and %s are taken in both orders: this can deadlock, but has not yet",
			    first, then);
	else
		finding_say(finding->base.what,
			    "%" PRIu32 " locks, %s and %s among them, are taken in orders that form a cycle: "
			    "this can deadlock, but has not yet",
			    count, first, then);
	for (uint32_t n = 0; n < count; n++)
		say_order(context, finding, order_of(context, edge[n]));
	for (uint32_t n = 0; n < count; n++)
		place_missing = place_missing ||
				(!order_of(context, edge[n])->then_pc && !order_of(context, edge[n])->trace);
	if (place_missing)
		finding_say(
			finding->base.advice,
			"record the field `place` in lock.acquire, which shows where each lock was taken");
	return WHY_CYCLE_TAKEN;
}

/*
 * Returns whether lock `first` is a spinlock and lock `then` is a mutex. A thread that holds a spinlock must
 * not sleep, so it does not wait for the mutex, and this order cannot lead to a deadlock.
 */
static bool is_spinlock_of_mutex(const struct why_evidence *evidence, const struct why_order *order)
{
	const struct why_object *first = why_object_find(evidence, order->first);
	const struct why_object *then = why_object_find(evidence, order->then);

	return first && then && first->by_cpu && !first->by_thread && then->by_thread && !then->by_cpu;
}

/*
 * Returns whether lock `first` protects lock `then`: threads hold `first`, a spinlock, when they take `then`,
 * a mutex, and also when they release it. A thread that must wait for the mutex releases the spinlock first,
 * so this order cannot lead to a deadlock. Some of these releases may be in lost slots.
 */
static bool is_protected(const struct why_order *order)
{
	return order->protects > 0 && order->protects >= order->count / 2;
}

/*
 * Builds a graph whose nodes are locks. why_edge.object is the index of the lock order from which the edge
 * was made.
 */
static int build(struct context *context, struct why_graph *graph)
{
	const struct why_evidence *evidence = context->evidence;
	uint32_t locks = 0;

	context->lock = calloc(2 * (size_t)evidence->orders, sizeof(*context->lock));
	graph->edge = calloc(evidence->orders, sizeof(*graph->edge));
	if (!context->lock || !graph->edge)
		return KTREAD_E_MEMORY;
	for (uint32_t n = 0; n < evidence->orders; n++) {
		context->lock[2 * n] = evidence->order[n].first;
		context->lock[2 * n + 1] = evidence->order[n].then;
	}
	qsort(context->lock, 2 * (size_t)evidence->orders, sizeof(*context->lock), by_value);
	for (uint32_t n = 0; n < 2 * evidence->orders; n++)
		if (locks == 0 || context->lock[n] != context->lock[locks - 1])
			context->lock[locks++] = context->lock[n];
	graph->nodes = locks;
	for (uint32_t n = 0; n < evidence->orders; n++)
		if (!is_protected(&evidence->order[n]) &&
		    !is_spinlock_of_mutex(evidence, &evidence->order[n]))
			graph->edge[graph->edges++] =
				(struct why_edge){ .from = node_of(context, locks, evidence->order[n].first),
						   .to = node_of(context, locks, evidence->order[n].then),
						   .object = n };
	return why_graph_index(graph);
}

int why_detect_lock_order(const struct why_evidence *evidence, struct why_findings *findings)
{
	struct context context = { .evidence = evidence, .findings = findings };
	struct why_graph graph = { NULL, 0, NULL, 0, 0 };
	int error;

	if (evidence->orders == 0)
		return 0;
	error = build(&context, &graph);
	if (!error)
		error = why_graph_cycles(&graph, found_cycle, &context);
	free(context.lock);
	free(graph.edge);
	free(graph.first);
	return error;
}
