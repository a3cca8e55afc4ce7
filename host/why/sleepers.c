/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "why/sleepers.h"

#include <inttypes.h>

#include "why/pulse.h"

#define SHOWN	4u    /* maximum number of late sleepers that are listed */
#define BEATS	25u   /* minimum number of ticks that the CPU with the newest tick has had */
#define LONG_MS 2000u /* minimum time in ms by which a sleep is late that shows that a CPU has stopped */

const struct why_cpu *why_newest_tick(const struct why_evidence *evidence)
{
	const struct why_cpu *cpu = NULL;

	for (uint32_t n = 0; n < evidence->cpus; n++)
		if (evidence->cpu[n].row.heartbeats &&
		    (!cpu || evidence->cpu[n].row.heartbeat_stamp > cpu->row.heartbeat_stamp))
			cpu = &evidence->cpu[n];
	return cpu && cpu->row.heartbeats >= BEATS ? cpu : NULL;
}

/*
 * Returns the CPU whose ticks end sleeps on this CPU. In some kernels, one CPU counts the ticks for all: if
 * this CPU never had a tick, and that CPU has stopped, returns that CPU.
 */
static const struct why_cpu *ticks_for(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	const struct why_cpu *newest = cpu->row.heartbeats ? NULL : why_newest_tick(evidence);

	return newest && why_has_stopped(evidence, newest) ? newest : cpu;
}

bool why_sleeps_late(const struct why_evidence *evidence, const struct why_cpu *cpu,
		     const struct why_thread *thread)
{
	const struct ktrx_holder *holder = &thread->holder;

	return thread->has_holder && holder->state == KTRX_THREAD_WAITING && holder->cpu < evidence->cpus &&
	       ticks_for(evidence, &evidence->cpu[holder->cpu]) == cpu && holder->deadline &&
	       why_age(evidence, holder->deadline) > why_ms(evidence, WHY_LATE_MS);
}

/*
 * Returns whether the deadline of the thread's sleep passed LONG_MS before the machine stopped recording. A
 * deadline before the beginning of the sleep is not valid: the kernel passes it in the wrong units.
 */
static bool is_long_late(const struct why_evidence *evidence, const struct why_thread *thread)
{
	const struct ktrx_holder *row = &thread->holder;

	return !thread->idle && row->deadline > row->state_stamp && row->deadline > row->wait_stamp &&
	       evidence->alive >= row->deadline &&
	       evidence->alive - row->deadline >= why_ms(evidence, LONG_MS);
}

bool why_sleepers_show_stop(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	bool found = false;

	for (uint32_t n = 0; n < evidence->threads; n++) {
		const struct why_thread *thread = &evidence->thread[n];
		const struct ktrx_holder *row = &thread->holder;

		if (!thread->has_holder || row->state != KTRX_THREAD_WAITING || row->cpu >= evidence->cpus ||
		    !is_long_late(evidence, thread))
			continue;
		if (why_sleeps_late(evidence, cpu, thread))
			found = true;
		else if (!why_has_stopped(evidence, ticks_for(evidence, &evidence->cpu[row->cpu])))
			return false;
	}
	return found;
}

void why_finding_sleepers(struct why_finding *finding, const struct why_evidence *evidence,
			  const struct why_cpu *cpu)
{
	char actor[WHY_WORDS], ticks[WHY_WORDS], place[WHY_WORDS], where[WHY_WORDS];
	uint32_t shown = 0;

	for (uint32_t n = 0; n < evidence->threads; n++) {
		const struct why_thread *thread = &evidence->thread[n];

		if (!why_sleeps_late(evidence, cpu, thread))
			continue;
		why_finding_actor(finding,
				  (struct why_actor){ .id = thread->id + 1,
						      .waits = thread->holder.object,
						      .ticks = why_age(evidence, thread->holder.deadline),
						      .pc = thread->holder.wait_pc });
		if (shown++ == SHOWN)
			break;
		if (thread->holder.cpu != cpu->number)
			why_say(where, sizeof(where), "on CPU %u", thread->holder.cpu);
		finding_evidence(&finding->base, "%s, which sleeps %s at %s, should have been woken %s ago",
				 why_say_actor(evidence, thread->id + 1, actor, sizeof(actor)),
				 thread->holder.cpu == cpu->number ? "there" : where,
				 why_say_call(evidence, thread->holder.wait_pc, place, sizeof(place)),
				 why_say_ticks(evidence, why_age(evidence, thread->holder.deadline), ticks,
					       sizeof(ticks)));
	}
}
