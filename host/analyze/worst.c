/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Finds the longest durations, and divides each into shares by following causes back through the history. */
#include "analyze/worst.h"

#include <stdlib.h>
#include <string.h>

#include "ktrx/v2.h"

#define NOTHING UINT32_MAX

struct worst {
	enum latencies_kind kind;
	struct latencies_span span[WORST_MOST]; /* sorted: the longest duration first */
	uint32_t spans, most;
	struct gaps *gaps;
	struct history history;
};

/* ---- The longest durations ---- */

static void keep(void *context, const struct latencies_span *span)
{
	struct worst *worst = context;
	uint32_t at = worst->spans;

	if (span->kind != worst->kind)
		return;
	while (at > 0 && worst->span[at - 1].end - worst->span[at - 1].begin < span->end - span->begin)
		at--;
	if (at == worst->most)
		return;
	if (worst->spans < worst->most)
		worst->spans++;
	memmove(&worst->span[at + 1], &worst->span[at], (worst->spans - at - 1) * sizeof(worst->span[0]));
	worst->span[at] = *span;
}

static int by_from(const void *a, const void *b)
{
	const struct history_window *left = a, *right = b;

	return left->from < right->from ? -1 : left->from > right->from;
}

/* Makes a time window for each duration, and joins windows that overlap. */
static void make_windows(struct worst *worst)
{
	struct history *history = &worst->history;
	uint32_t count = 0;

	for (uint32_t n = 0; n < worst->spans; n++)
		history->window[n] = (struct history_window){ worst->span[n].begin, worst->span[n].end };
	qsort(history->window, worst->spans, sizeof(history->window[0]), by_from);
	for (uint32_t n = 0; n < worst->spans; n++) {
		const struct history_window window = history->window[n];

		if (count && window.from <= history->window[count - 1].to) {
			if (window.to > history->window[count - 1].to)
				history->window[count - 1].to = window.to;
		} else {
			history->window[count++] = window;
		}
	}
	history->windows = count;
}

int worst_read(struct worst **result, struct ktread *trace, enum latencies_kind kind, uint32_t count)
{
	struct worst *worst = *result = calloc(1, sizeof(*worst));
	struct latencies *latencies = NULL;
	int status;

	if (!worst)
		return KTREAD_E_MEMORY;
	worst->kind = kind;
	worst->most = count < WORST_MOST ? count : WORST_MOST;
	status = latencies_read_each(&latencies, trace, 0, keep, worst);
	latencies_free(latencies);
	make_windows(worst);
	if (!status)
		status = gaps_read(&worst->gaps, trace);
	return status ? status : history_read(&worst->history, trace, worst->gaps);
}

void worst_free(struct worst *worst)
{
	if (!worst)
		return;
	history_free(&worst->history);
	gaps_free(worst->gaps);
	free(worst);
}

const struct latencies_span *worst_at(const struct worst *worst, uint32_t n)
{
	return n < worst->spans ? &worst->span[n] : NULL;
}

bool worst_is_cut(const struct worst *worst)
{
	return worst->history.cut;
}

/* ---- Shares of a duration ---- */

struct explaining {
	const struct worst *worst;
	const struct history *history;
	struct worst_shares *shares;
	uint32_t chain[WORST_DEPTH + 1]; /* threads of the chain of causes */
	uint32_t depth;
	uint32_t reserved; /* number of shares that have room reserved for a child WORST_TOO_DEEP */
};

/* A period in the history of a thread, and the share to which it belongs. */
struct part {
	uint32_t thread;
	uint32_t parent;
	uint64_t from, to;
};

static bool has_children(enum worst_reason reason)
{
	return reason == WORST_LOCK || reason == WORST_SLEEP;
}

/* Returns the share of a parent that has this reason; WORST_NODES if there is none. */
static uint32_t find(const struct worst_shares *shares, const struct worst_node *wanted)
{
	uint32_t n = 0;

	while (n < shares->nodes &&
	       (shares->node[n].parent != wanted->parent || shares->node[n].reason != wanted->reason ||
		shares->node[n].has_thread != wanted->has_thread ||
		shares->node[n].thread != wanted->thread || shares->node[n].object != wanted->object))
		n++;
	return n < shares->nodes ? n : WORST_NODES;
}

/*
 * Adds time to the share of a parent that has this reason. Returns its index; WORST_NODES if no time was
 * added, or if there is no room, so that the time was added to a share of reason WORST_TOO_DEEP. Each share
 * that may have children has a reserved place for such a child.
 */
static uint32_t add(struct explaining *e, const struct part *part, struct worst_node wanted)
{
	struct worst_shares *shares = e->shares;
	const uint32_t needed = 1 + has_children(wanted.reason);
	bool full = false;
	uint32_t n;

	if (part->to <= part->from)
		return WORST_NODES;
	wanted.parent = part->parent;
	n = find(shares, &wanted);
	if (n == WORST_NODES && wanted.reason != WORST_TOO_DEEP &&
	    shares->nodes + e->reserved + needed > WORST_NODES) {
		wanted = (struct worst_node){ .reason = WORST_TOO_DEEP, .parent = part->parent };
		n = find(shares, &wanted);
		full = true;
	}
	if (n == WORST_NODES) {
		n = shares->nodes++;
		shares->node[n] = wanted;
		e->reserved += has_children(wanted.reason);
		e->reserved -= wanted.reason == WORST_TOO_DEEP;
	}
	shares->node[n].ticks += part->to - part->from;
	return full ? WORST_NODES : n;
}

static void explain(struct explaining *e, const struct part *part);

/* Explains what another thread did in a part of the time. Adds the result as children of the share `node`. */
static void follow(struct explaining *e, const struct part *part, uint32_t node, uint32_t thread)
{
	const struct part inner = { thread, node, part->from, part->to };

	if (node == WORST_NODES)
		return;
	/* the idle threads of all CPUs have this id, so the states of this thread show nothing */
	if (thread == 0) {
		add(e, &inner, (struct worst_node){ .reason = WORST_NO_STATE });
		return;
	}
	for (uint32_t n = 0; n <= e->depth; n++)
		if (e->chain[n] == thread || e->depth == WORST_DEPTH) {
			add(e, &inner, (struct worst_node){ .reason = WORST_TOO_DEEP });
			return;
		}
	e->chain[++e->depth] = thread;
	explain(e, &inner);
	e->depth--;
}

/*
 * Divides the time for which a thread runs on a CPU into the time of the thread and the time of interrupt
 * handlers.
 */
static void explain_running(struct explaining *e, const struct part *part, uint32_t cpu)
{
	const struct history_spans *interrupts = &e->history->interrupts;
	struct worst_node interrupt = { .reason = WORST_INTERRUPT };
	uint64_t at = part->from;

	for (uint32_t n = history_find_span(interrupts, cpu, at);
	     n < interrupts->count && interrupts->span[n].owner == cpu && interrupts->span[n].from < part->to;
	     n++) {
		const struct history_span *span = &interrupts->span[n];
		const uint64_t from = span->from > at ? span->from : at;
		const uint64_t to = span->to < part->to ? span->to : part->to;

		add(e, &(struct part){ part->thread, part->parent, at, from },
		    (struct worst_node){ .reason = WORST_RUNNING });
		memcpy(interrupt.name, span->name, sizeof(interrupt.name));
		interrupt.object = span->key;
		add(e, &(struct part){ part->thread, part->parent, from, to }, interrupt);
		at = to;
	}
	add(e, &(struct part){ part->thread, part->parent, at, part->to },
	    (struct worst_node){ .reason = WORST_RUNNING });
}

/* Finds the thread that ran for most of a part of the time on a CPU. Returns false if none is known. */
static bool find_runner(const struct explaining *e, const struct part *part, uint32_t cpu, uint32_t *thread)
{
	const struct history_spans *runs = &e->history->runs;
	uint64_t most = 0;

	for (uint32_t n = history_find_span(runs, cpu, part->from);
	     n < runs->count && runs->span[n].owner == cpu && runs->span[n].from < part->to; n++) {
		const struct history_span *run = &runs->span[n];
		const uint64_t from = run->from > part->from ? run->from : part->from;
		const uint64_t to = run->to < part->to ? run->to : part->to;

		if (to - from <= most || run->key == part->thread)
			continue;
		most = to - from;
		*thread = (uint32_t)run->key;
	}
	return most != 0;
}

/*
 * Explains why a thread that was runnable did not run: names the thread that ran on the CPU on which the
 * waiting thread runs next.
 */
static void explain_runnable(struct explaining *e, const struct part *part, const struct history_state *state)
{
	struct worst_node node = { .reason = WORST_RUNNABLE };

	node.has_thread =
		state->next_cpu != KTRX_NO_CPU && find_runner(e, part, state->next_cpu, &node.thread);
	add(e, part, node);
}

static void explain_sleep(struct explaining *e, const struct part *part, const struct history_state *state)
{
	struct worst_node node = { .reason = WORST_NO_WAKER };

	if (state->woken && state->interrupt) {
		node.reason = WORST_SLEEP_INTERRUPT;
	} else if (state->woken) {
		node.reason = WORST_SLEEP;
		node.has_thread = true;
		node.thread = state->waker;
		follow(e, part, add(e, part, node), state->waker);
		return;
	}
	add(e, part, node);
}

/* Explains a part of the time in which the state is known and no lock is waited for. */
static void explain_state(struct explaining *e, const struct part *part, uint32_t n)
{
	const struct history_state *state = &e->history->state[n];

	switch (state->state) {
	case THREADS_RUNNING:
		explain_running(e, part, state->cpu);
		break;
	case THREADS_RUNNABLE:
		explain_runnable(e, part, state);
		break;
	case THREADS_SLEEPING:
	case THREADS_WAITING:
		explain_sleep(e, part, state);
		break;
	default:
		add(e, part,
		    (struct worst_node){ .reason = state->state == THREADS_STOPPED ? WORST_STOPPED
										   : WORST_NO_STATE });
	}
}

/* Returns whether the release of a lock shows that no thread held it in a part of the time. */
static bool is_free(const struct explaining *e, const struct part *part, uint64_t lock)
{
	const struct history_spans *holds = &e->history->holds;
	const uint32_t next = history_find_span(holds, lock, part->from);
	const struct history_span *last = next > 0 ? &holds->span[next - 1] : NULL;

	return last && last->owner == lock && last->ended &&
	       gaps_first(e->worst->gaps, GAPS_ANYWHERE, last->to, part->to) == UINT64_MAX;
}

/*
 * Explains a part of the time for which a thread waits for a lock that no known thread holds. If the lock was
 * free, or another thread woke the waiting thread, explains the state `n` of the waiting thread instead.
 */
static void explain_free(struct explaining *e, const struct part *part, struct worst_node node, uint32_t n)
{
	const struct history_state *state = n != NOTHING ? &e->history->state[n] : NULL;

	if (part->from >= part->to)
		return;
	if (state && (state->woken || (state->state == THREADS_RUNNING && is_free(e, part, node.object)))) {
		explain_state(e, part, n);
		return;
	}
	node.reason = WORST_NO_HOLDER;
	add(e, part, node);
}

/*
 * Divides the time for which a thread, in state `n`, waits for a lock. Each part belongs to one holder of the
 * lock.
 */
static void explain_lock(struct explaining *e, const struct part *part, const struct history_span *wait,
			 uint32_t n)
{
	const struct history_spans *holds = &e->history->holds;
	struct worst_node node = { .object = wait->key },
			  held_by = { .reason = WORST_LOCK, .object = wait->key };
	struct part rest = *part, held = *part;

	memcpy(node.name, wait->name, sizeof(node.name));
	memcpy(held_by.name, wait->name, sizeof(node.name));
	for (uint32_t k = history_find_span(holds, wait->key, part->from);
	     k < holds->count && holds->span[k].owner == wait->key && holds->span[k].from < part->to; k++) {
		const struct history_span *hold = &holds->span[k];

		if (hold->key == part->thread)
			continue;
		held.from = hold->from > rest.from ? hold->from : rest.from;
		held.to = hold->to < part->to ? hold->to : part->to;
		rest.to = held.from;
		explain_free(e, &rest, node, n);
		held_by.has_thread = true;
		held_by.thread = (uint32_t)hold->key;
		follow(e, &held, add(e, &held, held_by), held_by.thread);
		rest.from = held.to;
	}
	rest.to = part->to;
	explain_free(e, &rest, node, n);
}

/* Explains a part of the time in which nothing shows the thread's state. */
static void explain_nothing(struct explaining *e, const struct part *part)
{
	const uint64_t lost = gaps_first(e->worst->gaps, GAPS_ANYWHERE, part->from, part->to);
	struct part before = *part, after = *part;

	before.to = after.from = lost < part->to ? lost : part->to;
	add(e, &before, (struct worst_node){ .reason = WORST_NO_STATE });
	add(e, &after, (struct worst_node){ .reason = WORST_LOST });
}

/* Explains a part of the time for which state `n` lasts; `n` is NOTHING if nothing shows the state. */
static void explain_rest(struct explaining *e, const struct part *part, uint32_t n)
{
	if (part->from >= part->to)
		return;
	if (n == NOTHING)
		explain_nothing(e, part);
	else
		explain_state(e, part, n);
}

/*
 * Does the same as explain_rest(), but first explains the part of the time in which the thread waits for
 * locks. A thread that is runnable has ended its wait.
 */
static void explain_part(struct explaining *e, const struct part *part, uint32_t n)
{
	const struct history_spans *waits = &e->history->waits;
	const bool waits_no_longer = n != NOTHING && e->history->state[n].state == THREADS_RUNNABLE;
	struct part rest = *part, wait = *part;

	for (uint32_t k = history_find_span(waits, part->thread, part->from);
	     !waits_no_longer && k < waits->count && waits->span[k].owner == part->thread &&
	     waits->span[k].from < part->to;
	     k++) {
		const struct history_span *span = &waits->span[k];

		wait.from = span->from > rest.from ? span->from : rest.from;
		wait.to = span->to < part->to ? span->to : part->to;
		rest.to = wait.from;
		explain_rest(e, &rest, n);
		explain_lock(e, &wait, span, n);
		rest.from = wait.to;
	}
	rest.to = part->to;
	explain_rest(e, &rest, n);
}

static void explain(struct explaining *e, const struct part *part)
{
	const struct history *history = e->history;
	struct part rest = *part, now = *part;

	for (uint32_t n = history_find_state(history, part->thread, part->from);
	     n < history->states && history->state[n].owner == part->thread &&
	     history->state[n].from < part->to;
	     n++) {
		const struct history_state *state = &history->state[n];

		now.from = state->from > rest.from ? state->from : rest.from;
		now.to = state->to < part->to ? state->to : part->to;
		rest.to = now.from;
		if (now.to <= now.from)
			continue;
		explain_part(e, &rest, NOTHING);
		explain_part(e, &now, n);
		rest.from = now.to;
	}
	rest.to = part->to;
	explain_part(e, &rest, NOTHING);
}

void worst_explain(const struct worst *worst, uint32_t n, struct worst_shares *shares)
{
	const struct latencies_span *span = &worst->span[n];
	struct explaining e = { .worst = worst, .history = &worst->history, .shares = shares, .reserved = 1 };

	shares->nodes = 0;
	e.chain[0] = span->thread;
	explain(&e, &(struct part){ span->thread, WORST_NODES, span->begin, span->end });
}
