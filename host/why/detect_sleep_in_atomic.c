/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Sleep in atomic context: a CPU has switched threads while it held a spinlock, had preemption off or was in an
 * interrupt. The hooks note the first time that it happened there.
 */
#include <inttypes.h>

#include "why/detectors.h"
#include "why/pulse.h"

static const char *say_state(const struct why_evidence *evidence, const struct ktrx_cpu *row, char *buffer,
			     size_t size)
{
	char lock[WHY_WORDS];

	if (row->broken == KTRX_BROKEN_SWITCH_PREEMPT)
		return why_say(buffer, size, "with preemption off");
	if (row->broken == KTRX_BROKEN_SWITCH_INTERRUPT)
		return why_say(buffer, size, "inside an interrupt");
	return why_say(buffer, size, "holding the spinlock %s",
		       why_say_object(evidence, row->broken_object, lock, sizeof(lock)));
}

static bool has_or_wants(const struct ktrx_holder *holder, uint64_t lock)
{
	return why_holds_lock(holder, lock) || (holder->wait == KTRX_WAIT_SPIN && holder->object == lock);
}

/* Do CPUs have or want it now? */
static bool is_in_use(const struct why_evidence *evidence, uint64_t lock)
{
	for (uint32_t n = 0; lock && n < evidence->cpus; n++)
		if (evidence->cpu[n].has_holder && has_or_wants(&evidence->cpu[n].holder, lock))
			return true;
	return false;
}

static bool anybody_stopped(const struct why_evidence *evidence)
{
	for (uint32_t n = 0; n < evidence->cpus; n++)
		if (why_has_stopped(evidence, &evidence->cpu[n]))
			return true;
	return false;
}

static void say_waiters(const struct why_evidence *evidence, uint64_t lock, struct why_finding *finding)
{
	char cpu[WHY_WORDS], thread[WHY_WORDS], place[WHY_WORDS], ticks[WHY_WORDS];

	for (uint32_t n = 0; n < evidence->cpus; n++) {
		const struct why_cpu *at = &evidence->cpu[n];

		if (!at->has_holder || at->holder.wait != KTRX_WAIT_SPIN || at->holder.object != lock)
			continue;
		why_finding_line(finding, "%s, on %s, spins for that lock for %s, in %s",
				 why_say_running(evidence, at, thread, sizeof(thread)),
				 why_say_actor(evidence, KTRX_HOLDER_CPU | n, cpu, sizeof(cpu)),
				 why_say_ticks(evidence, why_age(evidence, at->holder.wait_stamp), ticks,
					       sizeof(ticks)),
				 why_say_call(evidence, at->holder.wait_pc, place, sizeof(place)));
		why_finding_actor(finding,
				  (struct why_actor){ .id = KTRX_HOLDER_CPU | n,
						      .waits = lock,
						      .ticks = why_age(evidence, at->holder.wait_stamp),
						      .pc = at->holder.wait_pc });
	}
}

static int found(const struct why_evidence *evidence, struct why_findings *findings,
		 const struct why_cpu *cpu)
{
	const struct ktrx_cpu *row = &cpu->row;
	const bool explains = is_in_use(evidence, row->broken_object) || !anybody_stopped(evidence);
	struct why_finding *finding =
		why_finding_new(findings, WHY_SLEEP_IN_ATOMIC, explains ? WHY_CERTAIN : WHY_POSSIBLE);
	char actor[WHY_WORDS], place[WHY_WORDS], ticks[WHY_WORDS], state[WHY_WORDS * 2];

	if (!finding)
		return KTREAD_E_MEMORY;
	why_finding_head(finding, "%s went to sleep on CPU %" PRIu32 " %s",
			 why_say_actor(evidence, row->broken_thread + 1, actor, sizeof(actor)), cpu->number,
			 say_state(evidence, row, state, sizeof(state)));
	why_finding_actor(finding, (struct why_actor){ .id = row->broken_thread + 1,
						       .holds = row->broken_object,
						       .pc = row->broken_pc });
	why_finding_line(finding, "it did so about %s before the end, in %s",
			 why_say_ticks(evidence, why_age(evidence, row->broken_stamp), ticks, sizeof(ticks)),
			 why_say_call(evidence, row->broken_pc, place, sizeof(place)));
	for (uint32_t n = 0; n < KTRX_HELD && cpu->has_holder; n++)
		if (row->broken_object && cpu->holder.held[n].object == row->broken_object)
			why_finding_line(
				finding, "CPU %" PRIu32 " has that lock still, taken in %s", cpu->number,
				why_say_call(evidence, cpu->holder.held[n].pc, place, sizeof(place)));
	if (row->broken_object)
		say_waiters(evidence, row->broken_object, finding);
	return 0;
}

int why_detect_sleep_in_atomic(const struct why_evidence *evidence, struct why_findings *findings)
{
	int error = 0;

	for (uint32_t n = 0; n < evidence->cpus && !error; n++) {
		const uint32_t broken = evidence->cpu[n].row.broken;

		if (broken == KTRX_BROKEN_SWITCH_LOCKED || broken == KTRX_BROKEN_SWITCH_PREEMPT ||
		    broken == KTRX_BROKEN_SWITCH_INTERRUPT)
			error = found(evidence, findings, &evidence->cpu[n]);
	}
	return error;
}
