/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Priority inversion: a thread of high priority waits for a lock. The thread that holds the lock has low
 * priority and is runnable, but a thread of medium priority runs on its CPU.
 */
#include <inttypes.h>

#include "why/finding.h"
#include "why/graph.h"
#include "why/pulse.h"

#define LEAST_MS 50u /* time in ms: waits that are shorter than this are normal */
/* maximum length of a chain of threads in which each thread waits for a lock that the next thread holds */
#define CHAIN 64u

struct inversion {
	const struct why_edge *wait; /* the wait of thread `urgent` for a lock */
	const struct why_thread *urgent, *holder, *between;
};

static const struct why_thread *thread_at(const struct why_graph *graph, const struct why_evidence *evidence,
					  uint32_t node)
{
	return node >= graph->cpus ? &evidence->thread[node - graph->cpus] : NULL;
}

static uint64_t since(const struct why_evidence *evidence, uint64_t stamp)
{
	return stamp ? why_age(evidence, stamp) : 0;
}

/*
 * Returns the last thread of a chain in which each thread waits for a lock that the next thread holds.
 * Returns NULL if a CPU is at the end of the chain.
 */
static const struct why_thread *last_holder(const struct why_graph *graph,
					    const struct why_evidence *evidence, uint32_t node)
{
	for (uint32_t n = 0; n < CHAIN; n++) {
		const struct why_edge *edge = &graph->edge[graph->first[node]];

		if (graph->first[node] == graph->first[node + 1] || !why_edge_is_lock(edge))
			break;
		node = edge->to;
	}
	return thread_at(graph, evidence, node);
}

/* Returns the thread that runs on the CPU of thread `holder`; NULL if it is unknown. */
static const struct why_thread *running_on_cpu_of(const struct why_evidence *evidence,
						  const struct why_thread *holder)
{
	const uint32_t cpu = holder->holder.cpu;

	return cpu < evidence->cpus ? why_runs(evidence, &evidence->cpu[cpu]) : NULL;
}

static bool has_priority(const struct why_thread *thread)
{
	return thread && thread->has_holder && thread->holder.priority;
}

static bool is_case(const struct why_evidence *evidence, const struct inversion *found)
{
	return has_priority(found->urgent) && has_priority(found->holder) && has_priority(found->between) &&
	       found->holder->holder.state == KTRX_THREAD_RUNNABLE &&
	       found->between->holder.priority > found->holder->holder.priority &&
	       found->between->holder.priority < found->urgent->holder.priority &&
	       since(evidence, found->wait->since) >= why_ms(evidence, LEAST_MS);
}

static int report(const struct why_evidence *evidence, struct why_findings *findings,
		  const struct inversion *found)
{
	struct why_finding *finding = why_finding_new(findings, WHY_PRIORITY_INVERSION, FINDING_CERTAIN);
	char urgent[WHY_WORDS], holder[WHY_WORDS], between[WHY_WORDS], lock[WHY_WORDS], words[WHY_WORDS];

	if (!finding)
		return KTREAD_E_MEMORY;
	why_say_actor(evidence, found->urgent->id + 1, urgent, sizeof(urgent));
	why_say_actor(evidence, found->holder->id + 1, holder, sizeof(holder));
	why_say_actor(evidence, found->between->id + 1, between, sizeof(between));
	finding_say(finding->base.what,
		    "%s, which has a high priority, has waited %s for a lock; %s holds it, "
		    "but cannot run because of %s",
		    urgent,
		    why_say_ticks(evidence, since(evidence, found->wait->since), words, sizeof(words)),
		    holder, between);
	why_say_object(evidence, found->wait->object, lock, sizeof(lock));
	finding_evidence(&finding->base, "%s, priority %u, waits for lock %s, at %s", urgent,
			 found->urgent->holder.priority, lock,
			 why_say_call(evidence, found->wait->pc, words, sizeof(words)));
	finding_refer(&finding->base, found->wait->since, found->urgent->id + 1, found->wait->object);
	if (found->wait->held_pc)
		finding_evidence(&finding->base, "  the lock was taken at %s",
				 why_say_call(evidence, found->wait->held_pc, words, sizeof(words)));
	finding_evidence(&finding->base, "%s, priority %u, holds it and has been runnable for %s", holder,
			 found->holder->holder.priority,
			 why_say_ticks(evidence, since(evidence, found->holder->holder.state_stamp), words,
				       sizeof(words)));
	finding_evidence(&finding->base, "%s, priority %u, runs on CPU %" PRIu32, between,
			 found->between->holder.priority, found->holder->holder.cpu);
	why_finding_actor(finding, (struct why_actor){ .id = found->urgent->id + 1,
						       .waits = found->wait->object,
						       .ticks = since(evidence, found->wait->since),
						       .pc = found->wait->pc });
	why_finding_actor(finding,
			  (struct why_actor){ .id = found->holder->id + 1, .holds = found->wait->object });
	why_finding_actor(finding, (struct why_actor){ .id = found->between->id + 1 });
	return 0;
}

int why_detect_priority_inversion(const struct why_evidence *evidence, struct why_findings *findings)
{
	struct why_graph *graph;
	int error = why_graph_build(&graph, evidence);

	for (uint32_t n = 0; !error && n < graph->edges; n++) {
		struct inversion found = { .wait = &graph->edge[n] };

		if (!why_edge_is_lock(found.wait))
			continue;
		found.urgent = thread_at(graph, evidence, found.wait->from);
		found.holder = last_holder(graph, evidence, found.wait->to);
		if (found.holder)
			found.between = running_on_cpu_of(evidence, found.holder);
		if (is_case(evidence, &found))
			error = report(evidence, findings, &found);
	}
	why_graph_free(graph);
	return error;
}
