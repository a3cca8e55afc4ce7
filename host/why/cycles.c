/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Finds the cycles of a graph. The root of a cycle is its node with the lowest number. For each root and each
 * length of cycles, the search visits only nodes that have a higher number and a short enough path back to
 * the root. It finds short cycles first, because they explain a deadlock in fewer lines.
 */
#include <stdlib.h>

#include "why/graph.h"

/*
 * maximum number of visits of edges; a limit is needed because a damaged trace may contain any number of
 * cycles
 */
#define STEPS	1000000u
#define NOWHERE UINT32_MAX

struct search {
	const struct why_graph *graph;
	why_cycle_found *found;
	void *context;
	/* for each node: number of its incoming edges that may be in a cycle; 0: the node is in no cycle */
	uint32_t *degree;
	/*
	 * `back` holds the numbers of the edges, sorted by target node. `back_first` holds, for each node,
	 * the index in `back` of the first edge to that node.
	 */
	uint32_t *back, *back_first;
	/* for each node: length of the shortest path from the node to the root; NOWHERE: there is no path */
	uint32_t *far;
	uint32_t *reached, reached_count; /* nodes that have a path to the root */
	const struct why_edge **way;	  /* edges of the current path from the root */
	uint32_t *next;			  /* for each node of the current path: the edge to visit next */
	bool *passed;			  /* for each node: true if it is on the current path */
	/* for each edge: true if it is part of a cycle that the caller has used */
	bool *taken;
	uint32_t steps;
};

static int make_room(struct search *search)
{
	const size_t nodes = (size_t)search->graph->nodes + 1, edges = (size_t)search->graph->edges + 1;

	search->degree = calloc(nodes, sizeof(*search->degree));
	search->back = calloc(edges, sizeof(*search->back));
	search->back_first = calloc(nodes + 1, sizeof(*search->back_first));
	search->far = calloc(nodes, sizeof(*search->far));
	search->reached = calloc(nodes, sizeof(*search->reached));
	search->way = calloc(nodes, sizeof(*search->way));
	search->next = calloc(nodes, sizeof(*search->next));
	search->passed = calloc(nodes, sizeof(*search->passed));
	search->taken = calloc(edges, sizeof(*search->taken));
	return search->degree && search->back && search->back_first && search->far && search->reached &&
			       search->way && search->next && search->passed && search->taken
		       ? 0
		       : KTREAD_E_MEMORY;
}

static void free_search(struct search *search)
{
	free(search->degree);
	free(search->back);
	free(search->back_first);
	free(search->far);
	free(search->reached);
	free(search->way);
	free(search->next);
	free(search->passed);
	free(search->taken);
}

static void index_back(struct search *search)
{
	const struct why_graph *graph = search->graph;

	for (uint32_t n = 0; n < graph->edges; n++)
		search->back_first[graph->edge[n].to + 2]++;
	for (uint32_t n = 0; n < graph->nodes; n++)
		search->back_first[n + 1] += search->back_first[n];
	for (uint32_t n = 0; n < graph->edges; n++)
		search->back[search->back_first[graph->edge[n].to + 1]++] = n;
}

/* Removes all nodes that cannot be in a cycle, because no remaining node has an edge to them. */
static void trim(struct search *search)
{
	const struct why_graph *graph = search->graph;
	uint32_t *queue = search->reached, count = 0;

	for (uint32_t n = 0; n < graph->edges; n++)
		search->degree[graph->edge[n].to] += !graph->edge[n].ends;
	for (uint32_t n = 0; n < graph->nodes; n++)
		if (search->degree[n] == 0)
			queue[count++] = n;
	for (uint32_t at = 0; at < count; at++)
		for (uint32_t n = graph->first[queue[at]]; n < graph->first[queue[at] + 1]; n++)
			if (!graph->edge[n].ends && --search->degree[graph->edge[n].to] == 0)
				queue[count++] = graph->edge[n].to;
}

/*
 * Sets `far` for each node that has a higher number than the root and a path to the root. This is a
 * breadth-first search.
 */
static void measure(struct search *search, uint32_t root)
{
	const struct why_graph *graph = search->graph;

	search->far[root] = 0;
	search->reached[0] = root;
	search->reached_count = 1;
	for (uint32_t at = 0; at < search->reached_count; at++) {
		const uint32_t node = search->reached[at];

		for (uint32_t n = search->back_first[node]; n < search->back_first[node + 1]; n++) {
			const struct why_edge *edge = &graph->edge[search->back[n]];

			search->steps++;
			if (edge->ends || edge->from < root || search->degree[edge->from] == 0 ||
			    search->far[edge->from] != NOWHERE)
				continue;
			search->far[edge->from] = search->far[node] + 1;
			search->reached[search->reached_count++] = edge->from;
		}
	}
}

static void forget_distances(struct search *search)
{
	for (uint32_t n = 0; n < search->reached_count; n++)
		search->far[search->reached[n]] = NOWHERE;
}

/*
 * Reports the current path as a cycle, unless each of its edges is already in a cycle that the caller has
 * used.
 */
static int report(struct search *search, uint32_t count)
{
	bool is_new = false;
	int result;

	for (uint32_t n = 0; n < count; n++)
		is_new = is_new || !search->taken[search->way[n] - search->graph->edge];
	if (!is_new)
		return 0;
	result = search->found(search->context, search->way, count);
	for (uint32_t n = 0; n < count && result == WHY_CYCLE_TAKEN; n++)
		search->taken[search->way[n] - search->graph->edge] = true;
	return result == WHY_CYCLE_TAKEN ? 0 : result;
}

/* Finds all cycles of `length` edges from the root. Returns 0 to continue; other values end the search. */
static int find_of_length(struct search *search, uint32_t root, uint32_t length)
{
	const struct why_graph *graph = search->graph;
	uint32_t depth = 0, node = root;
	int result = 0;

	search->next[root] = graph->first[root];
	while (!result && search->steps < STEPS) {
		const struct why_edge *edge;

		if (search->next[node] == graph->first[node + 1]) {
			if (depth == 0)
				break;
			search->passed[node] = false;
			node = search->way[--depth]->from;
			continue;
		}
		edge = &graph->edge[search->next[node]++];
		search->steps++;
		search->way[depth] = edge;
		if (edge->ends)
			continue;
		if (edge->to == root && depth + 1 == length) {
			result = report(search, length);
		} else if (edge->to != root && !search->passed[edge->to] &&
			   search->far[edge->to] < length - depth) {
			node = edge->to;
			search->passed[node] = true;
			search->next[node] = graph->first[node];
			depth++;
		}
	}
	return result;
}

static int find_all(struct search *search)
{
	int result = 0;

	for (uint32_t n = 0; n < search->graph->nodes; n++)
		search->far[n] = NOWHERE;
	index_back(search);
	trim(search);
	for (uint32_t root = 0; root < search->graph->nodes && !result && search->steps < STEPS; root++) {
		if (search->degree[root] == 0)
			continue;
		measure(search, root);
		for (uint32_t length = 1; length <= search->reached_count && !result; length++)
			result = find_of_length(search, root, length);
		forget_distances(search);
	}
	return result;
}

int why_graph_cycles(const struct why_graph *graph, why_cycle_found *found, void *context)
{
	struct search search = { .graph = graph, .found = found, .context = context };
	int result = make_room(&search);

	if (!result)
		result = find_all(&search);
	free_search(&search);
	return result < 0 ? result : 0;
}
