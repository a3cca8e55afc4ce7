/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "why/untimed.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "why/graph.h"
#include "why/pulse.h"

#define REGULAR_LEAST 20u /* minimum number of intervals that are needed to find wakeups periodic */
#define REGULAR_MS    1000u
/* minimum number of tenths of the intervals that must be between half and twice the median */
#define REGULAR_PART 8u

/* ---- Waits without a timeout --------------------------------------------------------------------- */

bool why_ends_late(const struct why_evidence *evidence, const struct ktrx_holder *row)
{
	const uint64_t least = why_ms(evidence, WHY_TIMEOUT_MS);

	return (row->wait == KTRX_WAIT_EVENT || row->wait == KTRX_WAIT_DEVICE) && least && row->wait_stamp &&
	       row->deadline > row->wait_stamp && row->deadline - row->wait_stamp >= least;
}

static bool by_row(const struct why_evidence *evidence, const struct why_thread *thread, bool late,
		   struct why_untimed *untimed)
{
	const struct ktrx_holder *row = &thread->holder;
	const bool polls = row->state != KTRX_THREAD_WAITING && row->wait == KTRX_WAIT_LOCK;

	if ((row->state != KTRX_THREAD_WAITING && !polls) || row->wait == KTRX_WAIT_TIME ||
	    (row->deadline && !(late && why_ends_late(evidence, row))))
		return false;
	untimed->by_table = true;
	untimed->deadline = row->deadline;
	untimed->kind = row->wait;
	untimed->object = row->wait == KTRX_WAIT_NONE ? 0 : row->object;
	untimed->since = row->wait != KTRX_WAIT_NONE && row->wait_stamp ? row->wait_stamp : row->state_stamp;
	untimed->pc = row->wait_pc;
	return true;
}

/*
 * Sets *untimed from events and returns true if events show that the thread waits. Events show the object and
 * the kind of wait, but not whether the wait has a timeout.
 */
static bool by_events(const struct why_thread *thread, struct why_untimed *untimed)
{
	if ((thread->state != THREADS_SLEEPING && thread->state != THREADS_WAITING) || !thread->blocked ||
	    thread->blocked_for == KTRX_WAIT_TIME)
		return false;
	untimed->kind = thread->blocked_for;
	untimed->object = thread->blocked_on;
	untimed->since = thread->blocked;
	return true;
}

static bool is_untimed(const struct why_evidence *evidence, const struct why_thread *thread, bool late,
		       struct why_untimed *untimed)
{
	*untimed = (struct why_untimed){ .thread = thread };
	if (thread->idle || why_is_gone(evidence, thread))
		return false;
	if (thread->has_holder && thread->holder.state != KTRX_THREAD_UNKNOWN
		    ? !by_row(evidence, thread, late, untimed)
		    : !by_events(thread, untimed))
		return false;
	untimed->queue = why_queue_find(evidence, untimed->object);
	if (!untimed->queue)
		untimed->queue = thread->blocked ? why_queue_find(evidence, thread->blocked_on) : NULL;
	if (!untimed->queue)
		untimed->queue = why_queue_of_thread(evidence, thread->id);
	for (uint32_t n = 0; n < KTRX_HELD && !untimed->lock; n++)
		untimed->lock = thread->holder.held[n].object;
	return true;
}

/* ---- Threads that wait for locks of the thread --------------------------------------------------- */

static struct why_untimed *untimed_of_node(const struct why_graph *graph, const struct why_untimed_list *list,
					   uint32_t node)
{
	const uint32_t at = node < graph->cpus ? 0 : list->of[node - graph->cpus];

	return at ? &list->untimed[at - 1] : NULL;
}

static void add_edge(const struct why_evidence *evidence, const struct why_graph *graph,
		     const struct why_edge *edge, const struct why_untimed_list *list)
{
	struct why_untimed *from = untimed_of_node(graph, list, edge->from);
	struct why_untimed *to = untimed_of_node(graph, list, edge->to);
	const uint64_t ticks = edge->since ? why_age(evidence, edge->since) : 0;

	if (!why_edge_is_lock(edge) || why_edge_is_doubtful(edge))
		return;
	if (from && edge->kind != WHY_EDGE_TRY) {
		from->owner = why_node_id(graph, evidence, edge->to);
		from->held = edge->held;
	}
	if (!to || edge->from < graph->cpus)
		return;
	if (to->waiters++ && ticks <= to->waiters_ticks)
		return;
	to->waiters_ticks = ticks;
	to->lock = edge->object;
	to->tries = edge->kind == WHY_EDGE_TRY;
	to->first_waiter = &evidence->thread[edge->from - graph->cpus];
}

static int add_waiters(const struct why_evidence *evidence, const struct why_untimed_list *list)
{
	struct why_graph *graph;
	int error = why_graph_build(&graph, evidence);

	for (uint32_t n = 0; !error && n < graph->edges; n++)
		add_edge(evidence, graph, &graph->edge[n], list);
	why_graph_free(graph);
	return error;
}

static int by_age(const void *a, const void *b)
{
	const struct why_untimed *left = a, *right = b;

	if (left->since != right->since)
		return left->since < right->since ? -1 : 1;
	return left->thread < right->thread ? -1 : left->thread > right->thread;
}

static int find(struct why_untimed_list *result, const struct why_evidence *evidence, bool late)
{
	int error;

	*result = (struct why_untimed_list){ .untimed =
						     calloc(evidence->threads + 1u, sizeof(*result->untimed)),
					     .of = calloc(evidence->threads + 1u, sizeof(*result->of)) };
	if (!result->untimed || !result->of) {
		why_untimed_free(result);
		return KTREAD_E_MEMORY;
	}
	for (uint32_t n = 0; n < evidence->threads; n++)
		result->count +=
			is_untimed(evidence, &evidence->thread[n], late, &result->untimed[result->count]);
	if (result->count)
		qsort(result->untimed, result->count, sizeof(*result->untimed), by_age);
	for (uint32_t n = 0; n < result->count; n++)
		result->of[result->untimed[n].thread - evidence->thread] = n + 1;
	error = add_waiters(evidence, result);
	if (error)
		why_untimed_free(result);
	return error;
}

int why_untimed_find(struct why_untimed_list *list, const struct why_evidence *evidence)
{
	return find(list, evidence, false);
}

int why_untimed_find_late(struct why_untimed_list *list, const struct why_evidence *evidence)
{
	return find(list, evidence, true);
}

void why_untimed_free(struct why_untimed_list *list)
{
	free(list->untimed);
	free(list->of);
	*list = (struct why_untimed_list){ NULL, NULL, 0 };
}

/* ---- Earlier waits of the thread ----------------------------------------------------------------- */

uint64_t why_untimed_ticks(const struct why_evidence *evidence, const struct why_untimed *untimed)
{
	return untimed->since && untimed->since < evidence->alive ? evidence->alive - untimed->since : 0;
}

#define SPIN_MS	    1000u
#define SPIN_PLACES 8u	/* minimum number of interrupts that must have interrupted the waiter */
#define SPIN_REACH  32u /* size in bytes of a loop of a few instructions */

bool why_waiter_spins(const struct why_evidence *evidence, const struct why_untimed *untimed)
{
	const struct why_thread *waiter = untimed->first_waiter;
	const struct ktrx_holder *row = waiter ? &waiter->holder : NULL;
	struct why_places places;

	if (!row || row->state != KTRX_THREAD_RUNNING || row->wait != KTRX_WAIT_LOCK ||
	    row->cpu >= evidence->cpus || waiter->ran < evidence->window / 2 ||
	    why_age(evidence, row->wait_stamp) < why_ms(evidence, SPIN_MS))
		return false;
	why_places_of(evidence, &evidence->cpu[row->cpu], waiter->id, row->wait_stamp, &places);
	return places.count >= SPIN_PLACES && places.highest - places.lowest < SPIN_REACH;
}

static int by_size(const void *a, const void *b)
{
	const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

bool why_is_regular(const struct why_evidence *evidence, const struct why_queue *queue, uint64_t *usual)
{
	const struct why_rhythm *rhythm = &queue->rhythm;
	uint64_t interval[WHY_INTERVALS];
	uint32_t count = rhythm->intervals < WHY_INTERVALS ? (uint32_t)rhythm->intervals : WHY_INTERVALS;
	uint32_t alike = 0;

	if (rhythm->intervals < REGULAR_LEAST || why_ms(evidence, REGULAR_MS) == 0 ||
	    rhythm->last - rhythm->first < why_ms(evidence, REGULAR_MS))
		return false;
	memcpy(interval, rhythm->interval, count * sizeof(interval[0]));
	qsort(interval, count, sizeof(interval[0]), by_size);
	*usual = interval[count / 2];
	for (uint32_t n = 0; n < count; n++)
		alike += interval[n] >= *usual / 2 && interval[n] <= 2 * *usual;
	return 10 * alike >= REGULAR_PART * count;
}

/* Returns whether the trace shows that earlier waits for the same purpose took as long and ended. */
static bool why_untimed_is_usual(const struct why_evidence *evidence, const struct why_untimed *untimed)
{
	const uint64_t ticks = why_untimed_ticks(evidence, untimed);
	struct why_habit habit;

	if (untimed->queue && (untimed->queue->longest >= ticks || untimed->queue->rhythm.longest >= ticks))
		return true;
	return why_habit_of(evidence, untimed, &habit) && habit.longest >= ticks;
}

/* ---- Text of the finding ------------------------------------------------------------------------- */

const char *why_say_untimed(const struct why_evidence *evidence, const struct why_untimed *untimed,
			    char *buffer, size_t size)
{
	char who[WHY_WORDS], waits[FINDING_LINE], owner[WHY_WORDS], held[WHY_WORDS + 40] = "";

	if (untimed->owner)
		why_say(held, sizeof(held), "; held by %s%s",
			why_say_actor(evidence, untimed->owner, owner, sizeof(owner)),
			untimed->held ? "" : " when the wait began");
	return why_say(buffer, size, "%s %s%s",
		       why_say_actor(evidence, untimed->thread->id + 1, who, sizeof(who)),
		       why_say_waiting(evidence, untimed->kind, untimed->object, untimed->since, untimed->pc,
				       waits, sizeof(waits)),
		       held);
}

bool why_came_early(const struct why_untimed *untimed)
{
	const struct why_queue *queue = untimed->queue;

	return queue && queue->nobody && queue->nobody_stamp >= queue->last_wake &&
	       queue->nobody_stamp <= untimed->since;
}

void why_finding_early(struct why_finding *finding, const struct why_evidence *evidence,
		       const struct why_untimed *untimed)
{
	const struct why_queue *queue = untimed->queue;
	char who[WHY_WORDS], what[WHY_WORDS], ticks[WHY_WORDS], place[WHY_WORDS];

	if (!why_came_early(untimed))
		return;
	finding_evidence(&finding->base, "%s woke %s %s before this wait, and found no thread asleep%s",
			 why_say_actor(evidence, queue->nobody_thread + 1, who, sizeof(who)),
			 why_say_object(evidence, queue->address, what, sizeof(what)),
			 why_say_ticks(evidence, untimed->since - queue->nobody_stamp, ticks, sizeof(ticks)),
			 why_say_called(evidence, ", at ", queue->nobody_ip, place, sizeof(place)));
	finding_refer(&finding->base, queue->nobody_stamp, queue->nobody_thread + 1, queue->address);
}

/* Formats a text such as "; a wakeup came 1.2 ms before it and found no thread asleep". */
static const char *say_nobody(const struct why_evidence *evidence, const struct why_untimed *untimed,
			      char *buffer, size_t size)
{
	char ticks[WHY_WORDS];

	if (!why_came_early(untimed))
		return why_say(buffer, size, "%s", "");
	return why_say(
		buffer, size, "; a wakeup came %s before it and found no thread asleep",
		why_say_ticks(evidence, untimed->since - untimed->queue->nobody_stamp, ticks, sizeof(ticks)));
}

/* Returns whether the trace shows all waits of all threads, and what ended each of them. */
static bool shows_all_waits(const struct why_evidence *evidence)
{
	for (uint32_t n = 0; n < evidence->cpus; n++)
		if (evidence->cpu[n].cut)
			return false;
	return why_is_whole_since(evidence, evidence->first) &&
	       scheduling_covers(evidence->scheduling, WELLKNOWN_BLOCK, evidence->first, evidence->end) &&
	       scheduling_covers(evidence->scheduling, WELLKNOWN_WAKE, evidence->first, evidence->end);
}

const char *why_say_waits_before(const struct why_evidence *evidence, const struct why_untimed *untimed,
				 char *buffer, size_t size)
{
	const struct why_queue *queue = untimed->queue;
	char longest[WHY_WORDS], exception[WHY_WORDS];
	struct why_habit habit;

	say_nobody(evidence, untimed, exception, sizeof(exception));
	if (queue && queue->waits)
		return why_say(buffer, size, "%" PRIu64 " such wait%s ended before, the longest after %s%s",
			       queue->waits, queue->waits == 1 ? "" : "s",
			       why_say_ticks(evidence, queue->longest, longest, sizeof(longest)), exception);
	if (why_habit_of(evidence, untimed, &habit))
		return why_say(buffer, size, "%" PRIu64 " such waits ended before, at most %s apart%s",
			       habit.wakes, why_say_ticks(evidence, habit.longest, longest, sizeof(longest)),
			       exception);
	/* more than one wakeup, because the first one often belongs to the creation of the thread */
	if (untimed->by_table && untimed->thread->holder.wakes > 1 && !shows_all_waits(evidence))
		return why_say(buffer, size,
			       "the thread was woken %" PRIu32
			       " times before, but the trace does not show from which waits%s",
			       untimed->thread->holder.wakes, exception);
	return why_say(buffer, size, "no such wait has ended in this trace%s", exception);
}

/* ---- Waits that may last forever ------------------------------------------------------------------ */

#define OPEN_MS 100u /* time in ms: a wait that began at most this long ago may end soon */
#define LISTED	12u  /* maximum number of threads that are listed */

/* Returns whether only threads have woken sleepers of the queue, and all of these threads have ended. */
static bool wakers_have_ended(const struct why_evidence *evidence, const struct why_queue *queue)
{
	if (!queue || queue->wakers == 0 || queue->by_interrupt || queue->by_others)
		return false;
	for (uint32_t n = 0; n < queue->wakers; n++) {
		const struct why_thread *waker = why_thread_find(evidence, queue->waker[n].thread);

		if (!waker || !why_is_gone(evidence, waker))
			return false;
	}
	return true;
}

/*
 * Returns whether the wait may last forever: the trace shows no earlier wait for the same purpose that took
 * as long and ended, or nothing is left that ended such waits.
 */
static bool is_open(const struct why_evidence *evidence, const struct why_untimed_list *list,
		    const struct why_untimed *untimed)
{
	const struct why_thread *owner = untimed->owner && !(untimed->owner & KTRX_HOLDER_CPU)
						 ? why_thread_find(evidence, untimed->owner - 1)
						 : NULL;

	/* If the wait is for a lock that is held, the wait will end if the lock's holder makes progress. */
	if (owner && untimed->held && list->of[owner - evidence->thread] == 0 &&
	    !why_is_gone(evidence, owner) && (owner->has_holder || owner->state != THREADS_UNKNOWN))
		return false;
	return (!why_untimed_is_usual(evidence, untimed) || wakers_have_ended(evidence, untimed->queue)) &&
	       why_untimed_ticks(evidence, untimed) > why_ms(evidence, OPEN_MS);
}

uint32_t why_untimed_count_open(const struct why_evidence *evidence, const struct why_untimed_list *list)
{
	uint32_t open = 0;

	for (uint32_t n = 0; n < list->count; n++)
		open += is_open(evidence, list, &list->untimed[n]);
	return open;
}

void why_finding_untimed(struct why_finding *finding, const struct why_evidence *evidence,
			 const struct why_untimed_list *list, bool all)
{
	char untimed[FINDING_LINE], before[WHY_WORDS];
	uint32_t shown = 0;

	for (int pass = 0; pass < (all ? 2 : 1); pass++)
		for (uint32_t n = 0; n < list->count; n++) {
			const struct why_untimed *one = &list->untimed[n];

			if (is_open(evidence, list, one) != (pass == 0) || shown++ >= LISTED)
				continue;
			why_say_untimed(evidence, one, untimed, sizeof(untimed));
			if (one->owner)
				finding_evidence(&finding->base, "  %s", untimed);
			else
				finding_evidence(&finding->base, "  %s: %s", untimed,
						 why_say_waits_before(evidence, one, before, sizeof(before)));
		}
	if (shown > LISTED)
		finding_evidence(&finding->base, "  and %" PRIu32 " more, in the list of threads below",
				 shown - LISTED);
}

/* ---- Sleepers that no thread will wake ----------------------------------------------------------- */

/*
 * Maximum number of passes. Each pass removes a sleeper or joins groups. If more passes are needed, the
 * result is too uncertain to be reported.
 */
#define PASSES 64

/*
 * Returns whether the thread sleeps without a timeout, and sets *sleeper if it does. This is taken from the
 * thread's row in the kernel's table, or from events if it has no row.
 */
static bool sleeps_without_timeout(const struct why_evidence *evidence, const struct why_thread *thread,
				   struct why_sleeper *sleeper)
{
	const struct ktrx_holder *row = &thread->holder;
	uint64_t queue = thread->object;

	if (thread->idle)
		return false;
	*sleeper = (struct why_sleeper){ .thread = thread, .since = thread->since };
	if (thread->has_holder && row->state != KTRX_THREAD_UNKNOWN) {
		if (row->state != KTRX_THREAD_WAITING || row->wait != KTRX_WAIT_EVENT || row->deadline)
			return false;
		queue = row->object;
		sleeper->since = row->wait_stamp ? row->wait_stamp : row->state_stamp;
		sleeper->pc = row->wait_pc;
		sleeper->by_table = true;
	} else if (thread->state != THREADS_SLEEPING && thread->state != THREADS_WAITING) {
		return false;
	}
	sleeper->queue = why_queue_find(evidence, queue);
	return sleeper->queue && !sleeper->queue->by_interrupt && !sleeper->queue->by_others;
}

/*
 * Returns the entry of a thread in `sleepers`. Returns NULL if it has none, or its entry was removed. `of`
 * contains, for each thread, the index of its entry, plus 1.
 */
static struct why_sleeper *entry_of(const struct why_evidence *evidence, const struct why_sleepers *sleepers,
				    const uint32_t *of, const struct why_thread *thread)
{
	uint32_t at = of[thread - evidence->thread];

	return at ? &sleepers->sleeper[at - 1] : NULL;
}

/*
 * Returns whether a thread may still wake the sleeper: at least one of the threads that have woken it is not
 * in the list of sleepers. Returns true, too, if all of these threads have ended, because other threads may
 * now do their work.
 */
static bool may_be_woken(const struct why_evidence *evidence, const struct why_sleepers *sleepers,
			 const uint32_t *of, const struct why_sleeper *sleeper)
{
	bool anybody = false;

	for (uint32_t n = 0; n < sleeper->queue->wakers; n++) {
		const struct why_thread *waker = why_thread_find(evidence, sleeper->queue->waker[n].thread);

		if (!waker) /* the waker is not in the evidence, because of the limit of threads */
			return true;
		if (waker == sleeper->thread || why_is_gone(evidence, waker))
			continue;
		if (!entry_of(evidence, sleepers, of, waker))
			return true;
		anybody = true;
	}
	return !anybody;
}

/* Removes the sleepers that a thread may still wake. Returns whether any sleeper was removed. */
static bool drop_wakeable(const struct why_evidence *evidence, struct why_sleepers *sleepers, uint32_t *of)
{
	bool changed = false;

	for (uint32_t n = 0; n < sleepers->count; n++) {
		struct why_sleeper *sleeper = &sleepers->sleeper[n];
		uint32_t *at = &of[sleeper->thread - evidence->thread];

		if (*at == 0 || !may_be_woken(evidence, sleepers, of, sleeper))
			continue;
		*at = 0;
		changed = true;
	}
	return changed;
}

/*
 * Puts a sleeper and the sleepers that have woken it into one group, whose number is the lowest of their
 * group numbers. Returns whether a group has changed.
 */
static bool join_wakers(const struct why_evidence *evidence, struct why_sleepers *sleepers, uint32_t *of,
			struct why_sleeper *sleeper)
{
	bool changed = false;

	for (uint32_t n = 0; n < sleeper->queue->wakers; n++) {
		const struct why_thread *thread = why_thread_find(evidence, sleeper->queue->waker[n].thread);
		struct why_sleeper *waker = thread ? entry_of(evidence, sleepers, of, thread) : NULL;

		if (!waker || waker == sleeper)
			continue;
		waker->needed = true;
		if (waker->group == sleeper->group)
			continue;
		if (waker->group < sleeper->group)
			sleeper->group = waker->group;
		else
			waker->group = sleeper->group;
		changed = true;
	}
	return changed;
}

static bool join_groups(const struct why_evidence *evidence, struct why_sleepers *sleepers, uint32_t *of)
{
	bool changed = false;

	for (uint32_t n = 0; n < sleepers->count; n++)
		changed |= join_wakers(evidence, sleepers, of, &sleepers->sleeper[n]);
	return changed;
}

typedef bool a_pass(const struct why_evidence *evidence, struct why_sleepers *sleepers, uint32_t *of);

/*
 * Repeats a pass until it changes nothing. Removes all sleepers if this takes more than the maximum number of
 * passes.
 */
static void repeat(a_pass *pass, const struct why_evidence *evidence, struct why_sleepers *sleepers,
		   uint32_t *of)
{
	int passes = 0;

	while (passes < PASSES && pass(evidence, sleepers, of))
		passes++;
	if (passes == PASSES)
		sleepers->count = 0;
}

static int by_group(const void *a, const void *b)
{
	const struct why_sleeper *left = a, *right = b;

	if (left->group != right->group)
		return left->group < right->group ? -1 : 1;
	if (left->since != right->since)
		return left->since < right->since ? -1 : 1;
	return left->thread < right->thread ? -1 : left->thread > right->thread;
}

/* Deletes the entries of removed sleepers. Puts each remaining sleeper into a group of its own. */
static void drop_removed(const struct why_evidence *evidence, struct why_sleepers *sleepers, uint32_t *of)
{
	uint32_t kept = 0;

	for (uint32_t n = 0; n < sleepers->count; n++) {
		uint32_t *at = &of[sleepers->sleeper[n].thread - evidence->thread];

		if (*at == 0)
			continue;
		sleepers->sleeper[kept] = sleepers->sleeper[n];
		sleepers->sleeper[kept].group = kept;
		*at = ++kept;
	}
	sleepers->count = kept;
}

int why_sleepers_find(struct why_sleepers *sleepers, const struct why_evidence *evidence)
{
	uint32_t *of = calloc(evidence->threads + 1u, sizeof(*of));

	*sleepers = (struct why_sleepers){ calloc(evidence->threads + 1u, sizeof(*sleepers->sleeper)), 0 };
	if (!of || !sleepers->sleeper) {
		free(of);
		why_sleepers_free(sleepers);
		return KTREAD_E_MEMORY;
	}
	for (uint32_t n = 0; n < evidence->threads; n++)
		if (sleeps_without_timeout(evidence, &evidence->thread[n],
					   &sleepers->sleeper[sleepers->count]))
			of[n] = ++sleepers->count;
	repeat(drop_wakeable, evidence, sleepers, of);
	drop_removed(evidence, sleepers, of);
	repeat(join_groups, evidence, sleepers, of);
	qsort(sleepers->sleeper, sleepers->count, sizeof(*sleepers->sleeper), by_group);
	free(of);
	return 0;
}

bool why_sleepers_have(const struct why_sleepers *sleepers, const struct why_thread *thread)
{
	for (uint32_t n = 0; n < sleepers->count; n++)
		if (sleepers->sleeper[n].thread == thread)
			return true;
	return false;
}

void why_sleepers_free(struct why_sleepers *sleepers)
{
	free(sleepers->sleeper);
	*sleepers = (struct why_sleepers){ NULL, 0 };
}
