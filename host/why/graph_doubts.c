/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Text about edges of the graph of waits that are doubtful: who may hold a lock is not sure. */
#include "why/finding.h"
#include "why/graph.h"

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
