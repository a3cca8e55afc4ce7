/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * CPUs that have no heartbeat for long, but make progress: some kernels do not preempt threads, and program
 * their timer only while a CPU idles. And CPUs that are between two threads.
 */
#include <inttypes.h>

#include "why/finding.h"
#include "why/pulse.h"

/*
 * time in ms: a busy CPU without a heartbeat for this long is not healthy; a host may delay a heartbeat, but
 * not this long
 */
#define QUIET_MS  1500u
#define MOMENT_MS 100u /* time in ms: a switch is recent, and a sleep is not yet late, within this time */
/* minimum time in ms for which a CPU that seems to idle has had interrupts disabled */
#define STAYS_MS  1000u
#define OWN_TICKS 25u /* minimum number of ticks that show that a CPU has a timer of its own */
/* the number N: a CPU works if it runs threads for at least 1/N of the time window */
#define WORKED_PART 10u
#define LATE_MS	    1000u /* time in ms: a thread that is runnable for longer should have run */
#define IDLE_TICKS  32u	  /* fewer interrupts do not show whether the CPU gets any while it works */
/* the number N: interrupts come only while the CPU idles if at most one in N came while it did not idle */
#define IDLE_PART 64u

uint64_t why_active_until(const struct why_cpu *cpu)
{
	uint64_t last = cpu->last_stamp;

	if (cpu->row.irq_stamp > last)
		last = cpu->row.irq_stamp;
	if (cpu->row.switch_stamp > last)
		last = cpu->row.switch_stamp;
	return last;
}

uint64_t why_pause(const struct why_cpu *cpu)
{
	const uint64_t beat = cpu->row.heartbeat_stamp, last = why_active_until(cpu);
	const uint64_t seen = cpu->last_stamp > beat ? cpu->last_stamp : beat;
	const uint64_t rest = last > seen ? last - seen : 0;

	return rest > cpu->pause ? rest : cpu->pause;
}

uint64_t why_lived_on(const struct why_cpu *cpu)
{
	const uint64_t beat = cpu->row.heartbeat_stamp, last = why_active_until(cpu), pause = why_pause(cpu);
	const uint64_t lived = last > beat ? last - beat : 0;

	return lived > pause ? lived - pause : 0;
}

bool why_is_in_tick(const struct why_cpu *cpu)
{
	const uint64_t beat = cpu->row.heartbeat_stamp;

	/* a mode that was set after the last heartbeat has the heartbeat's timestamp, or a later one */
	return cpu->row.heartbeats && cpu->row.nesting && cpu->row.irq_stamp <= beat &&
	       cpu->row.switch_stamp <= beat && cpu->row.mode_stamp < beat;
}

bool why_is_silent(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	return evidence->info->frequency && why_silence(evidence, cpu) > why_ms(evidence, QUIET_MS);
}

/* Returns whether the thread still sleeps after its deadline, or is runnable but does not get its turn. */
static bool is_late(const struct why_evidence *evidence, const struct why_thread *thread)
{
	const struct ktrx_holder *row = &thread->holder;

	return thread->runnable > why_ms(evidence, LATE_MS) ||
	       (row->state == KTRX_THREAD_WAITING && row->deadline &&
		why_age(evidence, row->deadline) > why_ms(evidence, MOMENT_MS));
}

bool why_works_without_ticks(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	bool ended = false;

	if (cpu->row.heartbeats == 0 || cpu->switches.last == 0 ||
	    why_age(evidence, cpu->switches.last) > why_ms(evidence, MOMENT_MS))
		return false;
	for (uint32_t n = 0; n < evidence->threads; n++) {
		const struct why_thread *thread = &evidence->thread[n];

		if (!thread->has_holder || thread->holder.cpu != cpu->number)
			continue;
		if (is_late(evidence, thread))
			return false;
		ended |= thread->usual_sleep && thread->holder.deadline &&
			 thread->slept_until > cpu->row.heartbeat_stamp + why_ms(evidence, QUIET_MS);
	}
	return ended;
}

bool why_interrupts_only_idle(const struct why_cpu *cpu)
{
	return cpu->interrupts.entered >= IDLE_TICKS &&
	       cpu->interrupts.working <= cpu->interrupts.entered / IDLE_PART;
}

/* Returns whether the CPU has taken an interrupt with this number, as far as events show. */
static bool has_taken(const struct why_cpu *cpu, uint32_t number)
{
	for (uint32_t n = 0; n < cpu->interrupts.kinds; n++)
		if (cpu->interrupts.kind[n].number == number)
			return true;
	return cpu->interrupts.kinds == WHY_IRQ_KINDS;
}

bool why_could_take_ticks(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	const uint64_t moment = why_ms(evidence, MOMENT_MS);

	return !why_idles(evidence, cpu) && why_runs_work(evidence, cpu) && !why_spins_for_something(cpu) &&
	       cpu->mask != INTERRUPTS_MASKED &&
	       (cpu->row.interrupts != KTRX_INTERRUPTS_OFF ||
		why_age(evidence, cpu->row.interrupts_stamp) < moment) &&
	       (cpu->mask == INTERRUPTS_ENABLED || cpu->row.interrupts == KTRX_INTERRUPTS_ON ||
		cpu->row.mode == KTRX_MODE_USER || why_age(evidence, cpu->last_stamp) < moment);
}

/* Returns whether the CPU has had regular ticks up to now. */
static bool has_own_ticks(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	return cpu->row.heartbeats >= OWN_TICKS && !why_is_silent(evidence, cpu);
}

const struct why_cpu *why_ticks_elsewhere(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	const struct why_cpu *found = NULL;
	uint32_t ticking = 0;

	if (evidence->info->frequency == 0 || !cpu->has_row || !cpu->row.online || cpu->row.heartbeats ||
	    why_ticks_always(cpu) ||
	    (!cpu->cut && why_age(evidence, cpu->first_stamp) < why_ms(evidence, QUIET_MS)))
		return NULL;
	for (uint32_t n = 0; n < evidence->cpus && (ticking < 2 || !found); n++) {
		const struct why_cpu *other = &evidence->cpu[n];
		const struct why_irq_kind *tick;

		if (!has_own_ticks(evidence, other))
			continue;
		ticking++;
		tick = why_most_frequent(other);
		if (!found && n > 0 && !(tick && has_taken(cpu, tick->number)))
			found = other;
	}
	return ticking < 2 ? NULL : found;
}

bool why_is_there_for_long(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	return cpu->first_stamp && why_age(evidence, cpu->first_stamp) >= why_ms(evidence, QUIET_MS);
}

/*
 * Returns whether it is unknown why the CPU has no ticks: it runs threads, never had a tick or has none any
 * more, and CPU 0 or another CPU has ticks. Some kernels let only one CPU have ticks, or stop the tick of a
 * CPU that runs a single thread.
 */
static bool lacks_ticks(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	const uint64_t silence = cpu->row.heartbeats ? why_age(evidence, cpu->row.heartbeat_stamp)
						     : why_age(evidence, cpu->first_stamp);

	return cpu->has_row && cpu->row.online && evidence->most_beats >= OWN_TICKS &&
	       evidence->info->frequency && cpu->last_stamp && silence > why_ms(evidence, QUIET_MS) &&
	       why_age(evidence, cpu->last_stamp) < why_ms(evidence, QUIET_MS) &&
	       cpu->worked >= evidence->window / WORKED_PART;
}

void why_finding_without_ticks(struct why_finding *finding, const struct why_evidence *evidence)
{
	char beat[WHY_WORDS];

	for (uint32_t n = 0; n < evidence->cpus; n++) {
		const struct why_cpu *cpu = &evidence->cpu[n];

		if (why_is_there(cpu) && !why_idles(evidence, cpu) && why_is_silent(evidence, cpu) &&
		    why_works_without_ticks(evidence, cpu))
			finding_evidence(&finding->base,
					 "%s, but it switches threads, and timed sleeps end there",
					 why_say_beat(evidence, cpu, beat, sizeof(beat)));
		else if (lacks_ticks(evidence, cpu))
			finding_evidence(&finding->base,
					 "%s, although it runs threads: the kernel needs no tick there, or "
					 "its timer does not work",
					 why_say_beat(evidence, cpu, beat, sizeof(beat)));
	}
}

/* While a CPU starts, it switches at most once, to its idle thread. */
bool why_has_run_threads(const struct why_cpu *cpu)
{
	return cpu->row.switches > 1;
}

bool why_is_between_threads(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	const struct why_thread *thread = why_runs(evidence, cpu);

	return thread && thread->idle && !why_idles(evidence, cpu) && why_has_run_threads(cpu) &&
	       (cpu->row.mode == KTRX_MODE_KERNEL || cpu->row.mode == KTRX_MODE_INTERRUPT) &&
	       why_age(evidence, cpu->row.switch_stamp) < why_ms(evidence, MOMENT_MS);
}

bool why_is_about_to_switch(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	return why_is_between_threads(evidence, cpu) && (evidence->made_progress || !evidence->halted);
}

/* Returns whether the CPU has interrupts disabled, and has been silent for long. */
static bool is_masked_and_silent(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	return cpu->mask == INTERRUPTS_MASKED && why_has_stopped(evidence, cpu) &&
	       why_silence(evidence, cpu) >= why_ms(evidence, STAYS_MS) &&
	       why_age(evidence, cpu->last_stamp) >= why_ms(evidence, WHY_STOPPED_MS);
}

bool why_stays_awake(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	return is_masked_and_silent(evidence, cpu) && why_is_awake(evidence, cpu);
}

/*
 * Without heartbeats, a CPU is silent if it has not read its clock for long. Without a known frequency, it is
 * unknown for how long the CPU has been silent.
 */
bool why_may_stay_awake(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	const bool ended =
		evidence->reset || evidence->panic.stamp || evidence->info->outcome != KTRX_OUTCOME_RUNNING;

	return !ended && cpu->has_row && cpu->has_registers && cpu->side != PRIVILEGE_USER &&
	       why_may_run_masked(evidence, cpu) &&
	       why_silence(evidence, cpu) >= why_ms(evidence, STAYS_MS) &&
	       why_age(evidence, cpu->last_stamp) >= why_ms(evidence, WHY_STOPPED_MS);
}

bool why_stays_in_handler(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	return is_masked_and_silent(evidence, cpu) &&
	       ((cpu->irq_pending && why_is_in_handler(evidence, cpu)) || why_left_halt(evidence, cpu));
}
