/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Priority inversion: a thread of high priority waits for a lock. The thread that holds the lock has low
 * priority and is runnable, but a thread of medium priority runs on its CPU. Or the thread that waits runs
 * there itself, because it does not sleep while it waits.
 */
#include <inttypes.h>

#include "why/finding.h"
#include "why/graph.h"
#include "why/pulse.h"

/* minimum time in ms of a wait during which the holder may have run a little in between */
#define SLICES_MS 5000u
#define LEAST_MS  50u /* time in ms: waits that are shorter than this are normal */
/* minimum time in ms for which a thread that waits for a lock has kept its CPU by spinning or yielding */
#define KEEPS_MS 1000u
/* maximum length of a chain of threads in which each thread waits for a lock that the next thread holds */
#define CHAIN 64u
#define SHOWN 4u /* maximum number of threads inside a chain that are shown */

struct inversion {
	const struct why_edge *wait; /* the wait of thread `urgent` for a lock */
	const struct why_edge
		*last; /* the wait for the lock that thread `holder` holds; often the same wait */
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

/* Returns the wait of a thread or CPU for a lock that a thread or CPU holds; NULL if there is none. */
static const struct why_edge *lock_wait_of(const struct why_graph *graph, uint32_t node)
{
	for (uint32_t n = graph->first[node]; n < graph->first[node + 1]; n++)
		if (why_edge_is_lock(&graph->edge[n]) && graph->edge[n].doubt == WHY_DOUBT_NONE)
			return &graph->edge[n];
	return NULL;
}

/*
 * Finds the last thread of a chain in which each thread waits for a lock that the next thread holds. Sets
 * `holder` to NULL if a CPU is at the end of the chain.
 */
static void find_holder(const struct why_graph *graph, const struct why_evidence *evidence,
			struct inversion *found)
{
	const struct why_edge *edge = found->wait;

	for (uint32_t n = 0; n <= CHAIN && edge; n++) {
		found->last = edge;
		edge = lock_wait_of(graph, edge->to);
	}
	found->holder = thread_at(graph, evidence, found->last->to);
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

/* Returns whether the holder has been runnable only for a short time: it may have slept before. */
static bool is_new(const struct why_evidence *evidence, const struct inversion *found)
{
	return since(evidence, found->holder->holder.state_stamp) < why_ms(evidence, LEAST_MS);
}

static bool is_case(const struct why_evidence *evidence, const struct inversion *found)
{
	return has_priority(found->urgent) && has_priority(found->holder) && has_priority(found->between) &&
	       found->holder->holder.state == KTRX_THREAD_RUNNABLE &&
	       found->between->holder.priority > found->holder->holder.priority &&
	       found->between->holder.priority < found->urgent->holder.priority &&
	       since(evidence, found->wait->since) >=
		       why_ms(evidence, is_new(evidence, found) ? SLICES_MS : LEAST_MS);
}

/* Returns whether the thread that waits runs on the CPU on which the holder of the lock is to run. */
static bool keeps_cpu(const struct why_evidence *evidence, const struct inversion *found)
{
	const uint64_t least = why_ms(evidence, KEEPS_MS);

	return found->between == found->urgent && has_priority(found->urgent) &&
	       has_priority(found->holder) && found->urgent->holder.state == KTRX_THREAD_RUNNING &&
	       found->holder->holder.state == KTRX_THREAD_RUNNABLE &&
	       found->urgent->holder.priority > found->holder->holder.priority &&
	       since(evidence, found->wait->since) >= least &&
	       since(evidence, found->holder->holder.state_stamp) >= least;
}

/* Returns whether the CPU's stack contains the place where the thread began to wait. */
static bool is_at_wait(const struct why_evidence *evidence, const struct inversion *found)
{
	const struct why_cpu *cpu = &evidence->cpu[found->holder->holder.cpu];

	for (uint32_t n = 0; n < cpu->frames && found->wait->pc; n++)
		if (cpu->frame[n] == found->wait->pc)
			return true;
	return false;
}

static void say_what(const struct why_evidence *evidence, const struct inversion *found,
		     struct why_finding *finding)
{
	const char *holds = found->last == found->wait ? " holds it, but" : ", on which this depends,";
	char urgent[WHY_WORDS], holder[WHY_WORDS], between[WHY_WORDS], words[WHY_WORDS];

	why_say_actor(evidence, found->urgent->id + 1, urgent, sizeof(urgent));
	why_say_actor(evidence, found->holder->id + 1, holder, sizeof(holder));
	why_say_ticks(evidence, since(evidence, found->wait->since), words, sizeof(words));
	if (found->between == found->urgent)
		finding_say(finding->base.what,
			    "%s has waited %s for a lock, and keeps CPU %" PRIu32 " while it waits; "
			    "%s%s cannot run",
			    urgent, words, found->holder->holder.cpu, holder, holds);
	else
		finding_say(finding->base.what,
			    "%s, which has a high priority, has waited %s for a lock; %s%s "
			    "cannot run because of %s",
			    urgent, words, holder, holds,
			    why_say_actor(evidence, found->between->id + 1, between, sizeof(between)));
}

/* Adds a line for each thread or CPU that holds a lock of the chain and waits for the next lock. */
static void say_chain(const struct why_graph *graph, const struct why_evidence *evidence,
		      const struct inversion *found, struct why_finding *finding)
{
	const struct why_edge *edge = found->wait;
	char who[WHY_WORDS], lock[WHY_WORDS];

	for (uint32_t n = 0; n < SHOWN && edge != found->last; n++) {
		edge = lock_wait_of(graph, edge->to);
		finding_evidence(
			&finding->base, "%s holds it, and waits for lock %s",
			why_say_actor(evidence, why_node_id(graph, evidence, edge->from), who, sizeof(who)),
			why_say_object(evidence, edge->object, lock, sizeof(lock)));
	}
}

static int report(const struct why_graph *graph, const struct why_evidence *evidence,
		  struct why_findings *findings, const struct inversion *found)
{
	const bool itself = found->between == found->urgent;
	struct why_finding *finding = why_finding_new(
		findings, WHY_PRIORITY_INVERSION,
		is_new(evidence, found) || (itself && !is_at_wait(evidence, found)) ? FINDING_LIKELY
										    : FINDING_CERTAIN);
	char urgent[WHY_WORDS], holder[WHY_WORDS], between[WHY_WORDS], lock[WHY_WORDS], words[WHY_WORDS];

	if (!finding)
		return KTREAD_E_MEMORY;
	say_what(evidence, found, finding);
	why_say_actor(evidence, found->urgent->id + 1, urgent, sizeof(urgent));
	why_say_actor(evidence, found->holder->id + 1, holder, sizeof(holder));
	why_say_actor(evidence, found->between->id + 1, between, sizeof(between));
	why_say_object(evidence, found->wait->object, lock, sizeof(lock));
	finding_evidence(&finding->base, "%s, priority %u, waits for lock %s, at %s", urgent,
			 found->urgent->holder.priority, lock,
			 why_say_call(evidence, found->wait->pc, words, sizeof(words)));
	finding_refer(&finding->base, found->wait->since, found->urgent->id + 1, found->wait->object);
	if (found->wait->held_pc)
		finding_evidence(&finding->base, "  the lock was taken at %s",
				 why_say_call(evidence, found->wait->held_pc, words, sizeof(words)));
	say_chain(graph, evidence, found, finding);
	if (found->last != found->wait)
		why_say_object(evidence, found->last->object, lock, sizeof(lock));
	finding_evidence(&finding->base, "%s, priority %u, holds %s%s and has been runnable for %s", holder,
			 found->holder->holder.priority, found->last == found->wait ? "" : "lock ",
			 found->last == found->wait ? "it" : lock,
			 why_say_ticks(evidence, since(evidence, found->holder->holder.state_stamp), words,
				       sizeof(words)));
	if (itself)
		finding_evidence(&finding->base, "%s does not sleep while it waits: it yields or spins",
				 urgent);
	else
		finding_evidence(&finding->base, "%s, priority %u, runs on CPU %" PRIu32, between,
				 found->between->holder.priority, found->holder->holder.cpu);
	why_finding_actor(finding, (struct why_actor){ .id = found->urgent->id + 1,
						       .waits = found->wait->object,
						       .ticks = since(evidence, found->wait->since),
						       .pc = found->wait->pc });
	why_finding_actor(finding,
			  (struct why_actor){ .id = found->holder->id + 1, .holds = found->last->object });
	if (!itself)
		why_finding_actor(finding, (struct why_actor){ .id = found->between->id + 1 });
	return 0;
}

int why_detect_priority_inversion(const struct why_evidence *evidence, struct why_findings *findings)
{
	struct why_graph *graph;
	int error = why_graph_build(&graph, evidence);

	for (uint32_t n = 0; !error && n < graph->edges; n++) {
		struct inversion found = { .wait = &graph->edge[n] };

		if (!why_edge_is_lock(found.wait) || found.wait->doubt != WHY_DOUBT_NONE)
			continue;
		found.urgent = thread_at(graph, evidence, found.wait->from);
		find_holder(graph, evidence, &found);
		if (found.holder)
			found.between = running_on_cpu_of(evidence, found.holder);
		if (is_case(evidence, &found) || keeps_cpu(evidence, &found))
			error = report(graph, evidence, findings, &found);
	}
	why_graph_free(graph);
	return error;
}
