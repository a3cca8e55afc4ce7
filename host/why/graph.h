/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Who waits for whom. A node is a CPU (0 to cpus - 1) or a thread (behind these, in the order of the
 * evidence); an edge says that `from` cannot go on before `to` has. A CPU or thread may have several edges,
 * as one that waits for answers of all CPUs has: it needs them all, so that every cycle is a deadlock unless
 * an edge of it ends by itself.
 *
 * Built from the kernel's tables where it keeps them, and from events where it does not.
 */
#ifndef WHY_GRAPH_H
#define WHY_GRAPH_H

#include "why/evidence.h"

#define WHY_NODE_NONE UINT32_MAX
#define WHY_EDGES     262144u /* more are left out: no kernel has them */

enum why_edge_kind {
	WHY_EDGE_SPIN, /* for a lock, running */
	WHY_EDGE_LOCK, /* for a lock, asleep */
	WHY_EDGE_POLL, /* for a lock, runnable: the thread yields and looks again, or has just been woken */
	WHY_EDGE_JOIN, /* for the thread's end */
	WHY_EDGE_IPI,  /* for the CPU's answer to an interrupt, which it does not take */
	WHY_EDGE_RUNS, /* a CPU does what its thread does, a thread what its CPU does */
	WHY_EDGE_TURN, /* a thread that could run, for a CPU that nobody takes away from who has it */
};

struct why_edge {
	uint32_t from, to;
	enum why_edge_kind kind;
	bool told;	 /* by the kernel's tables, rather than concluded from events */
	bool ends;	 /* by itself, at a time */
	bool held;	 /* `to` has the lock by its own row, or by its events */
	uint64_t object; /* lock, 0: none */
	uint64_t since;	 /* stamp, 0 unknown */
	uint64_t firm;	 /* stamp from which on `to` has kept `from` waiting, if later than `since` */
	uint64_t pc;	 /* where it waits, 0 unknown */
	uint64_t held_since, held_pc; /* since when and where `to` has the lock, 0 unknown */
};

struct why_graph {
	struct why_edge *edge; /* by `from` */
	uint32_t edges;
	uint32_t *first; /* of a node, in `edge`; nodes + 1 entries */
	uint32_t nodes;
	uint32_t cpus; /* nodes that are CPUs */
};

/* 0 or KTREAD_E_MEMORY. */
int why_graph_build(struct why_graph **graph, const struct why_evidence *evidence);
/* Puts the edges of a graph that a caller has made in order, and fills in `first`. 0 or KTREAD_E_MEMORY. */
int why_graph_index(struct why_graph *graph);
void why_graph_free(struct why_graph *graph);

/* For a lock: spinning, asleep or runnable. */
bool why_edge_is_lock(const struct why_edge *edge);

/* As struct ktrx_holder names it. */
uint32_t why_node_id(const struct why_graph *graph, const struct why_evidence *evidence, uint32_t node);

/* `edge` are those of a cycle, in order, `count` of them. Returns what becomes of it, or an error. */
enum { WHY_CYCLE_LEFT, WHY_CYCLE_TAKEN, WHY_CYCLE_ENOUGH };
typedef int why_cycle_found(void *context, const struct why_edge *const *edge, uint32_t count);
/*
 * The cycles of edges that do not end by themselves, each once, but for those of which every edge is in one
 * that was taken: they say nothing new. Stops at WHY_CYCLE_ENOUGH, and where there are too many to look at. 0
 * or an error.
 */
int why_graph_cycles(const struct why_graph *graph, why_cycle_found *found, void *context);

#endif
