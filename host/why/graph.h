/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The wait-for graph. A node is a CPU (0 to cpus - 1) or a thread (after the CPUs, in the order of the
 * evidence). An edge means that `from` cannot make progress before `to` does. A node may have several edges,
 * for example a CPU that waits for answers of all other CPUs. It needs all of them, so every cycle is a
 * deadlock, unless one of its waits has a timeout.
 *
 * Edges come from the kernel's tables, or from events where the kernel keeps no tables.
 */
#ifndef WHY_GRAPH_H
#define WHY_GRAPH_H

#include "why/evidence.h"

#define WHY_NODE_NONE UINT32_MAX
#define WHY_EDGES     262144u /* limit; more edges are left out */

enum why_edge_kind {
	WHY_EDGE_SPIN, /* waits for a lock and runs */
	WHY_EDGE_LOCK, /* waits for a lock and sleeps */
	WHY_EDGE_POLL, /* waits for a lock and is runnable: it yields and tries again, or was just woken */
	WHY_EDGE_JOIN, /* waits for the end of a thread */
	WHY_EDGE_IPI,  /* a CPU waits for another CPU to answer an IPI, which that CPU does not take */
	/* joins a CPU and the thread that it runs: one makes progress only if the other does */
	WHY_EDGE_RUNS,
	WHY_EDGE_TURN, /* a thread is runnable on a CPU whose running thread cannot be preempted */
};

struct why_edge {
	uint32_t from, to;
	enum why_edge_kind kind;
	bool by_table;	 /* from the kernel's tables, not concluded from events */
	bool ends;	 /* the wait has a timeout */
	bool held;	 /* `to` holds the lock by its own table row or by its events */
	uint64_t object; /* lock, 0: none */
	uint64_t since;	 /* stamp of the beginning of the wait, 0 unknown */
	uint64_t firm;	 /* stamp since which `to` has not been able to end the wait, if later than `since` */
	uint64_t pc;	 /* where `from` waits, 0 unknown */
	uint64_t held_since, held_pc; /* when and where `to` took the lock, 0 unknown */
};

struct why_graph {
	struct why_edge *edge; /* sorted by `from` */
	uint32_t edges;
	uint32_t *first; /* by node: index of its first edge in `edge`; nodes + 1 entries */
	uint32_t nodes;
	uint32_t cpus; /* nodes that are CPUs */
};

/* Builds the graph. Returns 0 or KTREAD_E_MEMORY. Call why_graph_free() in each case. */
int why_graph_build(struct why_graph **graph, const struct why_evidence *evidence);
/* Sorts the edges of a graph that the caller has made, and fills in `first`. Returns 0 or KTREAD_E_MEMORY. */
int why_graph_index(struct why_graph *graph);
void why_graph_free(struct why_graph *graph);

/* Returns whether the edge is a wait for a lock. */
bool why_edge_is_lock(const struct why_edge *edge);

/* Returns the id of a node as in struct ktrx_holder. */
uint32_t why_node_id(const struct why_graph *graph, const struct why_evidence *evidence, uint32_t node);

/*
 * Receives a cycle: its `count` edges in order. Returns WHY_CYCLE_TAKEN if it uses the cycle, WHY_CYCLE_LEFT
 * if it ignores it, WHY_CYCLE_ENOUGH to stop the search, or a negative error, which also stops it.
 */
enum { WHY_CYCLE_LEFT, WHY_CYCLE_TAKEN, WHY_CYCLE_ENOUGH };
typedef int why_cycle_found(void *context, const struct why_edge *const *edge, uint32_t count);
/*
 * Finds the cycles of edges without a timeout and calls `found` once for each. Leaves out a cycle if each of
 * its edges is in some cycle that was taken. Stops early after a limit of steps. Returns 0 or the error of
 * `found`, or KTREAD_E_MEMORY.
 */
int why_graph_cycles(const struct why_graph *graph, why_cycle_found *found, void *context);

#endif
