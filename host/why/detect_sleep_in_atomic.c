/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Sleep in atomic context: a CPU switched threads while it held a spinlock, had preemption disabled or was in
 * an interrupt handler. The hooks record the first context switch of this kind on each CPU.
 */
#include <inttypes.h>

#include "why/finding.h"
#include "why/pulse.h"

#define STALE_MS 100u /* time in ms: the maximum by which a timestamp in the kernel's tables is too early */
/* time in ms: a CPU that switched threads later than this after the recorded context switch is not stuck */
#define LONG_MS 1000u
/* time in ms: a thread that ended at most this long after the recorded context switch did not run again */
#define LAST_MS 1u

static const char *say_state(const struct why_evidence *evidence, const struct ktrx_cpu *row, char *buffer,
			     size_t size)
{
	char lock[WHY_WORDS];

	if (row->broken == KTRX_BROKEN_SWITCH_PREEMPT)
		return why_say(buffer, size, "with preemption disabled");
	if (row->broken == KTRX_BROKEN_SWITCH_INTERRUPT)
		return why_say(buffer, size, "inside an interrupt handler");
	return why_say(buffer, size, "while it held spinlock %s",
		       why_say_object(evidence, row->broken_object, lock, sizeof(lock)));
}

static bool holds_or_spins_for(const struct ktrx_holder *holder, uint64_t lock)
{
	return why_holds_lock(holder, lock) || (holder->wait == KTRX_WAIT_SPIN && holder->object == lock);
}

/* Returns whether a CPU holds the lock or spins for it now. */
static bool is_in_use(const struct why_evidence *evidence, uint64_t lock)
{
	for (uint32_t n = 0; lock && n < evidence->cpus; n++)
		if (evidence->cpu[n].has_holder && holds_or_spins_for(&evidence->cpu[n].holder, lock))
			return true;
	return false;
}

static bool any_cpu_stopped(const struct why_evidence *evidence)
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
		finding_evidence(&finding->base, "%s on %s has spun %s for that lock, at %s",
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

static void say_holder(const struct why_evidence *evidence, const struct why_cpu *cpu,
		       struct why_finding *finding)
{
	char place[WHY_WORDS];

	for (uint32_t n = 0; n < KTRX_HELD; n++)
		if (cpu->holder.held[n].object == cpu->row.broken_object)
			finding_evidence(
				&finding->base, "CPU %" PRIu32 " still holds that lock, taken at %s",
				cpu->number,
				why_say_call(evidence, cpu->holder.held[n].pc, place, sizeof(place)));
}

/*
 * Returns the timestamp at which the CPU took the lock; 0 if the CPU's row in the kernel's table does not
 * name the lock.
 */
static uint64_t held_since(const struct why_cpu *cpu, uint64_t lock)
{
	for (uint32_t n = 0; n < KTRX_HELD && cpu->has_holder; n++)
		if (lock && cpu->holder.held[n].object == lock)
			return cpu->holder.held[n].stamp;
	return 0;
}

/*
 * Returns whether the CPU has taken the lock again since the recorded context switch. If so, the lock was
 * released after that switch, and the same code may have slept again while it held the lock.
 */
static bool was_taken_again(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	return held_since(cpu, cpu->row.broken_object) > cpu->row.broken_stamp + why_ms(evidence, STALE_MS);
}

/*
 * Returns whether events show that another CPU took a lock at that address after that time, and released
 * it.
 */
static bool was_held_elsewhere(const struct why_evidence *evidence, const struct why_cpu *cpu, uint64_t later)
{
	const uint64_t key[KEYED_WORDS] = { cpu->row.broken_object };
	const struct keyed_entry *lasted = keyed_find(&evidence->lasted, key);

	return lasted && lasted->cpu != cpu->number && lasted->time > later;
}

/*
 * Returns whether another CPU or a thread holds a lock at that address, or has held one since the CPU took
 * the lock. If so, the lock was released after the recorded context switch, or its memory is used for a new
 * lock. In these two cases, the recorded switch is not the reason why threads wait for the lock.
 */
static bool has_other_holder(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	const uint64_t lock = cpu->row.broken_object, since = held_since(cpu, lock);
	const uint64_t later = (since ? since : cpu->row.broken_stamp) + why_ms(evidence, STALE_MS);

	for (uint32_t n = 0; n < evidence->cpus; n++)
		if (n != cpu->number && evidence->cpu[n].has_holder &&
		    why_holds_lock(&evidence->cpu[n].holder, lock))
			return true;
	for (uint32_t n = 0; n < evidence->threads; n++)
		if (evidence->thread[n].has_holder && why_holds_lock(&evidence->thread[n].holder, lock))
			return true;
	for (uint32_t n = 0; n < evidence->holds; n++)
		if (evidence->hold[n].lock == lock && evidence->hold[n].stamp > later &&
		    evidence->hold[n].cpu != cpu->number)
			return true;
	return was_held_elsewhere(evidence, cpu, later);
}

static bool is_waited_for(const struct why_evidence *evidence, uint64_t lock)
{
	for (uint32_t n = 0; lock && n < evidence->cpus; n++) {
		const struct why_cpu *cpu = &evidence->cpu[n];

		if (cpu->has_holder && cpu->holder.wait == KTRX_WAIT_SPIN && cpu->holder.object == lock &&
		    why_age(evidence, cpu->holder.wait_stamp) >= why_ms(evidence, WHY_STOPPED_MS))
			return true;
	}
	return false;
}

/*
 * Returns whether the CPU continued to switch threads for long after the recorded context switch, although
 * its row in the kernel's table still shows the same atomic state. If so, the kernel probably does not call
 * the hook that ends this state.
 */
static bool ran_on(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	const struct ktrx_cpu *row = &cpu->row;
	const bool is_so_still = row->broken == KTRX_BROKEN_SWITCH_PREEMPT ? row->preempt != 0
				 : row->broken == KTRX_BROKEN_SWITCH_LOCKED
					 ? held_since(cpu, row->broken_object) != 0
					 : row->nesting != 0;

	return is_so_still && row->switch_stamp > row->broken_stamp + why_ms(evidence, LONG_MS);
}

/*
 * Returns how certain the finding is. The finding is certain only if the CPU still holds the lock that was
 * held at the recorded context switch, and other CPUs now wait for it.
 */
static enum finding_certainty how_certain(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	const uint64_t lock = cpu->row.broken_object;

	if (lock && has_other_holder(evidence, cpu))
		return FINDING_POSSIBLE;
	if (is_waited_for(evidence, lock))
		return was_taken_again(evidence, cpu) || (cpu->has_holder && held_since(cpu, lock) == 0)
			       ? FINDING_LIKELY
			       : FINDING_CERTAIN;
	if (ran_on(evidence, cpu) || (!is_in_use(evidence, lock) && any_cpu_stopped(evidence)))
		return FINDING_POSSIBLE;
	return FINDING_LIKELY;
}

/*
 * Returns what the thread did at the recorded context switch. The thread slept if it still waits, or if its
 * last wait was at the place of the switch. If events show that the thread ended, and did not run after that
 * switch, this was its last switch. Otherwise, the thread may have been preempted.
 */
static const char *say_left(const struct why_evidence *evidence, const struct ktrx_cpu *row)
{
	const struct why_thread *thread = why_thread_find(evidence, row->broken_thread);

	if (thread && thread->state == THREADS_DEAD &&
	    thread->since <= row->broken_stamp + why_ms(evidence, LAST_MS))
		return "ended on";
	return thread && thread->has_holder &&
			       (thread->holder.state == KTRX_THREAD_WAITING ||
				(row->broken_pc && thread->holder.wait_pc == row->broken_pc))
		       ? "went to sleep on"
		       : "was switched out on";
}

static int found(const struct why_evidence *evidence, struct why_findings *findings,
		 const struct why_cpu *cpu)
{
	const struct ktrx_cpu *row = &cpu->row;
	const enum finding_certainty certain = how_certain(evidence, cpu);
	struct why_finding *finding = why_finding_new(findings, WHY_SLEEP_IN_ATOMIC, certain);
	const uint64_t since = held_since(cpu, row->broken_object);
	char actor[WHY_WORDS], place[WHY_WORDS], ticks[WHY_WORDS], state[WHY_WORDS * 2];

	if (!finding)
		return KTREAD_E_MEMORY;
	/* no thread waits for preemption to be enabled, and some kernels allow this */
	finding->aside = row->broken == KTRX_BROKEN_SWITCH_PREEMPT;
	finding_say(finding->base.what, "%s %s CPU %" PRIu32 " %s",
		    why_say_actor(evidence, row->broken_thread + 1, actor, sizeof(actor)),
		    say_left(evidence, row), cpu->number, say_state(evidence, row, state, sizeof(state)));
	why_finding_actor(finding, (struct why_actor){ .id = row->broken_thread + 1,
						       .holds = row->broken_object,
						       .pc = row->broken_pc });
	finding_evidence(&finding->base, "this was about %s ago, at %s",
			 why_say_ticks(evidence, why_age(evidence, row->broken_stamp), ticks, sizeof(ticks)),
			 why_say_call(evidence, row->broken_pc, place, sizeof(place)));
	if (row->broken_object && has_other_holder(evidence, cpu))
		finding_evidence(&finding->base, "a lock at that address has been taken since: "
						 "the first was released, or its memory was reused");
	else if (was_taken_again(evidence, cpu))
		finding_evidence(&finding->base,
				 "CPU %" PRIu32 " has taken that lock again since, and still holds it",
				 cpu->number);
	else if (since)
		say_holder(evidence, cpu, finding);
	if (certain != FINDING_CERTAIN && ran_on(evidence, cpu))
		finding_evidence(
			&finding->base,
			"CPU %" PRIu32
			" has continued to run in that state: a hook may be missing where the state ends",
			cpu->number);
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
