/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Livelock: threads form a cycle in which each thread tries again and again to take a lock that the next
 * thread holds. There are two cases. In the first case, each thread keeps its lock all the time. In the
 * second case, each thread backs off: it releases its lock after an attempt, and takes the lock again before
 * the next attempt. Events show the attempts. The kernel's table, or events, show the locks that are held.
 */
#include <inttypes.h>

#include "analyze/keyed.h"
#include "why/finding.h"
#include "why/graph.h"
#include "why/pulse.h"
#include "why/tries.h"

#define MOST	 8u /* maximum number of findings of each of the two cases */
#define TRIES	 16u
#define LASTS_MS 100u
/*
 * time in ms that is used instead of LASTS_MS if attempts are recorded as lock.contend, not as lock.fail: if
 * the attempts have lasted for less time than this, it is not certain that they will always fail
 */
#define WAITS_MS  2000u
#define RECENT_MS 250u
#define RING	  8u /* maximum number of threads in a cycle */

/* ---- Threads that keep their locks --------------------------------------------------------------- */

struct context {
	const struct why_evidence *evidence;
	const struct why_graph *graph;
	struct why_findings *findings;
	uint32_t found;
};

static const char *say_party(const struct context *context, uint32_t node, char *buffer, size_t size)
{
	return why_say_actor(context->evidence, why_node_id(context->graph, context->evidence, node), buffer,
			     size);
}

/* Returns the record of attempts to take a lock from which this WHY_EDGE_TRY edge was made. */
static const struct why_tries *tries_of(const struct context *context, const struct why_edge *edge)
{
	const struct why_thread *thread = &context->evidence->thread[edge->from - context->graph->cpus];
	const struct why_tries *tries = why_tries_next(context->evidence, thread, NULL);

	while (tries && tries->lock != edge->object)
		tries = why_tries_next(context->evidence, thread, tries);
	return tries;
}

/*
 * Returns whether the thread recorded events between its attempts that are not about locks or scheduling.
 * Such a thread may do other work, and release its lock when the work is done.
 */
static bool does_other_work(const struct context *context, const struct why_edge *edge)
{
	const struct why_tries *tries = edge->kind == WHY_EDGE_TRY ? tries_of(context, edge) : NULL;

	return tries &&
	       context->evidence->thread[edge->from - context->graph->cpus].last_action > tries->same.first;
}

static void say_edge(const struct context *context, struct why_finding *finding, const struct why_edge *edge)
{
	const struct why_evidence *evidence = context->evidence;
	const struct why_tries *tries = edge->kind == WHY_EDGE_TRY ? tries_of(context, edge) : NULL;
	char from[WHY_WORDS], to[WHY_WORDS], words[FINDING_LINE], place[WHY_WORDS];

	if (!why_edge_is_lock(edge))
		return;
	say_party(context, edge->from, from, sizeof(from));
	if (tries)
		finding_evidence(&finding->base, "%s %s%s", from,
				 why_say_tries(evidence, tries->lock, &tries->same, words, sizeof(words)),
				 why_say_called(evidence, ", at ", edge->pc, place, sizeof(place)));
	else
		finding_evidence(
			&finding->base, "%s %s", from,
			why_say_waiting(evidence,
					edge->kind == WHY_EDGE_SPIN ? KTRX_WAIT_SPIN : KTRX_WAIT_LOCK,
					edge->object, edge->since, edge->pc, words, sizeof(words)));
	finding_evidence(&finding->base, "  held by %s%s%s", say_party(context, edge->to, to, sizeof(to)),
			 why_say_since(evidence, " for about ", edge->held_since, words, sizeof(words)),
			 why_say_called(evidence, ", taken at ", edge->held_pc, place, sizeof(place)));
	if (does_other_work(context, edge))
		finding_evidence(
			&finding->base, "%s recorded other events between its tries, the last %s ago", from,
			why_say_since(evidence, "",
				      evidence->thread[edge->from - context->graph->cpus].last_action, words,
				      sizeof(words)));
}

/*
 * Returns how certain it is that no thread of the cycle gets its lock. This is certain if the kernel's table
 * shows all holders and waits, none of the waits has a timeout, and no thread does other work between its
 * attempts. It is only "possible" if the cycle is one thread that tries to take its own lock, because that
 * thread may only check whether it holds the lock.
 */
static enum finding_certainty how_sure(const struct context *context, const struct why_edge *const *edge,
				       uint32_t count, uint32_t parties)
{
	if (parties == 1)
		return FINDING_POSSIBLE;
	for (uint32_t n = 0; n < count; n++)
		if (!edge[n]->by_table || edge[n]->deadline || does_other_work(context, edge[n]) ||
		    (edge[n]->kind != WHY_EDGE_RUNS && (!why_edge_is_lock(edge[n]) || !edge[n]->held)))
			return FINDING_LIKELY;
	return FINDING_CERTAIN;
}

static void say_head(const struct context *context, struct why_finding *finding, const uint32_t *party,
		     uint32_t parties)
{
	char one[WHY_WORDS], two[WHY_WORDS];

	say_party(context, party[0], one, sizeof(one));
	say_party(context, party[1], two, sizeof(two));
	if (parties == 1)
		finding_say(finding->base.what,
			    "%s tries again and again to take a lock that it already holds", one);
	else if (parties == 2)
		finding_say(finding->base.what,
			    "%s and %s keep each other from taking a lock: "
			    "each holds the lock that the other thread tries to take",
			    one, two);
	else
		finding_say(finding->base.what,
			    "%s, %s and %" PRIu32 " other%s keep each other from taking a lock: "
			    "each holds the lock that the previous thread tries to take",
			    one, two, parties - 2, finding_plural(parties - 2));
}

static void add_actors(const struct context *context, struct why_finding *finding,
		       const struct why_edge *const *edge, uint32_t count)
{
	for (uint32_t n = 0; n < count; n++) {
		struct why_actor actor = {
			.id = why_node_id(context->graph, context->evidence, edge[n]->from),
			.waits = edge[n]->object,
			.ticks = edge[n]->since ? why_age(context->evidence, edge[n]->since) : 0,
			.pc = edge[n]->pc
		};

		for (uint32_t k = 0; k < count && !actor.holds; k++)
			if (edge[k]->to == edge[n]->from)
				actor.holds = edge[k]->object;
		if (edge[n]->kind != WHY_EDGE_RUNS)
			why_finding_actor(finding, actor);
	}
}

static int found_cycle(void *data, const struct why_edge *const *edge, uint32_t count)
{
	struct context *context = data;
	uint32_t party[2] = { 0, 0 }, parties = 0, tries = 0;
	struct why_finding *finding;

	for (uint32_t n = 0; n < count; n++) {
		tries += edge[n]->kind == WHY_EDGE_TRY;
		if (why_edge_is_doubtful(edge[n]))
			return WHY_CYCLE_LEFT;
		if (edge[n]->kind == WHY_EDGE_RUNS)
			continue;
		if (parties < 2)
			party[parties] = edge[n]->from;
		parties++;
	}
	if (tries == 0)
		return WHY_CYCLE_LEFT;
	if (context->found++ == MOST)
		return WHY_CYCLE_ENOUGH;
	finding = why_finding_new(context->findings, WHY_LIVELOCK, how_sure(context, edge, count, parties));
	if (!finding)
		return KTREAD_E_MEMORY;
	say_head(context, finding, party, parties);
	for (uint32_t n = 0; n < count; n++)
		say_edge(context, finding, edge[n]);
	add_actors(context, finding, edge, count);
	if (finding->base.certain == FINDING_LIKELY)
		finding_say(finding->base.advice,
			    "take another trace later, which shows whether they still hold the locks");
	return WHY_CYCLE_TAKEN;
}

static int find_kept(const struct why_evidence *evidence, struct why_findings *findings)
{
	struct context context = { .evidence = evidence, .findings = findings };
	struct why_graph *graph;
	int error = why_graph_build(&graph, evidence);

	context.graph = graph;
	if (!error)
		error = why_graph_cycles(graph, found_cycle, &context);
	why_graph_free(graph);
	return error;
}

/* ---- Threads that back off ----------------------------------------------------------------------- */

/*
 * Returns whether it is known that no attempt has succeeded. An event lock.fail shows this by itself. After
 * an event lock.contend, the thread usually gets the lock, and only lock.acquire shows whether it did. If the
 * kernel's table shows that the thread still waits, the thread does not back off.
 */
static bool has_no_success(const struct why_evidence *evidence, const struct why_thread *thread,
			   const struct why_tries *tries)
{
	return tries->fails || (!(thread->has_holder && thread->holder.wait == KTRX_WAIT_LOCK) &&
				scheduling_covers(evidence->scheduling, WELLKNOWN_LOCK_ACQUIRE,
						  tries->all.first, evidence->end));
}

/*
 * Returns the thread's newest attempts if they failed because another thread holds the lock. Otherwise
 * returns NULL.
 */
static const struct why_tries *tries_in_vain(const struct why_evidence *evidence,
					     const struct why_thread *thread)
{
	const struct why_tries *tries = &thread->tries[0];

	for (uint32_t n = 1; n < WHY_TRIED; n++)
		if (thread->tries[n].all.last > tries->all.last)
			tries = &thread->tries[n];
	return tries->all.count >= TRIES && tries->owner != UINT32_MAX && tries->owner != thread->id &&
			       elapsed(tries->all.first, tries->all.last) >=
				       why_ms(evidence, tries->fails ? LASTS_MS : WAITS_MS) &&
			       why_age(evidence, tries->all.last) <= why_ms(evidence, RECENT_MS) &&
			       has_no_success(evidence, thread, tries)
		       ? tries
		       : NULL;
}

struct ring {
	const struct why_thread *thread[RING];
	const struct why_tries *tries[RING];
	uint32_t length;
};

/*
 * Finds a cycle of threads in which each thread tries to take a lock that the next thread holds. Requires:
 * `first` has the lowest id in the cycle. Returns false if there is no cycle.
 */
static bool follow(const struct why_evidence *evidence, const struct why_thread *first, struct ring *ring)
{
	const struct why_thread *thread = first;
	const struct why_tries *tries;

	ring->length = 0;
	while (thread && ring->length < RING && thread->id >= first->id &&
	       (tries = tries_in_vain(evidence, thread))) {
		ring->tries[ring->length] = tries;
		ring->thread[ring->length++] = thread;
		if (tries->owner == first->id)
			return ring->length > 1;
		thread = why_thread_find(evidence, tries->owner);
	}
	return false;
}

/* Returns whether find_kept() has reported the thread already. */
static bool is_reported(const struct why_findings *findings, const struct why_thread *thread)
{
	for (uint32_t n = 0; n < why_findings_count(findings); n++) {
		const struct why_finding *finding = why_findings_at(findings, n);

		for (uint32_t k = 0; finding->verdict == WHY_LIVELOCK && k < finding->actors; k++)
			if (finding->actor[k].id == thread->id + 1)
				return true;
	}
	return false;
}

static void say_thread(const struct why_evidence *evidence, const struct why_thread *thread,
		       const struct why_tries *tries, struct why_finding *finding)
{
	char actor[WHY_WORDS], owner[WHY_WORDS], words[FINDING_LINE], place[WHY_WORDS];

	finding_evidence(&finding->base, "%s %s",
			 why_say_actor(evidence, thread->id + 1, actor, sizeof(actor)),
			 why_say_tries(evidence, tries->lock, &tries->all, words, sizeof(words)));
	finding_refer(&finding->base, tries->all.last, thread->id + 1, tries->lock);
	if (tries->pc)
		finding_evidence(&finding->base, "  at %s",
				 why_say_call(evidence, tries->pc, place, sizeof(place)));
	finding_evidence(&finding->base, "  at the last try it was held by %s",
			 why_say_actor(evidence, tries->owner + 1, owner, sizeof(owner)));
}

/* Returns whether all threads have tried for so long that the failures are not a coincidence. */
static bool lasts_long(const struct why_evidence *evidence, const struct ring *ring)
{
	for (uint32_t n = 0; n < ring->length; n++)
		if (elapsed(ring->tries[n]->all.first, ring->tries[n]->all.last) < why_ms(evidence, WAITS_MS))
			return false;
	return true;
}

static int found_ring(const struct why_evidence *evidence, struct why_findings *findings,
		      const struct ring *ring)
{
	const struct ktread_type *acquire = ktread_type_find(evidence->trace, "lock", "acquire");
	const struct ktread_type *had = ktread_type_find(evidence->trace, "lock", "try");
	const bool is_recorded =
		acquire && acquire->state & KTRX_STATE_RECORD && (!had || had->state & KTRX_STATE_RECORD);
	const bool is_long = lasts_long(evidence, ring);
	const uint32_t length = ring->length;
	struct why_finding *finding = why_finding_new(
		findings, WHY_LIVELOCK, is_recorded && is_long ? FINDING_CERTAIN : FINDING_LIKELY);
	char one[WHY_WORDS], other[WHY_WORDS];

	if (!finding)
		return KTREAD_E_MEMORY;
	finding_say(finding->base.what,
		    "%s and %s keep each other from taking a lock: each releases its own lock after a try, "
		    "and tries again",
		    why_say_actor(evidence, ring->thread[0]->id + 1, one, sizeof(one)),
		    why_say_actor(evidence, ring->thread[length - 1]->id + 1, other, sizeof(other)));
	for (uint32_t n = 0; n < length; n++) {
		const struct why_tries *tries = ring->tries[n];

		say_thread(evidence, ring->thread[n], tries, finding);
		why_finding_actor(finding,
				  (struct why_actor){ .id = ring->thread[n]->id + 1,
						      .waits = tries->lock,
						      .holds = ring->tries[(n + length - 1) % length]->lock,
						      .ticks = elapsed(tries->all.first, tries->all.last),
						      .pc = tries->pc });
	}
	if (!is_recorded)
		finding_say(finding->base.advice,
			    "switch on lock.acquire and lock.try, which show whether a try succeeded");
	else if (!is_long)
		finding_say(finding->base.advice,
			    "take another trace later, which shows whether they still get no lock");
	return 0;
}

int why_detect_livelock(const struct why_evidence *evidence, struct why_findings *findings)
{
	int error = why_waits_mean_nothing(evidence) ? 0 : find_kept(evidence, findings);
	uint32_t count = 0;
	struct ring ring;

	for (uint32_t n = 0; n < evidence->threads && !error && evidence->info->frequency && count < MOST;
	     n++)
		if (follow(evidence, &evidence->thread[n], &ring) && !is_reported(findings, ring.thread[0])) {
			count++;
			error = found_ring(evidence, findings, &ring);
		}
	return error;
}
