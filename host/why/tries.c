/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "why/tries.h"

#include <inttypes.h>
#include <string.h>

#include "analyze/keyed.h"
#include "ktrx/slot.h"
#include "why/evidence_state.h"
#include "why/finding.h"
#include "why/pulse.h"

#define MANY	  8u	/* minimum number of attempts that are reported */
#define LASTS_MS  2000u /* minimum time in ms from the first attempt to the last one */
#define RECENT_MS 250u	/* time in ms: a thread whose last attempt was at most this long ago still tries */
/*
 * time in ms after which a wait with a timeout counts as a wait that may never end. RETRY_MS is used if the
 * thread sleeps between two attempts. TIMEOUT_MS is used if the wait itself has a timeout.
 */
#define RETRY_MS   2000u
#define TIMEOUT_MS 5000u
#define APART_MS   10u /* time in ms: timestamps that are closer than this may be of one moment */
/*
 * a thread still tries to take the lock if, since its last attempt, at most this many times the mean interval
 * between its attempts has passed
 */
#define INTERVALS 4u

/*
 * Returns the thread's record of attempts to take the lock. If there is none, reuses the record with the
 * oldest attempts.
 */
static struct why_tries *touch(struct why_thread *thread, uint64_t lock)
{
	struct why_tries *oldest = &thread->tries[0];

	for (uint32_t n = 0; n < WHY_TRIED; n++) {
		if (thread->tries[n].lock == lock && thread->tries[n].all.count)
			return &thread->tries[n];
		if (thread->tries[n].all.last < oldest->all.last)
			oldest = &thread->tries[n];
	}
	*oldest = (struct why_tries){ .lock = lock, .owner = UINT32_MAX };
	return oldest;
}

static void count(struct why_tries_count *tries, uint64_t stamp, bool more)
{
	if (tries->count == 0)
		tries->first = stamp;
	tries->count += more;
	tries->last = stamp;
}

/*
 * Sets the owner that the lock had at this attempt, from this event or from earlier events. If earlier events
 * show that the lock was taken or released after the last attempt, restarts the count of attempts in a row.
 */
static void note_owner(const struct why_reader *reader, struct why_tries *tries,
		       const struct ktread_event *event, const struct wellknown *known)
{
	const uint64_t key[KEYED_WORDS] = { tries->lock };
	const struct keyed_entry *hold = keyed_find(&reader->holds, key);
	const uint64_t taken = hold ? hold->stamp : 0;
	struct ktread_value kind;
	uint64_t owner;

	if (taken != tries->taken)
		tries->same = (struct why_tries_count){ 0 };
	tries->taken = taken;
	tries->owner = hold ? hold->thread : UINT32_MAX;
	if (!wellknown_number(known, event, WELLKNOWN_OWNER, &owner))
		return;
	if (ktread_value_named(event, "kind", &kind) != 0 || kind.length != 3 ||
	    memcmp(kind.string, "CPU", 3) != 0)
		tries->owner = (uint32_t)owner;
}

/*
 * Counts an attempt. If an attempt is recorded twice, as the beginning of a wait and as a failure, only the
 * event that came first is counted.
 */
static void tried(const struct why_reader *reader, struct why_thread *thread,
		  const struct ktread_event *event, const struct wellknown *known, uint64_t lock)
{
	struct why_tries *tries = touch(thread, lock);
	const bool fails = known->kind == WELLKNOWN_LOCK_FAIL;

	if (tries->all.count == 0)
		tries->fails = fails;
	note_owner(reader, tries, event, known);
	count(&tries->all, event->stamp, tries->fails == fails);
	count(&tries->same, event->stamp, tries->fails == fails);
	if (!wellknown_number(known, event, WELLKNOWN_PLACE, &tries->pc))
		tries->pc = 0;
}

void why_tries_event(const struct why_reader *reader, struct why_thread *thread,
		     const struct ktread_event *event, const struct wellknown *known)
{
	uint64_t lock;

	if (!wellknown_number(known, event, WELLKNOWN_OBJECT, &lock))
		return;
	if (known->kind == WELLKNOWN_LOCK_ACQUIRE) {
		for (uint32_t n = 0; n < WHY_TRIED; n++)
			if (thread->tries[n].lock == lock)
				thread->tries[n] = (struct why_tries){ 0 };
	} else if (event->context == KTRX_CONTEXT_THREAD &&
		   (known->kind == WELLKNOWN_LOCK_CONTEND || known->kind == WELLKNOWN_LOCK_FAIL)) {
		tried(reader, thread, event, known, lock);
	}
}

void why_tries_forget(struct why_thread *thread)
{
	memset(thread->tries, 0, sizeof(thread->tries));
}

static bool still_tries(const struct why_evidence *evidence, const struct why_tries_count *tries)
{
	const uint64_t age = why_age(evidence, tries->last);

	return age <= why_ms(evidence, RECENT_MS) ||
	       age <= INTERVALS * (elapsed(tries->first, tries->last) / (tries->count - 1));
}

const struct why_tries *why_tries_next(const struct why_evidence *evidence, const struct why_thread *thread,
				       const struct why_tries *before)
{
	const struct why_tries *tries = before ? before + 1 : &thread->tries[0];
	const uint64_t least = why_ms(evidence, LASTS_MS);

	for (; tries < &thread->tries[WHY_TRIED]; tries++)
		if (least && tries->same.count >= MANY &&
		    elapsed(tries->same.first, tries->same.last) >= least &&
		    still_tries(evidence, &tries->same))
			return tries;
	return NULL;
}

const char *why_say_tries(const struct why_evidence *evidence, uint64_t lock,
			  const struct why_tries_count *count, char *buffer, size_t size)
{
	char ticks[WHY_WORDS], what[WHY_WORDS];

	return why_say(buffer, size, "tried %" PRIu64 " times in %s to take lock %s and never got it",
		       count->count,
		       why_say_ticks(evidence, elapsed(count->first, count->last), ticks, sizeof(ticks)),
		       why_say_object(evidence, lock, what, sizeof(what)));
}

bool why_sleeps_between_tries(const struct why_evidence *evidence, const struct ktrx_holder *row)
{
	return row->wait == KTRX_WAIT_LOCK && row->state == KTRX_THREAD_WAITING && row->deadline &&
	       row->wait_stamp && row->state_stamp > row->wait_stamp &&
	       row->state_stamp - row->wait_stamp > why_ms(evidence, APART_MS);
}

bool why_wait_may_end(const struct why_evidence *evidence, const struct ktrx_holder *row)
{
	const uint64_t least =
		why_ms(evidence, why_sleeps_between_tries(evidence, row) ? RETRY_MS : TIMEOUT_MS);

	return row->deadline && (least == 0 || row->wait_stamp == 0 || row->wait_stamp > evidence->alive ||
				 evidence->alive - row->wait_stamp < least);
}
