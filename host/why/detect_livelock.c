/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Livelock: the threads of a cycle try to take locks without waiting for them. The try of each thread fails
 * because the next thread of the cycle holds the lock; the last thread's try fails because of the first
 * thread. The events lock.fail and lock.acquire show that no thread got its lock between two tries.
 */
#include <inttypes.h>

#include "analyze/elapsed.h"
#include "why/finding.h"
#include "why/pulse.h"

#define TRIES	  16u
#define LASTS_MS  100u
#define RECENT_MS 250u
#define RING	  8u /* threads */

static bool tries_in_vain(const struct why_evidence *evidence, const struct why_thread *thread)
{
	const struct why_tries *tries = &thread->tries;

	return tries->count >= TRIES && tries->owner != UINT32_MAX && tries->owner != thread->id &&
	       elapsed(tries->first, tries->last) >= why_ms(evidence, LASTS_MS) &&
	       why_age(evidence, tries->last) <= why_ms(evidence, RECENT_MS);
}

/*
 * Finds a cycle of threads in which the next thread holds the lock that a thread tries to take. `first` must
 * have the lowest id in the cycle. Returns the number of threads, 0 if there is no cycle.
 */
static uint32_t follow(const struct why_evidence *evidence, const struct why_thread *first,
		       const struct why_thread *ring[RING])
{
	const struct why_thread *thread = first;
	uint32_t length = 0;

	while (thread && length < RING && tries_in_vain(evidence, thread) && thread->id >= first->id) {
		ring[length++] = thread;
		if (thread->tries.owner == first->id)
			return length;
		thread = why_thread_find(evidence, thread->tries.owner);
	}
	return 0;
}

static void say_thread(const struct why_evidence *evidence, const struct why_thread *thread,
		       struct why_finding *finding)
{
	const struct why_tries *tries = &thread->tries;
	char actor[WHY_WORDS], owner[WHY_WORDS], lock[WHY_WORDS], ticks[WHY_WORDS], place[WHY_WORDS];

	finding_evidence(&finding->base, "%s tried %" PRIu64 " times in %s to take lock %s and never got it",
			 why_say_actor(evidence, thread->id + 1, actor, sizeof(actor)), tries->count,
			 why_say_ticks(evidence, elapsed(tries->first, tries->last), ticks, sizeof(ticks)),
			 why_say_object(evidence, tries->lock, lock, sizeof(lock)));
	if (tries->pc)
		finding_evidence(&finding->base, "  at %s",
				 why_say_call(evidence, tries->pc, place, sizeof(place)));
	finding_evidence(&finding->base, "  at the last try it was held by %s",
			 why_say_actor(evidence, tries->owner + 1, owner, sizeof(owner)));
}

static int found(const struct why_evidence *evidence, struct why_findings *findings,
		 const struct why_thread *const ring[RING], uint32_t length)
{
	const struct ktread_type *acquire = ktread_type_find(evidence->trace, "lock", "acquire");
	const struct ktread_type *had = ktread_type_find(evidence->trace, "lock", "try");
	const bool is_recorded =
		acquire && acquire->state & KTRX_STATE_RECORD && (!had || had->state & KTRX_STATE_RECORD);
	struct why_finding *finding =
		why_finding_new(findings, WHY_LIVELOCK, is_recorded ? FINDING_CERTAIN : FINDING_LIKELY);
	char one[WHY_WORDS], other[WHY_WORDS];

	if (!finding)
		return KTREAD_E_MEMORY;
	finding_say(finding->base.what,
		    "%s and %s keep each other from taking a lock: each gives way and tries again",
		    why_say_actor(evidence, ring[0]->id + 1, one, sizeof(one)),
		    why_say_actor(evidence, ring[length - 1]->id + 1, other, sizeof(other)));
	for (uint32_t n = 0; n < length; n++) {
		say_thread(evidence, ring[n], finding);
		why_finding_actor(
			finding,
			(struct why_actor){ .id = ring[n]->id + 1,
					    .waits = ring[n]->tries.lock,
					    .holds = ring[(n + length - 1) % length]->tries.lock,
					    .ticks = elapsed(ring[n]->tries.first, ring[n]->tries.last),
					    .pc = ring[n]->tries.pc });
	}
	if (!is_recorded)
		finding_say(finding->base.advice,
			    "switch on lock.acquire and lock.try, which show whether a try succeeded");
	return 0;
}

int why_detect_livelock(const struct why_evidence *evidence, struct why_findings *findings)
{
	const struct why_thread *ring[RING];
	int error = 0;

	for (uint32_t n = 0; n < evidence->threads && !error && evidence->info->frequency; n++) {
		uint32_t length = follow(evidence, &evidence->thread[n], ring);

		if (length > 1)
			error = found(evidence, findings, ring, length);
	}
	return error;
}
