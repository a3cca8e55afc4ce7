/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Threads that sleep until a time that has long been over. A kernel that counts ticks has a clock that runs
 * slow where ticks are lost, as they are on a virtual CPU that has to wait for its host: all its sleeps are
 * then longer, by a part of what they should take. So a sleep is late only if it is so by many times that.
 */
#include <inttypes.h>

#include "why/detectors.h"
#include "why/pulse.h"

#define MOST	   8u /* findings */
#define LONG_MS	   2000u
#define TIMES_SLOW 8u /* the time that the sleep should take */

/*
 * Since when the time is over until which it sleeps at the latest, as its kernel told, where its CPU has
 * taken ticks after that; 0: it is not, or not far enough. A time that lies before the sleep is none: the
 * kernel counts it in other units.
 */
static uint64_t past_since(const struct why_evidence *evidence, const struct why_thread *thread)
{
	const struct ktrx_holder *row = &thread->holder;
	const uint64_t late = why_ms(evidence, LONG_MS);
	const uint64_t begin = row->state_stamp > row->wait_stamp ? row->state_stamp : row->wait_stamp;

	if (!thread->has_holder || row->state != KTRX_THREAD_WAITING || thread->idle ||
	    row->cpu >= evidence->cpus || row->deadline <= begin || evidence->alive < row->deadline ||
	    evidence->alive - row->deadline < late)
		return 0;
	if ((evidence->alive - row->deadline) / TIMES_SLOW < row->deadline - begin)
		return 0;
	return evidence->cpu[row->cpu].row.heartbeat_stamp >= row->deadline + late / 2 ? row->deadline : 0;
}

static int found_past(const struct why_evidence *evidence, struct why_findings *findings,
		      const struct why_thread *thread, uint64_t since)
{
	struct why_finding *finding = why_finding_new(findings, WHY_OVERDUE, FINDING_LIKELY);
	const struct why_cpu *cpu = &evidence->cpu[thread->holder.cpu];
	char who[WHY_WORDS], ticks[WHY_WORDS], place[WHY_WORDS];

	if (!finding)
		return KTREAD_E_MEMORY;
	finding_say(finding->base.what, "%s sleeps until a time that was over %s ago%s",
		    why_say_actor(evidence, thread->id + 1, who, sizeof(who)),
		    why_say_ticks(evidence, why_age(evidence, since), ticks, sizeof(ticks)),
		    why_say_called(evidence, ", in ", thread->holder.wait_pc, place, sizeof(place)));
	finding_evidence(&finding->base, "CPU %" PRIu32 ", where it ran last, has ticks: %s", cpu->number,
			 why_say_beat(evidence, cpu, ticks, sizeof(ticks)));
	why_finding_actor(finding, (struct why_actor){ .id = thread->id + 1,
						       .waits = thread->holder.object,
						       .ticks = why_age(evidence, since),
						       .pc = thread->holder.wait_pc });
	return 0;
}

int why_detect_late_sleep(const struct why_evidence *evidence, struct why_findings *findings)
{
	uint32_t count = 0;
	int error = 0;

	if (why_waits_mean_nothing(evidence))
		return 0;
	for (uint32_t n = 0; n < evidence->threads && count < MOST && !error; n++) {
		const uint64_t since = past_since(evidence, &evidence->thread[n]);

		if (since == 0)
			continue;
		count++;
		error = found_past(evidence, findings, &evidence->thread[n], since);
	}
	return error;
}
