/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The threads that used the CPUs most, as lines of a finding. */
#include <inttypes.h>
#include <stdio.h>

#include "why/finding.h"
#include "why/pulse.h"

#define USERS	   3u  /* maximum number of threads that a finding lists */
#define SMALL_PART 10u /* a thread is listed if it ran for at least 1/SMALL_PART of the time window */
/* time in ms: a thread usually records an event within this time, unless it only computes */
#define CALM_MS 2000u

/*
 * Adds a line if the thread ran for a large part of the time window but has recorded no event for long: such
 * a thread may make no progress.
 */
static void say_no_events(const struct why_evidence *evidence, struct why_finding *finding,
			  const struct why_thread *thread)
{
	const uint64_t known[] = { thread->last_own_event, thread->slept_until, thread->first, evidence->gap,
				   evidence->first };
	char who[WHY_WORDS], ticks[WHY_WORDS];
	uint64_t since = 0;

	for (size_t n = 0; n < sizeof(known) / sizeof(known[0]); n++)
		if (known[n] > since)
			/*
			 * if no event mentions the thread, thread->first is UINT64_MAX, so `since` is later
			 * than any timestamp, and no line is added
			 */
			since = known[n];
	if (thread->ran < evidence->window / 2 || why_ms(evidence, CALM_MS) == 0 ||
	    why_age(evidence, since) < why_ms(evidence, CALM_MS))
		return;
	finding_evidence(&finding->base, "%s has recorded no event of its own for %s: it computes or spins",
			 why_say_actor(evidence, thread->id + 1, who, sizeof(who)),
			 why_say_ticks(evidence, why_age(evidence, since), ticks, sizeof(ticks)));
}

void why_finding_users(struct why_finding *finding, const struct why_evidence *evidence)
{
	const struct why_thread *most[USERS] = { NULL };
	char line[FINDING_LINE] = "", who[WHY_WORDS];
	size_t length = 0;

	for (uint32_t n = 0; n < evidence->threads; n++) {
		const struct why_thread *thread = &evidence->thread[n];

		if (thread->idle || thread->ran == 0 || thread->ran < evidence->window / SMALL_PART)
			continue;
		for (uint32_t at = 0; at < USERS && thread; at++)
			if (!most[at] || most[at]->ran < thread->ran) {
				const struct why_thread *less = most[at];

				most[at] = thread;
				thread = less;
			}
	}
	for (uint32_t n = 0; n < USERS && most[n] && length < sizeof(line); n++)
		length += (size_t)snprintf(line + length, sizeof(line) - length, "%s%s %u %%", n ? ", " : "",
					   why_say_actor(evidence, most[n]->id + 1, who, sizeof(who)),
					   (unsigned)(100 * most[n]->ran / evidence->window));
	if (most[0])
		finding_evidence(&finding->base, "most CPU time: %s", line);
	for (uint32_t n = 0; n < USERS && most[n]; n++)
		say_no_events(evidence, finding, most[n]);
}
