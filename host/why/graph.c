/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "why/answers.h"
#include "why/graph.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/index.h"
#include "why/pulse.h"
#include "why/tries.h"

/* the pages below this address belong to no program; a number below it is not an address */
#define PROGRAM_LEAST 0x10000u
/*
 * A kernel in the lower half of the address space uses physical addresses, which have at most this many bits.
 */
#define PHYSICAL_BITS 40

/* A held lock, and the node of the thread or CPU that holds it. */
struct held {
	uint64_t object, stamp, pc;
	uint32_t node;
	bool by_table;
};

struct builder {
	const struct why_evidence *evidence;
	struct why_graph *graph;
	struct held *held; /* sorted by object; the newest holder of an object comes first */
	uint32_t helds;
	/*
	 * `by_cpus`: true if the row of at least one CPU in the kernel's table names a held lock;
	 * `by_threads`: true if the row of at least one thread names a held lock
	 */
	bool by_cpus, by_threads;
	bool of_programs; /* true if the row of a thread names a lock for which why_is_far() is true */
	uint32_t room;	  /* number of edges for which memory is allocated */
	int error;
};

static uint32_t node_of_thread(const struct builder *builder, uint32_t thread)
{
	const struct why_thread *found = why_thread_find(builder->evidence, thread);

	return found ? builder->graph->cpus + (uint32_t)(found - builder->evidence->thread) : WHY_NODE_NONE;
}

/* Returns the node of a thread or CPU that is given as an id (see struct ktrx_holder). */
static uint32_t node_of_id(const struct builder *builder, uint32_t id)
{
	if (id & KTRX_HOLDER_CPU)
		return (id & ~KTRX_HOLDER_CPU) < builder->graph->cpus ? id & ~KTRX_HOLDER_CPU : WHY_NODE_NONE;
	return id ? node_of_thread(builder, id - 1) : WHY_NODE_NONE;
}

/*
 * Returns the node of the thread that holds the lock. Thread 0 may run on several CPUs, so for thread 0
 * returns the CPU's node.
 */
static uint32_t node_of_hold(const struct builder *builder, const struct why_hold *hold)
{
	if (hold->thread == 0)
		return hold->cpu < builder->graph->cpus ? hold->cpu : WHY_NODE_NONE;
	return node_of_thread(builder, hold->thread);
}

uint32_t why_node_id(const struct why_graph *graph, const struct why_evidence *evidence, uint32_t node)
{
	return node < graph->cpus ? KTRX_HOLDER_CPU | node : evidence->thread[node - graph->cpus].id + 1;
}

/* ---- Held locks ---------------------------------------------------------------------------------- */

bool why_is_far(const struct why_evidence *evidence, uint64_t address)
{
	const uint64_t self = evidence->info->self;

	if (address < PROGRAM_LEAST || address >> 63)
		return false;
	return evidence->high || (self && !(self >> PHYSICAL_BITS) && address >> PHYSICAL_BITS);
}

static void add_held(struct builder *builder, const struct ktrx_holder *holder, uint32_t node)
{
	const bool by_cpu = node < builder->graph->cpus;

	builder->by_cpus |= by_cpu && holder->held_count;
	builder->by_threads |= !by_cpu && holder->held_count;
	for (uint32_t n = 0; n < KTRX_HELD; n++) {
		if (!holder->held[n].object)
			continue;
		builder->of_programs |= !by_cpu && why_is_far(builder->evidence, holder->held[n].object);
		builder->held[builder->helds++] = (struct held){ .object = holder->held[n].object,
								 .stamp = holder->held[n].stamp,
								 .pc = holder->held[n].pc,
								 .node = node,
								 .by_table = true };
	}
}

static int by_object(const void *a, const void *b)
{
	const struct held *left = a, *right = b;

	if (left->object != right->object)
		return left->object < right->object ? -1 : 1;
	if (left->by_table != right->by_table)
		return left->by_table ? -1 : 1;
	return left->stamp > right->stamp ? -1 : left->stamp < right->stamp;
}

static int gather_held(struct builder *builder)
{
	const struct why_evidence *evidence = builder->evidence;
	const size_t most = ((size_t)evidence->cpus + evidence->threads) * KTRX_HELD + evidence->holds;

	builder->held = calloc(most + 1, sizeof(*builder->held));
	if (!builder->held)
		return KTREAD_E_MEMORY;
	for (uint32_t n = 0; n < evidence->cpus; n++)
		if (evidence->cpu[n].has_holder)
			add_held(builder, &evidence->cpu[n].holder, n);
	for (uint32_t n = 0; n < evidence->threads; n++)
		if (evidence->thread[n].has_holder)
			add_held(builder, &evidence->thread[n].holder, builder->graph->cpus + n);
	for (uint32_t n = 0; n < evidence->holds && !why_tables_show_locks(evidence); n++) {
		const struct why_hold *hold = &evidence->hold[n];
		uint32_t node = node_of_hold(builder, hold);

		if (node != WHY_NODE_NONE)
			builder->held[builder->helds++] = (struct held){
				.object = hold->lock, .stamp = hold->stamp, .pc = hold->pc, .node = node
			};
	}
	qsort(builder->held, builder->helds, sizeof(*builder->held), by_object);
	return 0;
}

/* Returns the holder of a lock, NULL if unknown. */
static const struct held *find_held(const struct builder *builder, uint64_t object)
{
	const size_t n = base_count_below(builder->held, builder->helds, sizeof(*builder->held),
					  offsetof(struct held, object), object);

	return n < builder->helds && builder->held[n].object == object ? &builder->held[n] : NULL;
}

/* ---- Waits --------------------------------------------------------------------------------------- */

static void add_edge(struct builder *builder, struct why_edge edge)
{
	struct why_graph *graph = builder->graph;
	struct why_edge *larger;

	if (edge.to == WHY_NODE_NONE || builder->error || graph->edges == WHY_EDGES)
		return;
	larger = base_grow(graph->edge, &builder->room, (size_t)graph->edges + 1, sizeof(*larger));
	if (!larger) {
		builder->error = KTREAD_E_MEMORY;
		return;
	}
	graph->edge = larger;
	graph->edge[graph->edges++] = edge;
}

bool why_edge_is_lock(const struct why_edge *edge)
{
	return edge->kind == WHY_EDGE_SPIN || edge->kind == WHY_EDGE_LOCK || edge->kind == WHY_EDGE_POLL ||
	       edge->kind == WHY_EDGE_TRY;
}

static const struct ktrx_holder *row_of_id(const struct builder *builder, uint32_t id)
{
	const struct why_evidence *evidence = builder->evidence;
	const uint32_t node = node_of_id(builder, id), cpus = builder->graph->cpus;

	if (node == WHY_NODE_NONE)
		return NULL;
	if (node < cpus)
		return evidence->cpu[node].has_holder ? &evidence->cpu[node].holder : NULL;
	return evidence->thread[node - cpus].has_holder ? &evidence->thread[node - cpus].holder : NULL;
}

/* Returns whether an event shows that the lock was taken. A lock without a name has no object. */
static bool was_taken(const struct why_evidence *evidence, uint64_t lock)
{
	const struct why_object *object = why_object_find(evidence, lock);

	for (uint32_t n = 0; n < evidence->holds; n++)
		if (evidence->hold[n].lock == lock)
			return true;
	return object && object->taken;
}

/*
 * Returns whether the owner's row contains all locks that the owner holds, as far as the kernel reports that
 * they are taken.
 */
static bool is_complete(const struct builder *builder, uint32_t owner, const struct ktrx_holder *row)
{
	/* true if the thread may have got its row late, so that it may hold locks that are not in the row */
	const bool came_late = builder->evidence->refused && !(owner & KTRX_HOLDER_CPU) && row && !row->whole;

	return row && row->held_count <= KTRX_HELD && !came_late;
}

/*
 * Returns whether the lock is in the memory of a program. The kernel reports waits for such a lock, and its
 * owner, but not that a program takes it.
 */
static bool is_of_program(const struct builder *builder, uint64_t lock)
{
	return builder->evidence->users && !builder->of_programs && why_is_far(builder->evidence, lock);
}

static bool has_slept_since(const struct ktrx_holder *row, uint64_t stamp)
{
	return row->state == KTRX_THREAD_WAITING && row->state_stamp && row->state_stamp < stamp;
}

/*
 * Adds an edge to the owner that the kernel named when the wait began, unless that owner does not hold the
 * lock now. Used if neither tables nor events show a holder.
 *
 * If some rows of the owner's table (CPUs or threads) contain held locks, and the owner's row is complete,
 * the owner holds this lock only if the kernel does not report that locks of this kind are taken. An event
 * that shows that the lock was taken excludes this. Otherwise it is doubtful: the owner may have released the
 * lock, or the kernel may name the thread that last took a semaphore.
 *
 * If the owner waits for the lock itself, and an event shows that the lock was taken, the kernel may have
 * named a thread that got an old owner's memory.
 */
static void wait_for_named(struct builder *builder, struct why_edge edge, uint32_t owner)
{
	const struct ktrx_holder *row = row_of_id(builder, owner);
	const bool complete = is_complete(builder, owner, row), by_cpu = owner & KTRX_HOLDER_CPU,
		   taken = was_taken(builder->evidence, edge.object);

	edge.to = node_of_id(builder, owner);
	edge.by_table = edge.by_table && !builder->evidence->refused;
	if (complete && taken && row->wait == KTRX_WAIT_LOCK && row->object == edge.object)
		return;
	if (complete && (by_cpu ? builder->by_cpus : builder->by_threads)) {
		edge.likely = is_of_program(builder, edge.object);
		if (by_cpu || taken || (edge.to == edge.from && !edge.likely))
			return;
		edge.doubt = edge.likely			? WHY_DOUBT_PROGRAM
			     : has_slept_since(row, edge.since) ? WHY_DOUBT_NAMED
								: WHY_DOUBT_RELEASED;
	}
	add_edge(builder, edge);
}

static void wait_for_held(struct builder *builder, struct why_edge edge, const struct held *held)
{
	edge.to = held->node;
	edge.by_table = edge.by_table && held->by_table;
	if (edge.doubt != WHY_DOUBT_SHARED || held->node != edge.from)
		edge.doubt = WHY_DOUBT_NONE;
	edge.held = true;
	edge.held_since = held->stamp;
	edge.held_pc = held->pc;
	add_edge(builder, edge);
}

/*
 * Returns whether the lock has a holder that is this node (`same` is true), or a holder that is another node
 * (`same` is false). `first` is the newest holder of the lock.
 */
static bool has_holder(const struct builder *builder, const struct held *first, uint32_t node, bool same)
{
	const struct held *end = builder->held + builder->helds;

	for (const struct held *held = first; held < end && held->object == first->object; held++)
		if ((held->node == node) == same)
			return true;
	return false;
}

/* Returns whether all other holders of the lock are CPUs that idle: their rows are out of date. */
static bool others_idle(const struct builder *builder, const struct held *first)
{
	const struct held *end = builder->held + builder->helds;
	const struct why_evidence *evidence = builder->evidence;

	for (const struct held *held = first; held < end && held->object == first->object; held++)
		if (held->node != first->node &&
		    (held->node >= builder->graph->cpus || !why_idles(evidence, &evidence->cpu[held->node])))
			return false;
	return true;
}

/*
 * Adds edges from a waiter that holds the lock itself, like other threads or CPUs. The lock may be one of
 * readers and writers. If a reader can become the writer, it waits for all other readers. In most kernels, it
 * waits for itself.
 *
 * If the kernel named a CPU itself as the owner of the spinlock, the rows of other CPUs are out of date.
 */
static void wait_for_all(struct builder *builder, struct why_edge edge, const struct held *first,
			 uint32_t owner)
{
	const bool itself = owner && node_of_id(builder, owner) == edge.from,
		   alone = itself && edge.from < builder->graph->cpus;
	const struct held *end = builder->held + builder->helds;

	edge.doubt = alone ? WHY_DOUBT_NONE : WHY_DOUBT_SHARED;
	edge.likely = itself ||
		      (edge.kind == WHY_EDGE_SPIN && first->node == edge.from && others_idle(builder, first));
	for (const struct held *held = first;
	     held < end && held->object == edge.object && builder->graph->edges < WHY_EDGES; held++)
		if (held->node == edge.from || !alone)
			wait_for_held(builder, edge, held);
}

/* Adds an edge from a waiter to the holder of a lock. `owner`: the owner when the wait began; 0: unknown. */
static void wait_for_lock(struct builder *builder, struct why_edge edge, uint32_t owner)
{
	const struct held *held = find_held(builder, edge.object);

	if (!held)
		wait_for_named(builder, edge, owner);
	else if (has_holder(builder, held, edge.from, true) && has_holder(builder, held, edge.from, false))
		wait_for_all(builder, edge, held, owner);
	else
		wait_for_held(builder, edge, held);
}

/*
 * Adds an edge for the wait in a row. `by_table`: the row comes from the kernel's table and was not changed.
 */
static void wait_by_holder(struct builder *builder, const struct ktrx_holder *holder, uint32_t node,
			   bool by_table)
{
	struct why_edge edge = { .from = node,
				 .by_table = by_table,
				 .ends = why_wait_may_end(builder->evidence, holder),
				 .retries = why_sleeps_between_tries(builder->evidence, holder),
				 .deadline = holder->deadline,
				 .object = holder->object,
				 .since = holder->wait_stamp,
				 .pc = holder->wait_pc };

	switch (holder->wait) {
	case KTRX_WAIT_SPIN:
	case KTRX_WAIT_LOCK:
		edge.kind = holder->wait == KTRX_WAIT_SPIN || holder->state == KTRX_THREAD_RUNNING
				    ? WHY_EDGE_SPIN
			    : holder->state == KTRX_THREAD_RUNNABLE ? WHY_EDGE_POLL
								    : WHY_EDGE_LOCK;
		if (why_may_be_woken(builder->evidence, holder))
			edge.doubt = WHY_DOUBT_WOKEN;
		wait_for_lock(builder, edge, why_was_woken(builder->evidence, holder) ? 0 : holder->owner);
		return;
	case KTRX_WAIT_THREAD:
		edge.kind = WHY_EDGE_JOIN;
		edge.to = holder->object < UINT32_MAX ? node_of_thread(builder, (uint32_t)holder->object)
						      : WHY_NODE_NONE;
		add_edge(builder, edge);
		return;
	default:
		return;
	}
}

/* Returns the lock that the thread has tried to take, if one holder has kept it since the first attempt. */
static const struct held *held_since_first_try(const struct builder *builder, const struct why_tries *tries)
{
	const struct held *held = find_held(builder, tries->lock);

	return held && held->stamp <= tries->same.first ? held : NULL;
}

/* Adds an edge for each lock that the thread tries to take but never gets, if one holder keeps this lock. */
static void add_tries(struct builder *builder, const struct why_thread *thread, uint32_t node)
{
	const struct why_tries *tries = why_tries_next(builder->evidence, thread, NULL);

	for (; tries; tries = why_tries_next(builder->evidence, thread, tries)) {
		const struct held *held = held_since_first_try(builder, tries);
		const bool in_row = thread->has_holder && thread->holder.object == tries->lock;

		if (held)
			add_edge(builder, (struct why_edge){ .from = node,
							     .to = held->node,
							     .kind = WHY_EDGE_TRY,
							     .by_table = held->by_table,
							     .held = true,
							     .deadline = in_row ? thread->holder.deadline : 0,
							     .object = tries->lock,
							     .since = tries->same.first,
							     .pc = tries->pc,
							     .held_since = held->stamp,
							     .held_pc = held->pc });
	}
}

/*
 * Returns the timestamp at which the thread's wait for a lock began, according to events. If the thread has
 * waited for it several times and never got it, this is the beginning of the first wait.
 */
static uint64_t contends_since(const struct why_evidence *evidence, const struct why_thread *thread)
{
	const struct why_tries *tries = why_tries_next(evidence, thread, NULL);

	while (tries && tries->lock != thread->contends)
		tries = why_tries_next(evidence, thread, tries);
	return tries ? tries->same.first : thread->contends_since;
}

static bool waits_for_lock(const struct ktrx_holder *holder)
{
	return holder->wait == KTRX_WAIT_SPIN || holder->wait == KTRX_WAIT_LOCK;
}

/*
 * Returns whether the wait in the thread's row has a timeout, and is one of many attempts to take a lock that
 * one holder keeps. The wait itself is too short for a conclusion, but the attempts are not.
 */
static bool is_one_try_of_many(const struct builder *builder, const struct why_thread *thread)
{
	const struct why_tries *tries = why_tries_next(builder->evidence, thread, NULL);

	if (!waits_for_lock(&thread->holder) || !why_wait_may_end(builder->evidence, &thread->holder))
		return false;
	while (tries && tries->lock != thread->holder.object)
		tries = why_tries_next(builder->evidence, thread, tries);
	return tries && held_since_first_try(builder, tries);
}

/* Returns whether the thread that runs on the CPU cannot be preempted. */
static bool is_kept(const struct why_cpu *cpu)
{
	return cpu->has_row && (cpu->row.interrupts == KTRX_INTERRUPTS_OFF || cpu->row.preempt > 0);
}

/*
 * Returns the earliest time since which preemption of the running thread may have been disabled without a
 * break; 0: unknown. Time before the switch to this thread does not count: each context switch disables
 * preemption for a moment.
 */
static uint64_t kept_since(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	const struct why_thread *runs = why_runs(evidence, cpu);
	uint64_t since = 0;

	if (runs && runs->has_holder && runs->holder.state == KTRX_THREAD_RUNNING)
		since = runs->holder.state_stamp;
	if (cpu->row.preempt == 0 && cpu->row.interrupts_stamp > since)
		since = cpu->row.interrupts_stamp;
	return since;
}

static void add_thread(struct builder *builder, const struct why_thread *thread, uint32_t node)
{
	const bool by_table = thread->has_holder && thread->holder.state != KTRX_THREAD_UNKNOWN;
	const bool runs =
		by_table ? thread->holder.state == KTRX_THREAD_RUNNING : thread->state == THREADS_RUNNING;
	const bool runnable =
		by_table ? thread->holder.state == KTRX_THREAD_RUNNABLE : thread->state == THREADS_RUNNABLE;
	const uint32_t cpu = by_table ? thread->holder.cpu : thread->cpu;
	bool waits = false;

	if (thread->has_holder && (!runnable || thread->holder.wait == KTRX_WAIT_LOCK) &&
	    !is_one_try_of_many(builder, thread)) {
		waits = waits_for_lock(&thread->holder);
		wait_by_holder(builder, &thread->holder, node, !thread->waits_for_outer);
	}
	if (!waits && thread->contends && !why_tables_show_locks(builder->evidence)) {
		waits = true;
		wait_for_lock(builder,
			      (struct why_edge){ .from = node,
						 .kind = runs	    ? WHY_EDGE_SPIN
							 : runnable ? WHY_EDGE_POLL
								    : WHY_EDGE_LOCK,
						 .object = thread->contends,
						 .since = contends_since(builder->evidence, thread) },
			      0);
	}
	if (!waits && !thread->idle && !why_is_gone(builder->evidence, thread))
		add_tries(builder, thread, node);
	if (cpu >= builder->graph->cpus || thread->idle)
		return;
	if (runs)
		add_edge(builder, (struct why_edge){ .from = waits ? cpu : node,
						     .to = waits ? node : cpu,
						     .kind = WHY_EDGE_RUNS,
						     .by_table = by_table });
	else if (runnable && is_kept(&builder->evidence->cpu[cpu]))
		add_edge(builder,
			 (struct why_edge){
				 .from = node,
				 .to = cpu,
				 .kind = WHY_EDGE_TURN,
				 .by_table = by_table,
				 .since = by_table ? thread->holder.state_stamp : thread->since,
				 .firm = kept_since(builder->evidence, &builder->evidence->cpu[cpu]) });
}

/*
 * Adds an edge from CPU `asker` to CPU `cpu` if `cpu` has not answered an IPI of `asker`, and has interrupts
 * disabled or is in an interrupt handler.
 */
static void wait_for_answer(struct builder *builder, const struct why_cpu *asker, uint32_t cpu)
{
	const struct why_cpu *asked = &builder->evidence->cpu[cpu];

	if (!why_awaits_answer_of(asker, asked) ||
	    (asked->row.interrupts != KTRX_INTERRUPTS_OFF && asked->row.nesting == 0))
		return;
	add_edge(builder, (struct why_edge){ .from = asker->number,
					     .to = cpu,
					     .kind = WHY_EDGE_IPI,
					     .by_table = true,
					     .nested = asked->row.interrupts == KTRX_INTERRUPTS_ON,
					     .since = asker->row.ipi_stamp,
					     .firm = asked->row.interrupts == KTRX_INTERRUPTS_OFF
							     ? asked->row.interrupts_stamp
							     : asked->row.irq_stamp,
					     .pc = asker->row.ipi_pc });
}

static void add_cpu(struct builder *builder, const struct why_cpu *cpu)
{
	const uint32_t cpus = builder->graph->cpus;

	if (cpu->has_holder)
		wait_by_holder(builder, &cpu->holder, cpu->number, true);
	if (!cpu->has_row || cpu->row.ipi_cpu == 0)
		return;
	if (cpu->row.ipi_cpu != KTRX_ALL_CPUS) {
		if (cpu->row.ipi_cpu <= cpus)
			wait_for_answer(builder, cpu, cpu->row.ipi_cpu - 1);
		return;
	}
	for (uint32_t n = 0; n < cpus; n++)
		wait_for_answer(builder, cpu, n);
}

static int by_from(const void *a, const void *b)
{
	const struct why_edge *left = a, *right = b;

	if (left->from != right->from)
		return left->from < right->from ? -1 : 1;
	return left->to < right->to ? -1 : left->to > right->to;
}

int why_graph_index(struct why_graph *graph)
{
	graph->first = calloc((size_t)graph->nodes + 1, sizeof(*graph->first));
	if (!graph->first)
		return KTREAD_E_MEMORY;
	if (graph->edges)
		qsort(graph->edge, graph->edges, sizeof(*graph->edge), by_from);
	for (uint32_t n = 0, at = 0; n <= graph->nodes; n++) {
		while (at < graph->edges && graph->edge[at].from < n)
			at++;
		graph->first[n] = at;
	}
	return 0;
}

int why_graph_build(struct why_graph **result, const struct why_evidence *evidence)
{
	struct why_graph *graph = calloc(1, sizeof(*graph));
	struct builder builder = { .evidence = evidence, .graph = graph };

	*result = graph;
	if (!graph)
		return KTREAD_E_MEMORY;
	graph->cpus = evidence->cpus;
	graph->nodes = evidence->cpus + evidence->threads;
	builder.error = gather_held(&builder);
	for (uint32_t n = 0; n < evidence->cpus && !builder.error; n++)
		add_cpu(&builder, &evidence->cpu[n]);
	for (uint32_t n = 0; n < evidence->threads && !builder.error; n++)
		add_thread(&builder, &evidence->thread[n], graph->cpus + n);
	free(builder.held);
	return builder.error ? builder.error : why_graph_index(graph);
}

void why_graph_free(struct why_graph *graph)
{
	if (!graph)
		return;
	free(graph->edge);
	free(graph->first);
	free(graph);
}
