/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Starvation: a thread is runnable for long and does not run, although the timer of its CPU ticks, or a
 * thread keeps that CPU with preemption disabled. There must be a reason why other threads run instead: they
 * have a higher priority, or one of them has kept the CPU all the time. If no such reason is known, or if the
 * thread may have ended, detect_bookkeeping.c reports the thread. Other detectors find a CPU that runs no
 * thread at all.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "why/answers.h"
#include "why/pulse.h"
#include "why/finding.h"
#include "why/untimed.h"

/*
 * BEATS_LEAST, BEATS_EACH and WAIT_LEAST_MS: a thread counts as starved only if it has been runnable for
 * WAIT_LEAST_MS ms and for the number of interrupts that BEATS_LEAST and BEATS_EACH give. During that time,
 * other threads have run many times.
 */
#define BEATS_LEAST   20u
#define BEATS_EACH    4u /* minimum number of interrupts per thread that is runnable on the CPU */
#define WAIT_LEAST_MS 250u
/*
 * used for a CPU that never had a heartbeat: minimum time in ms for which its thread has run with preemption
 * disabled
 */
#define KEPT_MS 5000u
/* time in ms: if the newest heartbeat of the machine is not older than this, the machine still runs */
#define ALIVE_MS	1000u
#define WAIT_UNRECORDED 4u /* factor by which WAIT_LEAST_MS is multiplied if interrupts are not recorded */

static bool counts(const struct why_evidence *evidence, const struct why_thread *thread,
		   struct why_turn *turn)
{
	return why_turn_of(evidence, thread, turn) && turn->proven && turn->cpu &&
	       !why_idles(evidence, turn->cpu);
}

/*
 * Returns an array with the number of runnable threads of each CPU. Returns NULL if out of memory. The caller
 * frees the array.
 */
static uint32_t *count_runnable(const struct why_evidence *evidence)
{
	uint32_t *count = calloc((size_t)evidence->cpus + 1, sizeof(*count));
	struct why_turn turn;

	for (uint32_t n = 0; count && n < evidence->threads; n++)
		if (counts(evidence, &evidence->thread[n], &turn))
			count[turn.cpu->number]++;
	return count;
}

static bool is_alive(const struct why_evidence *evidence)
{
	for (uint32_t n = 0; n < evidence->cpus; n++)
		if (evidence->cpu[n].row.heartbeats &&
		    why_silence(evidence, &evidence->cpu[n]) < why_ms(evidence, ALIVE_MS))
			return true;
	return false;
}

/*
 * Returns for how many ticks a CPU that never had a heartbeat has neither read its clock nor recorded an
 * event.
 */
static uint64_t quiet_ticks(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	const uint64_t silence = why_silence(evidence, cpu), age = why_age(evidence, cpu->last_stamp);

	return cpu->last_stamp && age < silence ? age : silence;
}

/*
 * Returns whether the thread of a CPU that never had a heartbeat keeps this CPU: the thread has run on it for
 * long, has recorded nothing, took no interrupt, and still has preemption disabled. Other CPUs have
 * heartbeats, so the host has not stopped the machine, and registers show that the CPU runs.
 */
static bool is_kept(const struct why_evidence *evidence, const struct why_turn *starved)
{
	const struct why_cpu *cpu = starved->cpu;
	const struct why_thread *runs = why_runs(evidence, cpu);
	const uint64_t least = why_ms(evidence, KEPT_MS);

	return cpu->has_row && cpu->row.heartbeats == 0 && cpu->row.preempt && cpu->row.nesting == 0 &&
	       cpu->has_registers && cpu->side != PRIVILEGE_USER && starved->by_table && runs &&
	       runs != starved->thread && runs->has_holder && runs->holder.state == KTRX_THREAD_RUNNING &&
	       runs->holder.cpu == cpu->number && runs->holder.wait == KTRX_WAIT_NONE &&
	       why_age(evidence, runs->holder.state_stamp) >= least && cpu->row.now &&
	       quiet_ticks(evidence, cpu) >= least && why_age(evidence, starved->since) >= least &&
	       is_alive(evidence);
}

/*
 * Returns whether the CPU's timer still ticks, and has ticked so often that each runnable thread should have
 * run. So many ticks also show that the host has not stopped the virtual CPU.
 */
static bool is_starved(const struct why_evidence *evidence, const struct why_turn *starved, uint32_t runnable)
{
	const uint64_t least = why_ms(evidence, WAIT_LEAST_MS);
	uint64_t waits = why_age(evidence, starved->since);

	if (!starved->by_table &&
	    /* the thread may have run, and the events that show it may be lost */
	    !why_is_whole_since(evidence, starved->since))
		return false;
	if (least && is_kept(evidence, starved))
		return true;
	if (least == 0 || waits < least || !starved->cpu->has_row || !starved->cpu->row.heartbeats ||
	    why_silence(evidence, starved->cpu) > waits / 2)
		return false;
	if (starved->cpu->irqs.count == 0) /* the kernel does not record interrupts */
		return waits >= (uint64_t)WAIT_UNRECORDED * least;
	return starved->thread->interrupts >= BEATS_LEAST &&
	       starved->thread->interrupts >= (uint64_t)BEATS_EACH * runnable;
}

static void say_priorities(const struct why_evidence *evidence, struct why_finding *finding,
			   const struct why_thread *runs, const struct why_thread *starved,
			   const struct why_cpu *cpu)
{
	const uint32_t urgent = runs->holder.priority, other = starved->holder.priority;
	char who[WHY_WORDS], waits[WHY_WORDS];

	why_say_actor(evidence, runs->id + 1, who, sizeof(who));
	if (urgent > other && other)
		finding_evidence(
			&finding->base, "%s runs there with priority %" PRIu32 "; %s has priority %" PRIu32,
			who, urgent, why_say_actor(evidence, starved->id + 1, waits, sizeof(waits)), other);
	else
		finding_evidence(&finding->base, "%s has run there all that time", who);
	if (cpu->has_row && cpu->row.preempt)
		finding_evidence(&finding->base, "preemption is disabled on CPU %" PRIu32, cpu->number);
}

/*
 * Returns whether the CPU has spent most of the time waiting for an IPI answer. While a CPU waits for an IPI
 * answer, it switches no threads.
 */
static bool waits_for_answer(const struct why_evidence *evidence, const struct why_turn *starved)
{
	const struct why_cpu *cpu = starved->cpu;

	return why_awaits_answer(cpu) &&
	       why_age(evidence, cpu->row.ipi_stamp) >= why_age(evidence, starved->since) / 2;
}

static void say_awaited_answer(const struct why_evidence *evidence, struct why_finding *finding,
			       const struct why_turn *starved)
{
	const struct why_cpu *cpu = starved->cpu;
	char line[FINDING_LINE];

	if (!waits_for_answer(evidence, starved))
		return;
	finding_evidence(&finding->base, "%s", why_say_awaited_answer(evidence, cpu, line, sizeof(line)));
	finding->asker = cpu->number + 1;
}

/*
 * Adds a line about the CPU: its last heartbeat or, if it never had one, its place according to its
 * registers.
 */
static void say_alive(const struct why_evidence *evidence, struct why_finding *finding,
		      const struct why_cpu *cpu)
{
	char ago[WHY_WORDS], where[WHY_WORDS];

	if (cpu->row.heartbeats)
		finding_evidence(&finding->base,
				 "CPU %" PRIu32 " is healthy: its last heartbeat was %s ago, at %s",
				 cpu->number,
				 why_say_ticks(evidence, why_age(evidence, cpu->row.heartbeat_stamp), ago,
					       sizeof(ago)),
				 why_say_place(evidence, cpu->row.pc, where, sizeof(where)));
	else
		finding_evidence(
			&finding->base,
			"CPU %" PRIu32 " never had a heartbeat and has recorded nothing for %s; it is at %s",
			cpu->number, why_say_ticks(evidence, quiet_ticks(evidence, cpu), ago, sizeof(ago)),
			why_say_standing(evidence, cpu, where, sizeof(where)));
}

static int report(const struct why_evidence *evidence, struct why_findings *findings,
		  const struct why_turn *starved, const struct why_thread *runs)
{
	struct why_finding *finding = why_finding_new(
		findings, WHY_STARVATION,
		starved->by_table && starved->cpu->row.heartbeats ? FINDING_CERTAIN : FINDING_LIKELY);
	char who[WHY_WORDS], waits[WHY_WORDS];
	const uint64_t ticks = why_age(evidence, starved->since);

	if (!finding)
		return KTREAD_E_MEMORY;
	finding_say(finding->base.what, "%s has been runnable on CPU %" PRIu32 " for %s and has not run%s",
		    why_say_actor(evidence, starved->thread->id + 1, who, sizeof(who)), starved->cpu->number,
		    why_say_ticks(evidence, ticks, waits, sizeof(waits)),
		    waits_for_answer(evidence, starved) ? ", while that CPU waits for an answer to its IPI"
							: "");
	why_finding_actor(finding, (struct why_actor){ .id = starved->thread->id + 1, .ticks = ticks });
	say_priorities(evidence, finding, runs, starved->thread, starved->cpu);
	why_finding_actor(finding,
			  (struct why_actor){ .id = runs->id + 1,
					      .pc = starved->cpu->row.heartbeats ? starved->cpu->row.pc
										 : starved->cpu->pc,
					      .exact = true });
	say_alive(evidence, finding, starved->cpu);
	say_awaited_answer(evidence, finding, starved);
	if (!starved->by_table) {
		finding->base.partial = true;
		if (evidence->missing_hooks & KTRX_HOOK_THREAD)
			finding_say(finding->base.advice, "call ktrace_switch() and ktrace_wake(), "
							  "which record which threads are runnable");
	}
	return 0;
}

int why_detect_starvation(const struct why_evidence *evidence, struct why_findings *findings)
{
	const struct why_thread *runs;
	struct why_turn turn;
	uint32_t *runnable;
	int error;

	if (why_ended_well(evidence))
		return 0;
	runnable = count_runnable(evidence);
	error = runnable ? 0 : KTREAD_E_MEMORY;
	for (uint32_t n = 0; n < evidence->threads && !error; n++)
		if (counts(evidence, &evidence->thread[n], &turn) &&
		    is_starved(evidence, &turn, runnable[turn.cpu->number]) &&
		    why_turn_is_explained(evidence, &turn, &runs))
			error = report(evidence, findings, &turn, runs);
	free(runnable);
	return error;
}
