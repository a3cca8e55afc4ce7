/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A lock whose owner has ended without releasing it. The waiter's row in the kernel's table names the thread
 * that owned the lock when the wait began. It never names a later owner. So the owner is taken from the
 * events lock.acquire and lock.release. If these events are missing, the owner is the thread that the newest
 * wait names. That thread may have released the lock later without waking a waiter, but this is unlikely if
 * the kernel still named it after the thread's end. The row of a thread that left its CPU for the last time
 * may also show that the thread has ended, and which locks it did not release.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "why/finding.h"
#include "why/pulse.h"
#include "why/tries.h"

#define MOST  8u /* maximum number of findings */
#define SHOWN 4u /* maximum number of waiters that are listed for a lock */
/* time in ms: another thread may release the lock until this long after the owner's end */
#define LASTS_MS 1000u
/* time in ms: if timestamps of two CPUs are closer than this, the order of their events is unknown */
#define APART_MS 10u
#define SEVERAL	 UINT32_MAX

struct waiter {
	const struct why_thread *thread;
	/*
	 * `lock`: the lock; `since`: timestamp at which the wait began; `pc`: place in the code where it
	 * began; `since` and `pc` are 0 if unknown
	 */
	uint64_t lock, since, pc;
	uint32_t owner; /* owner at the beginning of the wait, an id as in struct ktrx_holder; 0: unknown */
	bool by_table;	/* the kernel's table shows that the thread waits; if false, only events show it */
	/*
	 * the thread does not sleep until it gets the lock, but tries to take it again and again; `owner` is
	 * the owner at one of these attempts
	 */
	bool polls;
	/* attempts to take the lock, if the thread gives up after each attempt; NULL: the thread waits */
	const struct why_tries *tries;
};

/* A lock for which threads wait. */
struct orphan {
	const struct waiter *waiter; /* array of `waiters` elements; the longest wait comes first */
	uint32_t waiters;
	/*
	 * id (as in struct ktrx_holder) of the thread or CPU that holds the lock according to the kernel's
	 * table; 0: none
	 */
	uint32_t holder;
	/* event in which a thread took the lock; NULL: no event shows this, or the lock was released later */
	const struct why_hold *hold;
	uint32_t owner; /* last owner of the lock, as thread id + 1; 0: unknown */
	/*
	 * timestamp of the owner's end; 0: unknown, because only the missing row in the kernel's table shows
	 * that the owner has ended
	 */
	uint64_t ended;
	bool earlier;			/* true if the owner's number belongs to a new thread now */
	bool is_orphan;			/* true if the owner of the lock has ended */
	enum finding_certainty certain; /* certainty of `is_orphan` */
};

struct orphans {
	/*
	 * all waiters, sorted by lock; the waiters of one lock are sorted by length of their waits, the
	 * longest first
	 */
	struct waiter *waiter;
	uint32_t waiters;
	struct orphan *lock; /* all locks that have waiters, sorted by the locks' addresses */
	uint32_t locks;
	bool full;  /* true if some thread holds more locks than its row in the kernel's table can name */
	bool named; /* true if the row of some thread names a held lock */
};

/* ---- Threads and CPUs that wait for locks -------------------------------------------------------- */

static bool waits_by_row(const struct why_evidence *evidence, const struct why_thread *thread,
			 struct waiter *waiter)
{
	const struct ktrx_holder *row = &thread->holder;

	if (!thread->has_holder || row->wait != KTRX_WAIT_LOCK || why_wait_may_end(evidence, row) ||
	    !row->wait_stamp || !row->object)
		return false;
	*waiter = (struct waiter){ .thread = thread,
				   .lock = row->object,
				   .since = row->wait_stamp,
				   .pc = row->wait_pc,
				   .owner = row->owner,
				   .by_table = true,
				   .polls = row->state != KTRX_THREAD_WAITING ||
					    why_sleeps_between_tries(evidence, row) };
	return true;
}

/*
 * Returns whether events show that the thread waits for a lock, and sets *waiter if so. Always returns false
 * if the tables show all waits.
 */
static bool waits_by_events(const struct why_evidence *evidence, const struct why_thread *thread,
			    struct waiter *waiter)
{
	if (why_tables_show_locks(evidence) || !thread->contends ||
	    (thread->state != THREADS_SLEEPING && thread->state != THREADS_WAITING))
		return false;
	*waiter = (struct waiter){ .thread = thread,
				   .lock = thread->contends,
				   .since = thread->contends_since };
	return true;
}

/*
 * Returns whether the thread has tried to take a lock many times, gave up after each attempt, and never got
 * the lock. If so, sets *waiter.
 */
static bool waits_by_tries(const struct why_evidence *evidence, const struct why_thread *thread,
			   struct waiter *waiter)
{
	const struct why_tries *tries = why_tries_next(evidence, thread, NULL);

	if (!tries)
		return false;
	*waiter = (struct waiter){ .thread = thread,
				   .lock = tries->lock,
				   .since = tries->same.first,
				   .pc = tries->pc,
				   .owner = tries->owner == UINT32_MAX ? 0 : tries->owner + 1,
				   .polls = true,
				   .tries = tries };
	return true;
}

static int by_lock(const void *a, const void *b)
{
	const struct waiter *left = a, *right = b;

	if (left->lock != right->lock)
		return left->lock < right->lock ? -1 : 1;
	return left->since < right->since ? -1 : left->since > right->since;
}

static void find_waiters(const struct why_evidence *evidence, struct orphans *all)
{
	for (uint32_t n = 0; n < evidence->threads; n++) {
		const struct why_thread *thread = &evidence->thread[n];
		struct waiter *waiter = &all->waiter[all->waiters];

		if (!thread->idle && !why_is_gone(evidence, thread) &&
		    (waits_by_row(evidence, thread, waiter) || waits_by_events(evidence, thread, waiter) ||
		     waits_by_tries(evidence, thread, waiter)))
			all->waiters++;
	}
	qsort(all->waiter, all->waiters, sizeof(*all->waiter), by_lock);
	for (uint32_t n = 0; n < all->waiters; n++) {
		if (n == 0 || all->waiter[n].lock != all->waiter[n - 1].lock)
			all->lock[all->locks++] = (struct orphan){ .waiter = &all->waiter[n] };
		all->lock[all->locks - 1].waiters++;
	}
}

/* ---- Owners of locks ----------------------------------------------------------------------------- */

static struct orphan *lock_find(const struct orphans *all, uint64_t lock)
{
	uint32_t low = 0, high = all->locks;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (all->lock[middle].waiter->lock < lock)
			low = middle + 1;
		else
			high = middle;
	}
	return low < all->locks && all->lock[low].waiter->lock == lock ? &all->lock[low] : NULL;
}

static void note_holder(const struct orphans *all, const struct ktrx_holder *row)
{
	for (uint32_t n = 0; n < KTRX_HELD; n++) {
		struct orphan *lock = row->held[n].object ? lock_find(all, row->held[n].object) : NULL;

		if (lock)
			lock->holder = lock->holder && lock->holder != row->id ? SEVERAL : row->id;
	}
}

static void find_holders(const struct why_evidence *evidence, struct orphans *all)
{
	for (uint32_t n = 0; n < evidence->cpus; n++)
		if (evidence->cpu[n].has_holder)
			note_holder(all, &evidence->cpu[n].holder);
	for (uint32_t n = 0; n < evidence->threads; n++)
		if (evidence->thread[n].has_holder) {
			all->full |= evidence->thread[n].holder.held_count > KTRX_HELD;
			all->named |= evidence->thread[n].holder.held_count > 0;
			note_holder(all, &evidence->thread[n].holder);
		}
	for (uint32_t n = 0; n < evidence->holds; n++) {
		struct orphan *lock = lock_find(all, evidence->hold[n].lock);

		if (lock)
			lock->hold = &evidence->hold[n];
	}
}

/* Returns whether thread `owner` sleeps until it gets this lock. If so, it cannot be the lock's owner. */
static bool waits_itself(const struct orphan *lock, uint32_t owner)
{
	for (uint32_t n = 0; n < lock->waiters && owner; n++)
		if (lock->waiter[n].thread->id + 1 == owner && !lock->waiter[n].polls)
			return true;
	return false;
}

/*
 * Returns the newest wait that names a possible owner. A thread that waits for the lock itself is not a
 * possible owner. Some kernels name such a thread, because they store the owner as a pointer to its thread,
 * and the memory of an owner that has ended may be used for a new thread.
 */
static const struct waiter *newest(const struct orphan *lock)
{
	uint32_t n = lock->waiters - 1;

	while (n > 0 && waits_itself(lock, lock->waiter[n].owner))
		n--;
	return &lock->waiter[n];
}

/*
 * Returns the last owner as thread id + 1, from events or, if events do not show it, from the newest wait.
 * Returns 0 if the owner is unknown. The owner is unknown if the newest wait names a CPU. It is unknown, too,
 * if a thread that tries again and again names another owner, because that owner may have taken the lock
 * later.
 */
static uint32_t last_owner(const struct orphan *lock)
{
	const uint32_t owner = newest(lock)->owner;

	if (lock->hold)
		return lock->hold->thread + 1;
	for (uint32_t n = 0; n < lock->waiters; n++)
		if (lock->waiter[n].polls && lock->waiter[n].owner != owner)
			return 0;
	return owner & KTRX_HOLDER_CPU ? 0 : owner;
}

/* ---- Whether the owner has ended ----------------------------------------------------------------- */

/* Returns whether the owner's row in the kernel's table still names the lock as held. */
static bool is_kept(const struct orphan *lock)
{
	return lock->holder && lock->holder == lock->owner;
}

/* Returns whether the thread's row in the kernel's table shows that the thread has ended (spec/ktrx.md). */
static bool row_has_ended(const struct why_thread *thread)
{
	return thread && thread->has_holder && thread->holder.state == KTRX_THREAD_UNKNOWN &&
	       thread->holder.state_stamp;
}

/* Returns whether the thread's state is unknown, or older than the newest lost slot. */
static bool is_state_lost(const struct why_evidence *evidence, const struct why_thread *thread)
{
	return thread->state == THREADS_UNKNOWN || !why_is_whole_since(evidence, thread->since);
}

static bool has_ended(const struct why_evidence *evidence, struct orphan *lock)
{
	const struct why_thread *owner = why_thread_find(evidence, lock->owner - 1);

	if (lock->hold && lock->hold->ended) {
		lock->ended = lock->hold->ended;
		lock->earlier = owner && owner->state != THREADS_DEAD;
		/* a thread that runs after its end, and holds the lock in its row, may not have ended */
		return lock->owner != 1 && !(lock->earlier && is_kept(lock));
	}
	if (lock->owner == 1) /* the owner is thread 0, which may run on several CPUs at the same time */
		return false;
	if (!owner || owner->state != THREADS_DEAD)
		return evidence->exits_recorded && evidence->refused == 0 &&
		       (!owner || (!owner->has_holder && is_state_lost(evidence, owner)));
	lock->ended = owner->since;
	/*
	 * A row of the kernel's table that exists after the thread's end may belong to a new thread with the
	 * same id.
	 */
	return !owner->has_holder || row_has_ended(owner) ||
	       (is_kept(lock) && why_is_whole_since(evidence, lock->ended));
}

/*
 * Returns whether the trace has all lock events of the owner since the owner's creation. In this case, the
 * events show every lock that the owner holds.
 */
static bool has_all_lock_events(const struct why_evidence *evidence, const struct orphan *lock)
{
	const struct why_thread *owner = why_thread_find(evidence, lock->owner - 1);

	return owner && owner->created && why_is_whole_since(evidence, owner->created) &&
	       scheduling_covers(evidence->scheduling, WELLKNOWN_LOCK_ACQUIRE, owner->created,
				 evidence->end) &&
	       scheduling_covers(evidence->scheduling, WELLKNOWN_LOCK_RELEASE, owner->created, evidence->end);
}

/*
 * Returns whether the newest wait began after the owner's end. In this case, the kernel named the owner as
 * the lock's holder although the owner had ended.
 */
static bool named_after_end(const struct why_evidence *evidence, const struct orphan *lock)
{
	const uint64_t since = newest(lock)->since;

	return lock->ended && since > lock->ended &&
	       since - lock->ended >= why_ms(evidence, APART_MS) + evidence->doubt;
}

/*
 * Returns whether the row of the lock's only holder in the kernel's table shows that this thread has ended.
 * Then it is the owner, even if no wait names it.
 */
static bool holder_has_ended(const struct why_evidence *evidence, const struct orphan *lock)
{
	return lock->holder && !(lock->holder & KTRX_HOLDER_CPU) &&
	       row_has_ended(why_thread_find(evidence, lock->holder - 1));
}

/*
 * Returns the certainty if neither the tables nor events show that the owner still holds the lock. If the row
 * of the owner exists, it would contain the lock like the locks in other rows, unless the kernel does not
 * report that this lock is taken.
 */
static enum finding_certainty certainty_of_named(const struct why_evidence *evidence,
						 const struct orphans *all, const struct orphan *lock)
{
	if (all->named && row_has_ended(why_thread_find(evidence, lock->owner - 1)))
		return FINDING_POSSIBLE;
	return named_after_end(evidence, lock) ? FINDING_LIKELY : FINDING_POSSIBLE;
}

static bool judge(const struct why_evidence *evidence, const struct orphans *all, struct orphan *lock)
{
	const uint64_t least = why_ms(evidence, LASTS_MS);

	lock->owner = last_owner(lock);
	if (!lock->owner && !lock->hold && holder_has_ended(evidence, lock))
		lock->owner = lock->holder;
	if (!lock->owner || (lock->holder && !is_kept(lock)) || !has_ended(evidence, lock) ||
	    why_age(evidence, lock->waiter->since) < least || why_age(evidence, lock->ended) < least)
		return false;
	if (lock->ended && (lock->hold || is_kept(lock)))
		lock->certain =
			lock->waiter->by_table || lock->waiter->tries ? FINDING_CERTAIN : FINDING_LIKELY;
	else if (all->full || has_all_lock_events(evidence, lock))
		return false;
	else
		lock->certain = certainty_of_named(evidence, all, lock);
	return true;
}

/* ---- Text of the finding ------------------------------------------------------------------------- */

static void say_waiters(const struct why_evidence *evidence, struct why_finding *finding,
			const struct orphan *lock)
{
	char who[WHY_WORDS], waits[FINDING_LINE];

	for (uint32_t n = 0; n < lock->waiters && n < SHOWN; n++) {
		const struct waiter *waiter = &lock->waiter[n];

		if (waiter->tries)
			why_say_tries(evidence, waiter->lock, &waiter->tries->same, waits, sizeof(waits));
		else
			why_say_waiting(evidence, KTRX_WAIT_LOCK, waiter->lock, waiter->since, waiter->pc,
					waits, sizeof(waits));
		finding_evidence(&finding->base, "%s %s",
				 why_say_actor(evidence, waiter->thread->id + 1, who, sizeof(who)), waits);
		finding_refer(&finding->base, waiter->since, waiter->thread->id + 1, waiter->lock);
	}
	if (lock->waiters > SHOWN)
		finding_evidence(&finding->base, "  and %" PRIu32 " more", lock->waiters - SHOWN);
}

/* Formats the owner's name. If a new thread has the owner's number, its name is not the owner's. */
static const char *name_owner(const struct why_evidence *evidence, const struct orphan *lock, char *buffer,
			      size_t size)
{
	if (lock->earlier)
		return why_say(buffer, size, "an earlier thread %" PRIu32, lock->owner - 1);
	return why_say_actor(evidence, lock->owner, buffer, size);
}

static void say_owner(const struct why_evidence *evidence, struct why_finding *finding,
		      const struct orphan *lock)
{
	char who[WHY_WORDS], since[WHY_WORDS], place[WHY_WORDS];

	name_owner(evidence, lock, who, sizeof(who));
	if (lock->hold)
		finding_evidence(&finding->base, "%s took it %s ago%s, and did not release it", who,
				 why_say_since(evidence, "", lock->hold->stamp, since, sizeof(since)),
				 why_say_called(evidence, ", at ", lock->hold->pc, place, sizeof(place)));
	if (lock->hold)
		finding_refer(&finding->base, lock->hold->stamp, lock->owner, lock->hold->lock);
	if (lock->ended)
		finding_evidence(&finding->base, "%s ended %s ago", who,
				 why_say_since(evidence, "", lock->ended, since, sizeof(since)));
	else
		finding_evidence(&finding->base, "the kernel's tables have no row for %s, so it has ended",
				 who);
	finding_refer(&finding->base, lock->ended, lock->owner, 0);
	if (lock->hold || is_kept(lock))
		return;
	if (named_after_end(evidence, lock))
		finding_evidence(&finding->base, "the kernel named it as the owner after its end, "
						 "and no holder of the lock is recorded");
	else
		finding_evidence(&finding->base, "no holder of the lock is recorded: "
						 "the lock was not released, or no waiter was woken");
}

static void add_actors(const struct why_evidence *evidence, struct why_finding *finding,
		       const struct orphan *lock)
{
	for (uint32_t n = 0; n < lock->waiters && n + 1 < WHY_ACTORS; n++)
		why_finding_actor(finding,
				  (struct why_actor){ .id = lock->waiter[n].thread->id + 1,
						      .waits = lock->waiter[n].lock,
						      .ticks = why_age(evidence, lock->waiter[n].since),
						      .pc = lock->waiter[n].pc });
	why_finding_actor(finding, (struct why_actor){ .id = lock->owner,
						       .holds = lock->waiter->lock,
						       .pc = lock->hold ? lock->hold->pc : 0 });
}

static bool records_all_locks(const struct why_evidence *evidence)
{
	return scheduling_covers(evidence->scheduling, WELLKNOWN_LOCK_ACQUIRE, evidence->first,
				 evidence->end) &&
	       scheduling_covers(evidence->scheduling, WELLKNOWN_LOCK_RELEASE, evidence->first,
				 evidence->end);
}

/* Returns advice on how to record whether the owner released the lock. */
static const char *say_wanted(const struct why_evidence *evidence)
{
	if (!records_all_locks(evidence))
		return "record lock.acquire and lock.release, which show whether the owner released the lock";
	if (!why_is_whole_since(evidence, evidence->first))
		return "use rings with more slots, because the events that show whether the owner released "
		       "the lock are lost";
	return "record sched.create, which shows whether the trace has all lock events of the owner";
}

static int found(const struct why_evidence *evidence, struct why_findings *findings,
		 const struct orphan *lock)
{
	struct why_finding *finding = why_finding_new(findings, WHY_DEAD_OWNER, lock->certain);
	char who[WHY_WORDS], what[WHY_WORDS], owner[WHY_WORDS];

	if (!finding)
		return KTREAD_E_MEMORY;
	finding_say(finding->base.what, "%s %s lock %s, whose %sowner, %s, has ended",
		    why_say_actor(evidence, lock->waiter->thread->id + 1, who, sizeof(who)),
		    lock->waiter->tries ? "tries to take" : "waits for",
		    why_say_object(evidence, lock->waiter->lock, what, sizeof(what)),
		    finding->base.certain == FINDING_POSSIBLE ? "last known " : "",
		    name_owner(evidence, lock, owner, sizeof(owner)));
	say_waiters(evidence, finding, lock);
	say_owner(evidence, finding, lock);
	add_actors(evidence, finding, lock);
	if (!lock->waiter->by_table && !lock->waiter->tries)
		finding_say(finding->base.advice,
			    "call the lock hooks of ktrace/hooks.h, because this was concluded from events");
	else if (finding->base.certain != FINDING_CERTAIN)
		finding_say(finding->base.advice, "%s", say_wanted(evidence));
	return 0;
}

/* Reports the most certain findings first, because at most MOST findings are reported. */
static int found_all(const struct why_evidence *evidence, struct why_findings *findings,
		     const struct orphans *all)
{
	uint32_t made = 0;
	int error = 0;

	for (int certain = FINDING_CERTAIN; certain >= FINDING_POSSIBLE; certain--)
		for (uint32_t n = 0; n < all->locks && made < MOST && !error; n++)
			if (all->lock[n].is_orphan && (int)all->lock[n].certain == certain) {
				error = found(evidence, findings, &all->lock[n]);
				made++;
			}
	return error;
}

int why_detect_dead_owner(const struct why_evidence *evidence, struct why_findings *findings)
{
	struct orphans all = { .waiter = calloc((size_t)evidence->threads + 1, sizeof(*all.waiter)),
			       .lock = calloc((size_t)evidence->threads + 1, sizeof(*all.lock)) };
	int error = all.waiter && all.lock ? 0 : KTREAD_E_MEMORY;

	if (!error && !why_waits_mean_nothing(evidence) && !evidence->left_out) {
		find_waiters(evidence, &all);
		find_holders(evidence, &all);
		for (uint32_t n = 0; n < all.locks; n++)
			all.lock[n].is_orphan = judge(evidence, &all, &all.lock[n]);
		error = found_all(evidence, findings, &all);
	}
	free(all.waiter);
	free(all.lock);
	return error;
}
