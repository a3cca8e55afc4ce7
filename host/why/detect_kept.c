/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Finds a thread that sleeps and keeps a lock for which another thread has waited long. The thread's sleep is
 * not overdue. There are two cases. In the first case, the sleep has a timeout: for example, the thread polls
 * a device that does not answer. In the second case, the thread has run since the other thread began to wait,
 * and the trace never shows the lock held nearly as long before: for example, the thread has left a function
 * without releasing the lock. The thread may still finish its work, so the certainty is at most "possible".
 */
#include <inttypes.h>
#include <stdlib.h>

#include "why/finding.h"
#include "why/graph.h"
#include "why/pulse.h"
#include "why/untimed.h"

#define MOST 8u /* maximum number of findings */
/*
 * used for a sleep with a timeout: minimum time in ms for which the waiting thread must have waited for the
 * lock
 */
#define LONG_MS 10000u
/*
 * used if the trace never shows the lock held as long: minimum time in ms for which the waiting thread must
 * have waited for the lock
 */
#define KEPT_MS	   5000u
#define KNOWN	   16u /* minimum number of earlier times that the lock was held, from taking to release */
#define TIMES_HELD 64u /* a lock is kept if it is held this many times as long as ever before in the trace */
/* time in ms: detect_late.c reports a sleep whose deadline passed at least this long ago */
#define LATE_MS 2000u

/*
 * Returns whether the thread sleeps until a deadline. Returns false for a wait that detect_overdue.c judges,
 * and for a wait for another lock, because for the latter, the cause is the holder of that lock.
 */
static bool sleeps_with_timeout(const struct why_evidence *evidence, const struct why_thread *thread)
{
	const struct ktrx_holder *row = &thread->holder;

	return thread->has_holder && row->state == KTRX_THREAD_WAITING && row->wait != KTRX_WAIT_LOCK &&
	       row->wait != KTRX_WAIT_SPIN && row->wait != KTRX_WAIT_THREAD &&
	       (row->deadline || row->wait == KTRX_WAIT_TIME) && !why_ends_late(evidence, row) &&
	       (row->deadline == 0 || row->deadline >= evidence->alive ||
		evidence->alive - row->deadline < why_ms(evidence, LATE_MS));
}

/*
 * Returns whether the holder's row in the kernel's table shows two things: the holder still holds the lock,
 * and has gone to sleep for something else since the wait for the lock began. The lock must also be held far
 * longer than ever before in the trace.
 */
static bool keeps_unusually_long(const struct why_evidence *evidence, const struct why_thread *holder,
				 const struct why_edge *edge)
{
	const struct ktrx_holder *row = &holder->holder;
	uint64_t longest;

	return row->state == KTRX_THREAD_WAITING &&
	       ((row->wait == KTRX_WAIT_EVENT && row->deadline == 0) ||
		sleeps_with_timeout(evidence, holder)) &&
	       !holder->waits_for_outer && row->state_stamp > edge->since &&
	       row->state_stamp - edge->since >= why_ms(evidence, KEPT_MS) / 2 &&
	       why_holds_lock(row, edge->object) &&
	       why_lock_lasted(evidence, edge->object, &longest) >= KNOWN &&
	       why_age(evidence, edge->held_since) / TIMES_HELD >= longest;
}

/*
 * Returns whether the edge is a wait for a lock that has lasted at least that time, and the holder has held
 * the lock for at least that time, too. A holder may have released the lock and taken it again before the
 * waiter ran.
 */
static bool is_long(const struct why_evidence *evidence, const struct why_graph *graph,
		    const struct why_edge *edge, uint64_t ms)
{
	const uint64_t since = edge->held_since > edge->since ? edge->held_since : edge->since;

	return why_edge_is_lock(edge) && edge->held && edge->to >= graph->cpus && edge->from >= graph->cpus &&
	       (edge->by_table || evidence->thread[edge->from - graph->cpus].waits_for_outer) &&
	       edge->from != edge->to && edge->since && since < evidence->alive &&
	       evidence->alive - since >= why_ms(evidence, ms);
}

/* Returns whether the holder for which the waiter of this edge waits is to be reported. */
static bool is_kept(const struct why_evidence *evidence, const struct why_graph *graph,
		    const struct why_edge *edge)
{
	const struct why_thread *holder;

	if (!is_long(evidence, graph, edge, KEPT_MS))
		return false;
	holder = &evidence->thread[edge->to - graph->cpus];
	return (is_long(evidence, graph, edge, LONG_MS) && sleeps_with_timeout(evidence, holder)) ||
	       keeps_unusually_long(evidence, holder, edge);
}

static void say_lasted(const struct why_evidence *evidence, struct why_finding *finding, uint64_t lock)
{
	uint64_t longest;
	const uint64_t holds = why_lock_lasted(evidence, lock, &longest);
	char ticks[WHY_WORDS];

	finding_evidence(&finding->base,
			 "in this trace, the lock was held and released %" PRIu64
			 " times before, for at most %s",
			 holds, why_say_ticks(evidence, longest, ticks, sizeof(ticks)));
}

static int found(const struct why_evidence *evidence, struct why_findings *findings,
		 const struct why_graph *graph, const struct why_edge *edge)
{
	const struct why_thread *waiter = &evidence->thread[edge->from - graph->cpus];
	const struct why_thread *holder = &evidence->thread[edge->to - graph->cpus];
	const struct ktrx_holder *row = &holder->holder;
	const bool repeats = row->state_stamp > edge->since, timed = sleeps_with_timeout(evidence, holder);
	struct why_finding *finding = why_finding_new(findings, WHY_OVERDUE, FINDING_POSSIBLE);
	char who[WHY_WORDS], whose[WHY_WORDS], waits[FINDING_LINE], ticks[WHY_WORDS], place[WHY_WORDS];

	if (!finding)
		return KTREAD_E_MEMORY;
	why_say_actor(evidence, waiter->id + 1, who, sizeof(who));
	why_say_actor(evidence, holder->id + 1, whose, sizeof(whose));
	why_say_waiting(evidence, KTRX_WAIT_LOCK, edge->object, edge->since, edge->pc, waits, sizeof(waits));
	finding_say(finding->base.what, "%s %s; held by %s, which %s and keeps the lock", who, waits, whose,
		    !timed    ? "has run since then, sleeps now"
		    : repeats ? "sleeps with timeouts"
			      : "sleeps with a timeout");
	finding_evidence(&finding->base, "%s took it about %s ago%s", whose,
			 why_say_since(evidence, "", edge->held_since, ticks, sizeof(ticks)),
			 why_say_called(evidence, ", at ", edge->held_pc, place, sizeof(place)));
	if (!timed || keeps_unusually_long(evidence, holder, edge))
		say_lasted(evidence, finding, edge->object);
	why_say_waiting(evidence, row->wait, row->object, row->wait_stamp, row->wait_pc, waits,
			sizeof(waits));
	if (row->deadline > evidence->end)
		finding_evidence(
			&finding->base, "%s %s; its timeout ends in %s", whose, waits,
			why_say_ticks(evidence, row->deadline - evidence->end, ticks, sizeof(ticks)));
	else
		finding_evidence(&finding->base, "%s %s", whose, waits);
	why_finding_actor(finding, (struct why_actor){ .id = waiter->id + 1,
						       .waits = edge->object,
						       .ticks = why_age(evidence, edge->since),
						       .pc = edge->pc });
	why_finding_actor(finding, (struct why_actor){ .id = holder->id + 1,
						       .holds = edge->object,
						       .waits = row->wait == KTRX_WAIT_TIME ? 0 : row->object,
						       .pc = row->wait_pc });
	finding_say(finding->base.advice, "check what it waits for while it holds the lock, "
					  "because it may only need more time");
	return 0;
}

/* For each thread that keeps locks, reports the thread that has waited longest. */
static int find_all(const struct why_evidence *evidence, struct why_findings *findings,
		    const struct why_graph *graph)
{
	/* for each thread: the longest wait for a lock that it holds */
	const struct why_edge **longest = calloc((size_t)evidence->threads + 1, sizeof(*longest));
	uint32_t count = 0;
	int error = longest ? 0 : KTREAD_E_MEMORY;

	for (uint32_t n = 0; !error && n < graph->edges; n++) {
		const struct why_edge *edge = &graph->edge[n];

		if (is_kept(evidence, graph, edge) && (!longest[edge->to - graph->cpus] ||
						       edge->since < longest[edge->to - graph->cpus]->since))
			longest[edge->to - graph->cpus] = edge;
	}
	for (uint32_t n = 0; !error && n < evidence->threads && count < MOST; n++) {
		if (!longest[n])
			continue;
		count++;
		error = found(evidence, findings, graph, longest[n]);
	}
	free(longest);
	return error;
}

int why_detect_kept(const struct why_evidence *evidence, struct why_findings *findings)
{
	struct why_graph *graph;
	int error;

	if (why_waits_mean_nothing(evidence))
		return 0;
	error = why_graph_build(&graph, evidence);
	if (!error)
		error = find_all(evidence, findings, graph);
	why_graph_free(graph);
	return error;
}
