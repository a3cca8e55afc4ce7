/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Deadlock and self-deadlock: a cycle of waits. A wait with a timeout is part of a cycle only if it has
 * lasted long. A running thread and its CPU are one party of the cycle, not two. A cycle of one party is a
 * self-deadlock. For example, an interrupt handler waits for a lock that the interrupted code holds.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "why/finding.h"
#include "why/graph.h"
#include "why/pulse.h"

/*
 * time in ms; used if the machine ran while its memory was read: a cycle that began less than this time
 * before the end is not certain
 */
#define LEAST_MS 10u
/*
 * time in ms; used if a cycle contains a wait for an IPI answer, or for a CPU that the host may have stopped:
 * a cycle that began less than this time before the end is not certain
 */
#define ANSWER_MS 250u
/* maximum number of findings; a limit is needed because it takes time to list the waiters of each cycle */
#define MOST	     32u
#define PASSES	     16u /* maximum length of a chain of waits that leads to the cycle */
#define WAITERS_MOST 8u	 /* maximum number of waiters outside the cycle that are listed */

/*
 * Marks of nodes. WAITS_FOR_CYCLE: the node waits for the cycle. SAME_PARTY: the node is the running thread
 * of a marked CPU, or the CPU of a marked thread.
 */
enum { WAITS_FOR_CYCLE = 1, SAME_PARTY };

struct context {
	const struct why_evidence *evidence;
	const struct why_graph *graph;
	struct why_findings *findings;
	uint32_t found;
	bool doubtful; /* true while cycles with doubtful edges are sought, false for all other cycles */
	bool *stuck;   /* for each node: true if it is part of a cycle that was found */
};

/*
 * Formats a party of a cycle, such as "CPU 1" or "thread 5 (make)". If a CPU runs a thread, formats both:
 * "thread 5 (make) on CPU 1".
 */
static const char *say_party(const struct context *context, uint32_t node, char *buffer, size_t size)
{
	const struct why_evidence *evidence = context->evidence;
	char actor[WHY_WORDS];

	why_say_actor(evidence, why_node_id(context->graph, evidence, node), buffer, size);
	if (node < context->graph->cpus && why_runs_work(evidence, &evidence->cpu[node])) {
		why_say_actor(evidence, evidence->cpu[node].running + 1, actor, sizeof(actor));
		why_say(buffer, size, "%s on CPU %" PRIu32, actor, node);
	}
	return buffer;
}

/*
 * Returns whether a CPU holds the lock and has switched threads after it took the lock. In this case, the
 * running thread is not the thread that took the lock.
 */
static bool was_taken_before_switch(const struct context *context, const struct why_edge *edge)
{
	const struct why_evidence *evidence = context->evidence;

	return edge->to < context->graph->cpus && edge->held && edge->held_since &&
	       edge->held_since < evidence->cpu[edge->to].row.switch_stamp;
}

/* Formats the holder of the lock. Names the running thread only if that thread can have taken the lock. */
static const char *say_owner(const struct context *context, const struct why_edge *edge, char *buffer,
			     size_t size)
{
	if (was_taken_before_switch(context, edge))
		return why_say_actor(context->evidence,
				     why_node_id(context->graph, context->evidence, edge->to), buffer, size);
	return say_party(context, edge->to, buffer, size);
}

/* Adds two lines about a wait for a lock: the first describes the wait, the second describes the holder. */
static void say_lock(const struct context *context, struct why_finding *finding, const struct why_edge *edge)
{
	const struct why_evidence *evidence = context->evidence;
	char from[WHY_WORDS], to[WHY_WORDS], waits[FINDING_LINE], since[WHY_WORDS], at[WHY_WORDS];

	finding_evidence(&finding->base, "%s %s%s", say_party(context, edge->from, from, sizeof(from)),
			 edge->kind == WHY_EDGE_POLL ? "is runnable (retrying or just woken) and "
			 : edge->retries	     ? "sleeps between two tries and "
						     : "",
			 why_say_waiting(evidence,
					 edge->kind == WHY_EDGE_SPIN ? KTRX_WAIT_SPIN : KTRX_WAIT_LOCK,
					 edge->object, edge->since, edge->pc, waits, sizeof(waits)));
	finding_refer(&finding->base, edge->since, why_node_id(context->graph, evidence, edge->from),
		      edge->object);
	finding_evidence(&finding->base,
			 edge->doubt == WHY_DOUBT_NAMED || edge->doubt == WHY_DOUBT_RELEASED
				 ? "  last known owner: %s%s%s%s"
				 : "  held by %s%s%s%s",
			 say_owner(context, edge, to, sizeof(to)),
			 why_say_since(evidence, " for about ", edge->held_since, since, sizeof(since)),
			 why_say_called(evidence, ", taken at ", edge->held_pc, at, sizeof(at)),
			 was_taken_before_switch(context, edge) ? ", not released by the thread that took it"
								: "");
	finding_refer(&finding->base, edge->held_since, why_node_id(context->graph, evidence, edge->to),
		      edge->object);
}

/* If the wait has a timeout that has not ended yet, adds a line about it. */
static void say_timeout(const struct why_evidence *evidence, struct why_finding *finding,
			const struct why_edge *edge)
{
	char ticks[WHY_WORDS];

	if (edge->deadline > evidence->end && !edge->retries)
		finding_evidence(
			&finding->base, "  this wait has a timeout, which ends in %s",
			why_say_ticks(evidence, edge->deadline - evidence->end, ticks, sizeof(ticks)));
}

/*
 * Adds a line that states why a CPU has not answered an IPI. `asked` is the text that names this CPU, or the
 * thread that it runs.
 */
static void say_missing_answer(const struct context *context, struct why_finding *finding,
			       const struct why_edge *edge, const char *asked)
{
	if (context->evidence->cpu[edge->to].row.interrupts == KTRX_INTERRUPTS_OFF)
		finding_evidence(&finding->base, "  %s does not take the IPI: interrupts are disabled there",
				 asked);
	else
		finding_evidence(&finding->base,
				 "  %s has not answered the IPI: that CPU runs an interrupt handler%s", asked,
				 edge->nested ? ", but interrupts were last recorded as enabled" : "");
}

static void say_edge(const struct context *context, struct why_finding *finding, const struct why_edge *edge)
{
	const struct why_evidence *evidence = context->evidence;
	char from[WHY_WORDS], to[WHY_WORDS], since[WHY_WORDS], at[WHY_WORDS];

	say_party(context, edge->from, from, sizeof(from));
	say_party(context, edge->to, to, sizeof(to));
	why_say_since(evidence, " ", edge->since, since, sizeof(since));
	why_say_called(evidence, ", at ", edge->pc, at, sizeof(at));
	switch (edge->kind) {
	case WHY_EDGE_SPIN:
	case WHY_EDGE_LOCK:
	case WHY_EDGE_POLL:
		say_lock(context, finding, edge);
		return;
	case WHY_EDGE_JOIN:
		finding_evidence(&finding->base, "%s %s%s for the end of %s%s", from,
				 *since ? "has waited" : "waits", since, to, at);
		return;
	case WHY_EDGE_IPI:
		finding_evidence(&finding->base, "%s %s%s for an answer to its IPI%s", from,
				 *since ? "has waited" : "waits", since, at);
		say_missing_answer(context, finding, edge, to);
		return;
	case WHY_EDGE_TURN:
		finding_evidence(&finding->base,
				 "%s %s%s, but the thread on CPU %" PRIu32 " cannot be preempted", from,
				 *since ? "has been runnable for" : "is runnable", since, edge->to);
		return;
	case WHY_EDGE_TRY: /* no line here, because detect_livelock.c describes these waits */
	case WHY_EDGE_RUNS:
		return;
	}
}

/* Facts about a cycle as a whole. */
struct cycle {
	const struct why_edge *const *edge;
	uint32_t count;
	uint32_t waits;	   /* number of edges that are waits, which is the number of parties */
	uint32_t party[2]; /* nodes of the first two parties of the cycle */
	/* timestamp at which the newest wait of the cycle began; this wait completed the cycle */
	uint64_t newest;
	bool by_table; /* true if the kernel's tables, not events, show all edges */
	bool timed;    /* true if one of the waits has a timeout, or its thread sleeps between its attempts */
	bool nested;   /* true if an IPI that interrupts a handler may still end one of the waits */
	bool asks;     /* true if one of the waits is for an answer to an IPI */
	bool tries;    /* one of the parties does not wait for a lock, but tries to take it again and again */
	bool turns;    /* true if one of the waits is for a CPU whose thread cannot be preempted */
	bool locks;    /* each wait is for the end of a thread, or for a lock that is certainly held */
	bool doubtful; /* true if it is doubtful that one of the waits is for that thread or CPU */
	bool named;    /* true if one of the waits has the doubt WHY_DOUBT_NAMED */
	bool released; /* true if one of the waits has the doubt WHY_DOUBT_RELEASED */
	enum finding_certainty most; /* maximum certainty of the finding, because of such doubts */
};

/*
 * Returns whether the wait proves a deadlock even if it began only a moment ago. A wait for a lock proves it
 * if the awaited thread or CPU certainly holds the lock, because no other thread or CPU can hold this lock at
 * the same time.
 */
static bool needs_no_time(const struct why_edge *edge)
{
	switch (edge->kind) {
	case WHY_EDGE_SPIN:
	case WHY_EDGE_LOCK:
	case WHY_EDGE_POLL:
		return edge->held;
	case WHY_EDGE_JOIN:
	case WHY_EDGE_RUNS:
		return true;
	case WHY_EDGE_IPI:
	case WHY_EDGE_TURN:
	case WHY_EDGE_TRY:
		break;
	}
	return false;
}

/* Returns the maximum certainty of a deadlock that contains the wait. */
static enum finding_certainty limit_of(const struct why_edge *edge)
{
	return edge->doubt == WHY_DOUBT_NONE ? FINDING_CERTAIN
	       : edge->likely		     ? FINDING_LIKELY
					     : FINDING_POSSIBLE;
}

static struct cycle measure(const struct why_edge *const *edge, uint32_t count)
{
	struct cycle cycle = {
		.edge = edge, .count = count, .by_table = true, .locks = true, .most = FINDING_CERTAIN
	};

	for (uint32_t n = 0; n < count; n++) {
		cycle.by_table = cycle.by_table && edge[n]->by_table;
		cycle.timed = cycle.timed || edge[n]->deadline;
		cycle.nested = cycle.nested || edge[n]->nested;
		cycle.asks = cycle.asks || edge[n]->kind == WHY_EDGE_IPI;
		cycle.tries = cycle.tries || edge[n]->kind == WHY_EDGE_TRY;
		cycle.turns = cycle.turns || edge[n]->kind == WHY_EDGE_TURN;
		cycle.locks = cycle.locks && needs_no_time(edge[n]);
		cycle.doubtful = cycle.doubtful || why_edge_is_doubtful(edge[n]);
		cycle.named = cycle.named || edge[n]->doubt == WHY_DOUBT_NAMED;
		cycle.released = cycle.released || edge[n]->doubt == WHY_DOUBT_RELEASED;
		if (limit_of(edge[n]) < cycle.most)
			cycle.most = limit_of(edge[n]);
		if (edge[n]->kind == WHY_EDGE_RUNS)
			continue;
		if (cycle.waits < 2)
			cycle.party[cycle.waits] = edge[n]->from;
		cycle.waits++;
		if (edge[n]->since > cycle.newest)
			cycle.newest = edge[n]->since;
		if (edge[n]->firm > cycle.newest)
			cycle.newest = edge[n]->firm;
	}
	return cycle;
}

/*
 * Returns whether the cycle began so shortly before the end that a deadlock is not certain. If the machine
 * ran while its memory was read, the trace may contain states from different moments. A cycle with a wait for
 * an IPI answer must last longer, because a CPU with interrupts disabled may poll for IPIs.
 */
static bool is_young(const struct why_evidence *evidence, const struct cycle *cycle)
{
	const bool at_once = evidence->stalled || (evidence->halted && cycle->locks);
	const uint64_t least_ms = cycle->asks || cycle->turns ? ANSWER_MS : at_once ? 0 : LEAST_MS;

	return cycle->newest && why_age(evidence, cycle->newest) < why_ms(evidence, least_ms);
}

/*
 * Returns whether the cycle may be normal. This is so if the cycle is young, contains a wait for an IPI
 * answer or for a CPU, and the machine makes progress.
 */
static bool is_usual(const struct why_evidence *evidence, const struct cycle *cycle)
{
	return (cycle->asks || cycle->turns) && is_young(evidence, cycle) &&
	       (evidence->made_progress || why_any_cpu_works(evidence));
}

/* Returns whether an event shows that the awaited thread took the lock, and that it still holds the lock. */
static bool took_by_event(const struct why_evidence *evidence, const struct why_edge *edge)
{
	const uint32_t thread = evidence->thread[edge->to - evidence->cpus].id;

	for (uint32_t n = 0; n < evidence->holds; n++)
		if (evidence->hold[n].lock == edge->object && evidence->hold[n].thread == thread &&
		    !evidence->hold[n].ended)
			return true;
	return false;
}

/*
 * Returns whether a thread waits for its own lock, and neither its row nor an event shows that it holds this
 * lock: only the kernel named it as the owner when the wait began. An earlier thread with the same number may
 * have left the lock behind.
 */
static bool is_only_named(const struct why_evidence *evidence, const struct cycle *cycle)
{
	for (uint32_t n = 0; n < cycle->count && cycle->waits == 1; n++)
		if (why_edge_is_lock(cycle->edge[n]) && !cycle->edge[n]->held &&
		    cycle->edge[n]->to >= evidence->cpus && !took_by_event(evidence, cycle->edge[n]))
			return true;
	return false;
}

static enum finding_certainty how_sure(const struct why_evidence *evidence, const struct cycle *cycle)
{
	if (is_young(evidence, cycle) || cycle->most == FINDING_POSSIBLE)
		return FINDING_POSSIBLE;
	return cycle->most == FINDING_CERTAIN && cycle->by_table && !cycle->nested && !cycle->timed &&
			       !is_only_named(evidence, cycle)
		       ? FINDING_CERTAIN
		       : FINDING_LIKELY;
}

static bool is_lossy(const struct why_evidence *evidence)
{
	for (uint32_t n = 0; n < evidence->cpus; n++)
		if (evidence->cpu[n].lost)
			return true;
	return evidence->left_out > 0;
}

/*
 * Returns whether a thread went to sleep on the CPU while the CPU held the spinlock, and another thread runs
 * on the CPU now.
 */
static bool slept_with_spinlock(const struct why_evidence *evidence, uint32_t cpu, uint64_t lock)
{
	const struct ktrx_cpu *row = &evidence->cpu[cpu].row;

	return evidence->cpu[cpu].has_row && row->broken == KTRX_BROKEN_SWITCH_LOCKED &&
	       row->broken_object == lock && row->broken_thread != evidence->cpu[cpu].running;
}

/* Sets the headline of the finding of a self-deadlock. `waits` is a text like "has waited 2.31 s". */
static void say_self(const struct context *context, struct why_finding *finding, const struct cycle *cycle,
		     const char *party, const char *waits)
{
	const struct why_evidence *evidence = context->evidence;
	const struct why_edge *edge = cycle->edge[0];
	const uint32_t cpu = cycle->party[0];
	char lock[WHY_WORDS], other[WHY_WORDS];

	for (uint32_t n = 0; n < cycle->count; n++)
		if (cycle->edge[n]->kind != WHY_EDGE_RUNS)
			edge = cycle->edge[n];
	why_say_object(evidence, edge->object, lock, sizeof(lock));
	if (cpu < evidence->cpus && evidence->cpu[cpu].has_row && evidence->cpu[cpu].row.nesting > 0)
		finding_say(finding->base.what,
			    "CPU %" PRIu32 " %s for lock %s in the handler of interrupt %" PRIu32
			    ", which interrupted the holder of the lock",
			    cpu, waits, lock, evidence->cpu[cpu].row.irq);
	else if (cpu < evidence->cpus && slept_with_spinlock(evidence, cpu, edge->object))
		finding_say(finding->base.what,
			    "%s %s for lock %s, which %s held when it went to sleep there", party, waits,
			    lock,
			    why_say_actor(evidence, evidence->cpu[cpu].row.broken_thread + 1, other,
					  sizeof(other)));
	else if (was_taken_before_switch(context, edge))
		finding_say(finding->base.what,
			    "%s %s for lock %s, which that CPU took before it switched to this thread", party,
			    waits, lock);
	else
		finding_say(finding->base.what, "%s %s for lock %s, which it already holds", party, waits,
			    lock);
}

static void say_head(const struct context *context, struct why_finding *finding, const struct cycle *cycle)
{
	const struct why_evidence *evidence = context->evidence;
	char one[WHY_WORDS], two[WHY_WORDS], waits[WHY_WORDS];

	say_party(context, cycle->party[0], one, sizeof(one));
	why_say_since(evidence, cycle->waits == 1 ? "has waited " : "have waited ", cycle->newest, waits,
		      sizeof(waits));
	if (!*waits)
		why_say(waits, sizeof(waits), cycle->waits == 1 ? "waits" : "wait");
	if (cycle->waits == 1) {
		say_self(context, finding, cycle, one, waits);
		return;
	}
	say_party(context, cycle->party[1], two, sizeof(two));
	if (cycle->waits == 2)
		finding_say(finding->base.what, "%s and %s %s for each other", one, two, waits);
	else
		finding_say(finding->base.what, "%s, %s and %" PRIu32 " other%s %s for each other in a cycle",
			    one, two, cycle->waits - 2, finding_plural(cycle->waits - 2), waits);
}

static void add_actors(const struct context *context, struct why_finding *finding, const struct cycle *cycle)
{
	const struct why_evidence *evidence = context->evidence;

	for (uint32_t n = 0; n < cycle->count && finding->actors < WHY_ACTORS; n++) {
		const struct why_edge *edge = cycle->edge[n];
		struct why_actor actor = { .id = why_node_id(context->graph, evidence, edge->from),
					   .waits = edge->object,
					   .pc = edge->pc };

		if (edge->kind == WHY_EDGE_RUNS)
			continue;
		if (edge->since)
			actor.ticks = why_age(evidence, edge->since);
		for (uint32_t k = 0; k < cycle->count && !actor.holds; k++)
			if (cycle->edge[k]->to == edge->from)
				actor.holds = cycle->edge[k]->object;
		why_finding_actor(finding, actor);
	}
}

/*
 * Marks further nodes: each node that waits for a marked node, the running thread of each marked CPU, and the
 * CPU of each running thread that is marked. Returns the number of nodes that this call has marked.
 */
static uint32_t spread(const struct why_graph *graph, uint8_t *stuck)
{
	uint32_t marked = 0;

	for (uint32_t n = 0; n < graph->edges; n++) {
		const struct why_edge *edge = &graph->edge[n];

		if (!stuck[edge->to] || stuck[edge->from] || why_edge_is_doubtful(edge))
			continue;
		stuck[edge->from] = edge->kind == WHY_EDGE_RUNS ? SAME_PARTY : WAITS_FOR_CYCLE;
		marked++;
	}
	return marked;
}

static void list_waiters(const struct context *context, struct why_finding *finding, const uint8_t *stuck)
{
	char line[FINDING_LINE] = "", party[WHY_WORDS];
	uint32_t shown = 0, more = 0;

	for (uint32_t n = 0; n < context->graph->nodes; n++) {
		size_t length = strlen(line);

		if (stuck[n] != WAITS_FOR_CYCLE)
			continue;
		say_party(context, n, party, sizeof(party));
		if (shown == WAITERS_MOST ||
		    length + strlen(party) + sizeof("waiting for them: , ") > sizeof(line))
			more++;
		else
			why_say(line + length, sizeof(line) - length, "%s%s", shown++ ? ", " : "", party);
	}
	if (shown)
		finding_evidence(&finding->base, "waiting for them: %s", line);
	if (more)
		finding_evidence(&finding->base, "  and %" PRIu32 " more", more);
}

/* Lists the threads and CPUs outside of the cycle that wait for a thread or CPU in it. */
static int say_waiters(const struct context *context, struct why_finding *finding, const struct cycle *cycle)
{
	uint8_t *stuck = calloc(context->graph->nodes, 1);

	if (!stuck)
		return KTREAD_E_MEMORY;
	for (uint32_t n = 0; n < cycle->count; n++)
		stuck[cycle->edge[n]->from] = SAME_PARTY;
	for (uint32_t pass = 0; pass < PASSES && spread(context->graph, stuck); pass++)
		;
	list_waiters(context, finding, stuck);
	free(stuck);
	return 0;
}

/*
 * Returns whether one of the cycle's waits is known only from events, because the kernel's table shows a
 * sleep instead.
 */
static bool has_outer_wait(const struct context *context, const struct cycle *cycle)
{
	for (uint32_t n = 0; n < cycle->count; n++) {
		const uint32_t from = cycle->edge[n]->from, cpus = context->graph->cpus;

		if (from >= cpus && context->evidence->thread[from - cpus].waits_for_outer)
			return true;
	}
	return false;
}

static void say_advice(const struct context *context, struct why_finding *finding, const struct cycle *cycle)
{
	if (has_outer_wait(context, cycle))
		finding_say(finding->base.advice, "where a thread goes to sleep for a lock, call "
						  "ktrace_block() with this lock and KTRX_WAIT_LOCK");
	else if (!cycle->by_table && !why_finding_state(finding, context->evidence))
		finding_say(finding->base.advice,
			    "call the lock hooks of ktrace/hooks.h, because this was concluded from events");
	else if (cycle->named)
		finding_say(finding->base.advice,
			    "call ktrace_lock_acquire() and ktrace_lock_release() for these locks, too; "
			    "a semaphore has no owner: pass KTRACE_NOBODY to ktrace_lock_wait()");
	else if (finding->base.certain == FINDING_POSSIBLE && !cycle->doubtful)
		finding_say(finding->base.advice,
			    "take another trace later, because this state may have lasted only for a moment");
}

/*
 * Returns whether the cycle is a deadlock that is to be reported now. A cycle with doubtful edges is reported
 * only if none of its parties is part of a cycle without them. If the owner of a lock has run since the wait
 * began, it has probably released the lock, unless another owner in the cycle shows that the kernel does not
 * report all locks.
 */
static bool counts(const struct context *context, const struct cycle *cycle)
{
	if (cycle->waits == 0 || cycle->tries || is_usual(context->evidence, cycle) ||
	    cycle->doubtful != context->doubtful || (cycle->released && !cycle->named))
		return false;
	for (uint32_t n = 0; n < cycle->count; n++)
		if (cycle->doubtful && context->stuck[cycle->edge[n]->from])
			return false;
	return true;
}

static int found_cycle(void *data, const struct why_edge *const *edge, uint32_t count)
{
	struct context *context = data;
	const struct cycle cycle = measure(edge, count);
	struct why_finding *finding;
	int error;

	if (!counts(context, &cycle))
		return WHY_CYCLE_LEFT;
	if (context->found++ == MOST)
		return WHY_CYCLE_ENOUGH;
	finding = why_finding_new(context->findings, cycle.waits == 1 ? WHY_SELF_DEADLOCK : WHY_DEADLOCK,
				  how_sure(context->evidence, &cycle));
	if (!finding)
		return KTREAD_E_MEMORY;
	say_head(context, finding, &cycle);
	for (uint32_t n = 0; n < count; n++) {
		say_edge(context, finding, edge[n]);
		why_finding_doubt(finding, context->evidence, context->graph, edge[n]);
		say_timeout(context->evidence, finding, edge[n]);
		context->stuck[edge[n]->from] = true;
	}
	if (is_only_named(context->evidence, &cycle))
		finding_evidence(
			&finding->base,
			"the kernel named it as the owner, but neither the kernel's table nor an event shows "
			"that it took the lock; "
			"an earlier owner with the same number may have ended");
	add_actors(context, finding, &cycle);
	finding->base.partial = !cycle.by_table && is_lossy(context->evidence);
	say_advice(context, finding, &cycle);
	error = say_waiters(context, finding, &cycle);
	return error ? error : WHY_CYCLE_TAKEN;
}

int why_detect_deadlock(const struct why_evidence *evidence, struct why_findings *findings)
{
	struct context context = { .evidence = evidence, .findings = findings };
	struct why_graph *graph;
	int error = why_graph_build(&graph, evidence);

	context.graph = graph;
	context.stuck = graph ? calloc((size_t)graph->nodes + 1, sizeof(*context.stuck)) : NULL;
	if (!error && !context.stuck)
		error = KTREAD_E_MEMORY;
	if (!error)
		error = why_graph_cycles(graph, found_cycle, &context);
	context.doubtful = true;
	if (!error)
		error = why_graph_cycles(graph, found_cycle, &context);
	free(context.stuck);
	why_graph_free(graph);
	return error;
}
