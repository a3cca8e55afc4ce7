/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tries of threads to take locks. A try begins a wait (lock.contend), or fails (lock.fail). Counts of tries
 * show that a thread never gets a lock even if the kernel's table shows no wait at the end, because the
 * thread gives up after each try.
 */
#ifndef WHY_TRIES_H
#define WHY_TRIES_H

#include "why/evidence.h"

struct why_reader;
struct wellknown;

/*
 * Updates the thread's counts of tries with an event about a lock: lock.contend, lock.fail or lock.acquire.
 * Must be called before the event changes the locks that are held.
 */
void why_tries_event(const struct why_reader *reader, struct why_thread *thread,
		     const struct ktread_event *event, const struct wellknown *known);
/* Forgets the thread's tries. */
void why_tries_forget(struct why_thread *thread);

/*
 * Returns the tries of the thread that failed because one thread held the lock all the time, if there were
 * many and the thread still tries. Returns NULL if there are none. `before` is the previous result for this
 * thread, or NULL for the first call.
 */
const struct why_tries *why_tries_next(const struct why_evidence *evidence, const struct why_thread *thread,
				       const struct why_tries *before);

/* Formats "tried 81 times in 4.00 s to take lock beta (0xb000) and never got it". */
const char *why_say_tries(const struct why_evidence *evidence, uint64_t lock,
			  const struct why_tries_count *count, char *buffer, size_t size);

/*
 * Returns whether the thread waits for a lock according to its row in the kernel's table, but was woken since
 * the wait began, and sleeps until its next try.
 */
bool why_sleeps_between_tries(const struct why_evidence *evidence, const struct ktrx_holder *row);

/*
 * Returns whether the wait has a timeout that may soon end it. If such a wait has lasted long while the
 * machine made progress, the result is false: the timeout is far away, or ends only a sleep between two
 * tries.
 */
bool why_wait_may_end(const struct why_evidence *evidence, const struct ktrx_holder *row);

#endif
