/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Deadlock and self-deadlock: a cycle of waits that none of those in it can leave. A thread that runs and its CPU are one
 * party: a cycle of one party is a self-deadlock, as when an interrupt handler wants the lock of what it interrupted.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "why/detectors.h"
#include "why/graph.h"

struct context {
	const struct why_evidence *evidence;
	const struct why_graph *graph;
	struct why_findings *findings;
};

/* Party `edge->from` of a cycle as people know it: the thread, and the CPU it is on. */
static const char *say_party(const struct context *context, uint32_t node, char *buffer, size_t size)
{
	const struct why_evidence *evidence = context->evidence;
	char actor[WHY_WORDS];

	why_say_actor(evidence, why_node_id(context->graph, evidence, node), buffer, size);
	if (node < context->graph->cpus && evidence->cpu[node].running != UINT32_MAX) {
		why_say_actor(evidence, evidence->cpu[node].running + 1, actor, sizeof(actor));
		why_say(buffer, size, "%s on CPU %" PRIu32, actor, node);
	}
	return buffer;
}

static bool is_wait(const struct why_edge *edge)
{
	return edge->kind != WHY_EDGE_RUNS;
}

/* "3.21 s", or "" if that is not known. */
static const char *say_since(const struct why_evidence *evidence, const char *before, uint64_t since,
			     char *buffer, size_t size)
{
	char ticks[WHY_WORDS];

	buffer[0] = '\0';
	if (since && since <= evidence->end)
		why_say(buffer, size, "%s%s", before,
			why_say_ticks(evidence, evidence->end - since, ticks, sizeof(ticks)));
	return buffer;
}

static const char *say_at(const struct why_evidence *evidence, const char *before, uint64_t pc, char *buffer,
			  size_t size)
{
	char place[WHY_WORDS];

	buffer[0] = '\0';
	if (pc)
		why_say(buffer, size, "%s%s", before, why_say_call(evidence, pc, place, sizeof(place)));
	return buffer;
}

static void say_lock(const struct context *context, struct why_finding *finding, const struct why_edge *edge)
{
	const struct why_evidence *evidence = context->evidence;
	char from[WHY_WORDS], to[WHY_WORDS], lock[WHY_WORDS], since[WHY_WORDS], at[WHY_WORDS];

	why_finding_line(finding, "%s %s lock %s%s%s", say_party(context, edge->from, from, sizeof(from)),
			 edge->kind == WHY_EDGE_SPIN ? "spins for" : "sleeps until it has",
			 why_say_object(evidence, edge->object, lock, sizeof(lock)),
			 say_since(evidence, " since ", edge->since, since, sizeof(since)),
			 say_at(evidence, ", in ", edge->pc, at, sizeof(at)));
	why_finding_line(finding, "  which %s has%s%s", say_party(context, edge->to, to, sizeof(to)),
			 say_since(evidence, " had for about ", edge->held_since, since, sizeof(since)),
			 say_at(evidence, ", taken in ", edge->held_pc, at, sizeof(at)));
}

static void say_edge(const struct context *context, struct why_finding *finding, const struct why_edge *edge)
{
	const struct why_evidence *evidence = context->evidence;
	char from[WHY_WORDS], to[WHY_WORDS], since[WHY_WORDS], at[WHY_WORDS];

	say_party(context, edge->from, from, sizeof(from));
	say_party(context, edge->to, to, sizeof(to));
	say_since(evidence, " for ", edge->since, since, sizeof(since));
	say_at(evidence, ", in ", edge->pc, at, sizeof(at));
	switch (edge->kind) {
	case WHY_EDGE_SPIN:
	case WHY_EDGE_LOCK:
		say_lock(context, finding, edge);
		return;
	case WHY_EDGE_JOIN:
		why_finding_line(finding, "%s waits%s for the end of %s%s", from, since, to, at);
		return;
	case WHY_EDGE_IPI:
		why_finding_line(finding,
				 "%s waits%s for CPU %" PRIu32
				 " to answer an interrupt, which keeps interrupts off%s",
				 from, since, edge->to, at);
		return;
	case WHY_EDGE_TURN:
		why_finding_line(finding, "%s could run%s, but CPU %" PRIu32 " is taken by %s", from, since,
				 edge->to, to);
		return;
	case WHY_EDGE_RUNS:
		return;
	}
}

/* A cycle of which no part ends by itself. */
static int found_cycle(void *data, const struct why_edge *const *edge, uint32_t count)
{
	struct context *context = data;
	const struct why_evidence *evidence = context->evidence;
	struct why_finding *finding;
	uint32_t waits = 0;
	uint64_t newest = 0;
	bool told = true;
	char words[WHY_WORDS], since[WHY_WORDS];
	uint32_t first = WHY_NODE_NONE;

	for (uint32_t n = 0; n < count; n++) {
		if (edge[n]->ends)
			return 0;
		told = told && edge[n]->told;
		if (!is_wait(edge[n]))
			continue;
		if (waits++ == 0)
			first = edge[n]->from;
		if (edge[n]->since > newest)
			newest = edge[n]->since;
	}
	if (waits == 0)
		return 0;
	finding = why_finding_new(context->findings, waits == 1 ? WHY_SELF_DEADLOCK : WHY_DEADLOCK,
				  told ? WHY_CERTAIN : WHY_LIKELY);
	if (!finding)
		return KTREAD_E_MEMORY;
	say_party(context, first, words, sizeof(words));
	say_since(evidence, ", for ", newest, since, sizeof(since));
	if (waits == 1)
		why_finding_head(finding, "%s waits for itself%s", words, since);
	else
		why_finding_head(finding, "%" PRIu32 " wait for each other in a ring, %s among them%s", waits,
				 words, since);
	for (uint32_t n = 0; n < count; n++) {
		say_edge(context, finding, edge[n]);
		if (is_wait(edge[n]))
			why_finding_actor(finding,
					  (struct why_actor){
						  .id = why_node_id(context->graph, evidence, edge[n]->from),
						  .waits = edge[n]->object,
						  .ticks = edge[n]->since && edge[n]->since <= evidence->end
								   ? evidence->end - edge[n]->since
								   : 0,
						  .pc = edge[n]->pc });
	}
	if (!told)
		why_finding_missing(
			finding,
			"the hooks for locks (ktrace_lock_wait and the rest): this is concluded from events");
	return 0;
}

int why_detect_deadlock(const struct why_evidence *evidence, struct why_findings *findings)
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
