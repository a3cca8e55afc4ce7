/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The wait-for graph. Each CPU and each thread is a node: first the CPUs (0 to cpus - 1), then the threads in
 * the order of the evidence. An edge means that node `from` cannot make progress before node `to` does.
 *
 * A node may have several edges. For example, a CPU may wait for IPI answers of all other CPUs. Such a CPU
 * needs all of these answers. So every cycle is a deadlock, unless a wait in the cycle has a timeout that may
 * soon end it. Edges come from the kernel's tables, or from events if the kernel keeps no tables.
 */
#ifndef WHY_GRAPH_H
#define WHY_GRAPH_H

#include "why/evidence.h"

#define WHY_NODE_NONE UINT32_MAX
#define WHY_EDGES     262144u /* maximum number of edges; further edges are left out */

enum why_edge_kind {
	WHY_EDGE_SPIN, /* `from` runs, and waits for a lock */
	WHY_EDGE_LOCK, /* `from` sleeps, and waits for a lock */
	/* `from` is runnable, and waits for a lock: it yields and tries again, or was woken a moment ago */
	WHY_EDGE_POLL,
	/*
	 * `from` has tried to take a lock many times and never got it; it does not wait, but gives up after
	 * each attempt
	 */
	WHY_EDGE_TRY,
	WHY_EDGE_JOIN, /* `from` waits for the end of a thread */
	/*
	 * CPU `from` waits for an IPI answer of CPU `to`, which disabled interrupts or runs an interrupt
	 * handler
	 */
	WHY_EDGE_IPI,
	/* connects a CPU and the thread that it runs: neither of the two makes progress without the other */
	WHY_EDGE_RUNS,
	WHY_EDGE_TURN, /* thread `from` is runnable on CPU `to`, whose running thread cannot be preempted */
};

/* Reasons why `from` may not wait for `to`. */
enum why_edge_doubt {
	WHY_DOUBT_NONE,
	/*
	 * `from` is `to`, and another thread or CPU holds the lock, too. If a reader of the lock can become
	 * its writer, `from` waits only for the other readers.
	 */
	WHY_DOUBT_SHARED,
	/*
	 * the kernel named `to` as the owner when the wait began, but the row of `to` does not contain the
	 * lock, although rows of threads contain other locks; `to` may have released the lock since
	 */
	WHY_DOUBT_RELEASED,
	/*
	 * the same, but `to` has slept since before the wait began, so that it has not released the lock
	 * since; the kernel may name a thread that does not hold the lock, or may not report that it is taken
	 */
	WHY_DOUBT_NAMED,
	/*
	 * the row of `to` does not contain the lock, which is in the memory of a program: kernels do not
	 * report that such locks are taken
	 */
	WHY_DOUBT_PROGRAM,
	/* `from` was woken at about the time when the wait began, or later; this may have ended the wait */
	WHY_DOUBT_WOKEN,
};

struct why_edge {
	uint32_t from, to;
	enum why_edge_kind kind;
	enum why_edge_doubt doubt;
	/* used if there is a doubt: true if `from` probably waits for `to`; false if this is only possible */
	bool likely;
	bool by_table; /* true if the edge is from the kernel's tables, not concluded from events */
	bool ends;     /* the wait has a timeout that may soon end it, so it is not part of a deadlock */
	/* the thread sleeps between two attempts to take the lock, and has been woken since the wait began */
	bool retries;
	/*
	 * for an IPI: `to` runs an interrupt handler that may have enabled interrupts, so `to` may still
	 * answer
	 */
	bool nested;
	bool held;	 /* true if the kernel's table or events show that `to` holds the lock */
	uint64_t object; /* lock that `from` waits for; 0: none */
	uint64_t since;	 /* timestamp at which the wait began; 0: unknown */
	/*
	 * timestamp since which `to` has been unable to end the wait; it is used only if it is later than
	 * `since`
	 */
	uint64_t firm;
	/* timestamp at which the wait, or the sleep before the next attempt, ends; 0: none */
	uint64_t deadline;
	uint64_t pc;		      /* place in the code where `from` waits; 0: unknown */
	uint64_t held_since, held_pc; /* timestamp and place at which `to` took the lock; 0: unknown */
};

struct why_graph {
	struct why_edge *edge; /* the edges, sorted by `from` */
	uint32_t edges;
	/* for each node, the index of its first edge in `edge`; the array has nodes + 1 entries */
	uint32_t *first;
	uint32_t nodes;
	uint32_t cpus; /* number of nodes that are CPUs */
};

/* Builds the graph. Returns 0 or KTREAD_E_MEMORY. Call why_graph_free() even after an error. */
int why_graph_build(struct why_graph **graph, const struct why_evidence *evidence);
/* Sorts the edges of a graph that the caller has built, and sets `first`. Returns 0 or KTREAD_E_MEMORY. */
int why_graph_index(struct why_graph *graph);
void why_graph_free(struct why_graph *graph);

/* Returns whether the edge is for a wait for a lock, or for attempts to take a lock. */
bool why_edge_is_lock(const struct why_edge *edge);

/*
 * Returns whether it is doubtful that `from` waits for `to`. Such an edge is used only to find a possible
 * deadlock.
 */
static inline bool why_edge_is_doubtful(const struct why_edge *edge)
{
	return edge->doubt != WHY_DOUBT_NONE && edge->doubt != WHY_DOUBT_PROGRAM;
}

struct why_finding;
/* If there is a doubt about the wait, adds a line to the finding that states it. */
void why_finding_doubt(struct why_finding *finding, const struct why_evidence *evidence,
		       const struct why_graph *graph, const struct why_edge *edge);

/* Returns the id of the node's thread or CPU (see struct ktrx_holder). */
uint32_t why_node_id(const struct why_graph *graph, const struct why_evidence *evidence, uint32_t node);

/*
 * Callback that receives the `count` edges of a cycle, in order. Returns WHY_CYCLE_TAKEN if it uses the
 * cycle, WHY_CYCLE_LEFT if it ignores the cycle. Returns WHY_CYCLE_ENOUGH or a negative error to stop the
 * search.
 */
enum { WHY_CYCLE_LEFT, WHY_CYCLE_TAKEN, WHY_CYCLE_ENOUGH };
typedef int why_cycle_found(void *context, const struct why_edge *const *edge, uint32_t count);
/*
 * Finds the cycles in which no edge has `ends` set, and calls `found` for each of them. Skips a cycle if each
 * of its edges is in a cycle that `found` has used. The search also stops when it has visited a maximum
 * number of edges. Returns 0, the error of `found`, or KTREAD_E_MEMORY.
 */
int why_graph_cycles(const struct why_graph *graph, why_cycle_found *found, void *context);

/*
 * Returns whether the thread was woken from its wait for a lock, and has not run since. The owner that it
 * named when the wait began has probably released the lock. But if the thread does not run although its CPU
 * idles, it may have been woken before it went to sleep.
 */
bool why_was_woken(const struct why_evidence *evidence, const struct ktrx_holder *holder);
/*
 * Returns whether the thread may have been woken from its wait for a lock. The timestamp of the wakeup may be
 * that of the last tick before it.
 */
bool why_may_be_woken(const struct why_evidence *evidence, const struct ktrx_holder *holder);

/*
 * Returns whether the address is not one that the kernel uses for its own memory. It may then be that of a
 * word of a program, or contain the number of a process and such an address (doc/porting.md).
 */
bool why_is_far(const struct why_evidence *evidence, uint64_t address);

#endif
