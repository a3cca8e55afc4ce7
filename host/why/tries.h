/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Counts the attempts of threads to take locks. An attempt is recorded as the beginning of a wait
 * (lock.contend) or as a failure (lock.fail). A thread that gives up after each attempt may have no wait in
 * the kernel's table at the end. The counts then show that it never gets the lock.
 */
#ifndef WHY_TRIES_H
#define WHY_TRIES_H

#include "why/evidence.h"

struct why_reader;
struct wellknown;

/*
 * Updates the thread's counts of attempts with an event about a lock: lock.contend, lock.fail or
 * lock.acquire. Requires: the event has not changed the evidence about held locks yet.
 */
void why_tries_event(const struct why_reader *reader, struct why_thread *thread,
		     const struct ktread_event *event, const struct wellknown *known);
/* Removes the counts of the thread's attempts to take locks. */
void why_tries_forget(struct why_thread *thread);

/*
 * Returns the thread's attempts to take one lock, if there are many and the thread still tries. The count
 * restarts when an event shows that the lock was taken or released. A thread may have tried to take several
 * locks: each call returns the attempts for the next lock, and NULL after the last one. `before` is the
 * previous result for this thread, or NULL in the first call.
 */
const struct why_tries *why_tries_next(const struct why_evidence *evidence, const struct why_thread *thread,
				       const struct why_tries *before);

/* Formats "tried 81 times in 4.00 s to take lock beta (0xb000) and never got it". */
const char *why_say_tries(const struct why_evidence *evidence, uint64_t lock,
			  const struct why_tries_count *count, char *buffer, size_t size);

/*
 * Returns whether the thread waits for a lock according to its row in the kernel's table, but was woken after
 * the wait began, and sleeps until its next attempt.
 */
bool why_sleeps_between_tries(const struct why_evidence *evidence, const struct ktrx_holder *row);

/*
 * Returns whether the wait has a timeout that may soon end it. Returns false if such a wait has lasted long
 * while the machine made progress: in this case, the timeout is far away, or ends only a sleep between two
 * attempts.
 */
bool why_wait_may_end(const struct why_evidence *evidence, const struct ktrx_holder *row);

#endif
