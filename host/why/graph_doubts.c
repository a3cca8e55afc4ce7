/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Edges of the graph of waits for which the holder of the lock is doubtful. */
#include "why/finding.h"
#include "why/graph.h"
#include "why/pulse.h"

/* time in ms: the timestamp of a wakeup in the kernel's table may be too early by this time */
#define STALE_MS 100u
/* time in ms: if a thread does not run for this time although its CPU idles, it is perhaps not runnable */
#define IGNORED_MS 1000u

/* Returns whether the thread was woken while it waited for a lock or earlier, and has not run since. */
static bool is_awake(const struct ktrx_holder *holder)
{
	return holder->state == KTRX_THREAD_RUNNABLE && holder->cause == KTRX_CAUSE_WAKE;
}

/* Returns whether the thread has been runnable for long although its CPU idles. */
static bool is_passed_over(const struct why_evidence *evidence, const struct ktrx_holder *holder)
{
	const uint64_t least = why_ms(evidence, IGNORED_MS);

	return holder->cpu < evidence->cpus && why_idles(evidence, &evidence->cpu[holder->cpu]) && least &&
	       why_age(evidence, holder->state_stamp) >= least;
}

bool why_was_woken(const struct why_evidence *evidence, const struct ktrx_holder *holder)
{
	return is_awake(holder) && holder->state_stamp >= holder->wait_stamp &&
	       !is_passed_over(evidence, holder);
}

bool why_may_be_woken(const struct why_evidence *evidence, const struct ktrx_holder *holder)
{
	return is_awake(holder) && (holder->state_stamp >= holder->wait_stamp ||
				    holder->wait_stamp - holder->state_stamp <= why_ms(evidence, STALE_MS));
}

/* Returns another thread or CPU that holds the lock for which the waiter waits for itself. */
static uint32_t other_holder(const struct why_graph *graph, const struct why_edge *edge)
{
	for (uint32_t n = graph->first[edge->from]; n < graph->first[edge->from + 1]; n++)
		if (graph->edge[n].object == edge->object && graph->edge[n].to != edge->from)
			return graph->edge[n].to;
	return edge->from;
}

void why_finding_doubt(struct why_finding *finding, const struct why_evidence *evidence,
		       const struct why_graph *graph, const struct why_edge *edge)
{
	char from[WHY_WORDS], other[WHY_WORDS];

	why_say_actor(evidence, why_node_id(graph, evidence, edge->from), from, sizeof(from));
	switch (edge->doubt) {
	case WHY_DOUBT_NONE:
		return;
	case WHY_DOUBT_SHARED:
		why_say_actor(evidence, why_node_id(graph, evidence, other_holder(graph, edge)), other,
			      sizeof(other));
		finding_evidence(&finding->base,
				 "  %s holds this lock, too: if a reader of this lock can become its writer, "
				 "%s waits only for the other readers",
				 other, from);
		return;
	case WHY_DOUBT_RELEASED:
	case WHY_DOUBT_NAMED:
		finding_evidence(
			&finding->base,
			"  no row of the kernel's table contains this lock, although rows contain other "
			"locks: the lock was released, or the kernel does not report that it is taken");
		return;
	case WHY_DOUBT_PROGRAM:
		finding_evidence(&finding->base, "  this lock is in the memory of a program: "
						 "the kernel named its owner only when the wait began");
		return;
	case WHY_DOUBT_WOKEN:
		finding_evidence(&finding->base,
				 "  %s was woken at about the time at which this wait began, or later: "
				 "that wakeup may have ended the wait",
				 from);
		return;
	}
}
