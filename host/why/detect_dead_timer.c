/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Timers that no longer tick although a tick should have woken sleeping threads. */
#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>

#include "why/finding.h"
#include "why/pulse.h"
#include "why/sleepers.h"
#include "why/untimed.h"

/*
 * Dead timer: a CPU gets no ticks although its interrupts are enabled, and a thread on that CPU still sleeps
 * after its deadline. Without such a thread, missing ticks prove nothing, because an idle CPU may stop its
 * tick.
 */

/*
 * time in ms: a gap between ticks that is shorter than this proves nothing, because the host may have stopped
 * the virtual CPU during the gap
 */
#define HOST_MS 1500u

/*
 * Returns whether this CPU's timer is known to be the one that has stopped: a thread that sleeps too long
 * sleeps on this CPU itself, or the CPU ticked even when it idled. Otherwise this CPU may idle without
 * ticks, and the timer of the other CPU may never have started.
 */
static bool is_its_timer(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	for (uint32_t n = 0; n < evidence->threads; n++)
		if (why_sleeps_late(evidence, cpu, &evidence->thread[n]) &&
		    evidence->thread[n].holder.cpu == cpu->number)
			return true;
	return why_ticks_always(cpu);
}

static uint32_t late_sleepers(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	uint32_t late = 0;

	for (uint32_t n = 0; n < evidence->threads; n++)
		late += why_sleeps_late(evidence, cpu, &evidence->thread[n]);
	return late;
}

/*
 * Returns whether a tick is overdue: the CPU continued to run without a tick, or has had no tick for HOST_MS.
 * A CPU that is still in the handler of its last tick can have no other tick. If the CPU paused, the host may
 * also have delayed its timer.
 */
static bool is_tick_overdue(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	const uint64_t late = why_ms(evidence, WHY_LATE_MS);

	return !why_is_in_tick(cpu) && ((why_lived_on(cpu) > late && why_pause(cpu) <= late) ||
					why_silence(evidence, cpu) >= why_ms(evidence, HOST_MS));
}

/* Returns whether the CPU has stopped with interrupts disabled, and does not idle. */
static bool is_stuck(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	return cpu->row.interrupts == KTRX_INTERRUPTS_OFF && why_has_stopped(evidence, cpu) &&
	       !why_is_in_idle_thread(evidence, cpu);
}

/*
 * Returns whether another CPU stopped with interrupts disabled before this CPU's ticks ended. The stop of
 * that CPU may be the cause of the missing ticks: the kernel stops all CPUs in a panic, or the stopped CPU
 * holds a lock.
 */
static bool may_follow_another_stop(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	for (uint32_t n = 0; n < evidence->cpus; n++) {
		const struct why_cpu *other = &evidence->cpu[n];

		if (other != cpu && is_stuck(evidence, other) &&
		    why_silence(evidence, other) + why_ms(evidence, WHY_LATE_MS) >=
			    why_silence(evidence, cpu))
			return true;
	}
	return false;
}

/*
 * Returns whether another CPU may have stopped with interrupts disabled, and may be the cause of the missing
 * ticks: it seems to idle, but may run code, and may hold a lock.
 */
static bool may_follow_another_spin(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	for (uint32_t n = 0; n < evidence->cpus; n++)
		if (n != cpu->number && why_may_stay_awake(evidence, &evidence->cpu[n]) &&
		    why_silence(evidence, &evidence->cpu[n]) + why_ms(evidence, WHY_LATE_MS) >=
			    why_silence(evidence, cpu))
			return true;
	return false;
}

/* Returns whether a sleep is late for another reason than that the host did not run the CPU. */
static bool is_late_for_sure(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	const uint64_t late = why_ms(evidence, WHY_LATE_MS), stop = why_ms(evidence, HOST_MS);

	for (uint32_t n = 0; n < evidence->threads; n++)
		if (why_sleeps_late(evidence, cpu, &evidence->thread[n]) &&
		    (why_active_until(cpu) > evidence->thread[n].holder.deadline + late ||
		     why_age(evidence, evidence->thread[n].holder.deadline) >= stop))
			return true;
	return false;
}

static int found(const struct why_evidence *evidence, struct why_findings *findings,
		 const struct why_cpu *cpu)
{
	const bool alive =
		why_lived_on(cpu) > why_ms(evidence, WHY_LATE_MS) && is_late_for_sure(evidence, cpu);
	/* the host may have stopped the CPU, but not for HOST_MS */
	const bool later = why_active_until(cpu) > cpu->row.heartbeat_stamp + why_ms(evidence, HOST_MS);
	const bool masked = !alive && !later && why_may_run_masked(evidence, cpu);
	const bool follows = may_follow_another_stop(evidence, cpu) || may_follow_another_spin(evidence, cpu);
	struct why_finding *finding =
		why_finding_new(findings, WHY_DEAD_TIMER,
				!is_its_timer(evidence, cpu)			     ? FINDING_POSSIBLE
				: masked || follows				     ? FINDING_POSSIBLE
				: alive && cpu->row.interrupts == KTRX_INTERRUPTS_ON ? FINDING_CERTAIN
										     : FINDING_LIKELY);
	char ticks[WHY_WORDS], place[WHY_WORDS], thread[WHY_WORDS];

	if (!finding)
		return KTREAD_E_MEMORY;
	finding_say(finding->base.what, "the timer of CPU %" PRIu32 " has stopped", cpu->number);
	why_finding_actor(finding, (struct why_actor){ .id = KTRX_HOLDER_CPU | cpu->number,
						       .ticks = why_silence(evidence, cpu) });
	why_say_beat(evidence, cpu, ticks, sizeof(ticks));
	why_say_place(evidence, cpu->row.pc, place, sizeof(place));
	if (cpu->row.heartbeats == 0)
		finding_evidence(&finding->base, "%s", ticks);
	else if (cpu->row.switch_stamp > cpu->row.heartbeat_stamp) /* row.thread did not run at that time */
		finding_evidence(&finding->base, "%s, at %s", ticks, place);
	else
		finding_evidence(&finding->base, "%s, when %s was at %s", ticks,
				 why_say_actor(evidence, cpu->row.thread + 1, thread, sizeof(thread)), place);
	if (alive)
		finding_evidence(
			&finding->base,
			"the CPU continued to run for at least %s: it took other interrupts, or ran threads",
			why_say_ticks(evidence, why_lived_on(cpu), ticks, sizeof(ticks)));
	why_finding_sleepers(finding, evidence, cpu);
	if (cpu->row.interrupts == KTRX_INTERRUPTS_ON)
		finding_evidence(&finding->base, "interrupts are enabled there");
	if (masked)
		finding_say(finding->base.advice,
			    "%s, because the CPU may be in a handler, with interrupts disabled",
			    !cpu->has_registers ? "examine the running machine (--qmp), which shows registers"
			    : !evidence->symbols || symbols_doubtful(evidence->symbols)
				    ? "pass the kernel's file (--elf)"
				    : "check what this CPU does at the end");
	return 0;
}

/*
 * A thread that keeps its CPU, in a kernel that does not preempt threads and programs its timer only while a
 * CPU idles. In such a kernel, the thread is the reason why no ticks come.
 */

#define FRAMES 6u /* maximum number of frames that are listed */

/*
 * Returns the thread that keeps the CPU: the thread runs, all late sleepers became late after it began to
 * run, and the CPU used to take interrupts only while it idled. Returns NULL if there is no such thread, or
 * if the CPU's registers do not show that it runs code of the kernel.
 */
static const struct why_thread *keeper(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	const struct why_thread *runs = why_runs(evidence, cpu);
	const uint64_t late = why_ms(evidence, WHY_LATE_MS);

	if (!runs || runs->idle || why_idles(evidence, cpu) || !cpu->has_registers ||
	    why_side_of_cpu(evidence, cpu) != WHY_SIDE_KERNEL || !runs->has_holder ||
	    runs->holder.state != KTRX_THREAD_RUNNING || runs->holder.cpu != cpu->number ||
	    runs->holder.state_stamp == 0 || !why_interrupts_only_idle(cpu))
		return NULL;
	for (uint32_t n = 0; n < evidence->threads; n++)
		if (why_sleeps_late(evidence, cpu, &evidence->thread[n]) &&
		    evidence->thread[n].holder.deadline + late < runs->holder.state_stamp)
			return NULL;
	return runs;
}

static int found_keeper(const struct why_evidence *evidence, struct why_findings *findings,
			const struct why_cpu *cpu, const struct why_thread *runs)
{
	struct why_finding *finding = why_finding_new(findings, WHY_KERNEL_SPIN, FINDING_LIKELY);
	const uint64_t since = why_age(evidence, runs->holder.state_stamp);
	char thread[WHY_WORDS], ticks[WHY_WORDS], place[WHY_WORDS];

	if (!finding)
		return KTREAD_E_MEMORY;
	finding_say(finding->base.what, "%s has kept CPU %" PRIu32 " for %s, at %s",
		    why_say_actor(evidence, runs->id + 1, thread, sizeof(thread)), cpu->number,
		    why_say_ticks(evidence, since, ticks, sizeof(ticks)),
		    why_say_place(evidence, cpu->pc, place, sizeof(place)));
	why_finding_actor(
		finding,
		(struct why_actor){ .id = runs->id + 1, .ticks = since, .pc = cpu->pc, .exact = true });
	why_finding_stack(finding, evidence, cpu, FRAMES);
	finding_evidence(&finding->base,
			 "CPU %" PRIu32
			 " took interrupts only while it idled: no timer interrupts its threads",
			 cpu->number);
	why_finding_sleepers(finding, evidence, cpu);
	finding_say(finding->base.advice,
		    "take another trace later, because a computation looks the same while it lasts");
	return 0;
}

static bool is_old(const struct why_evidence *evidence, uint64_t since)
{
	return since == 0 || why_age(evidence, since) > why_ms(evidence, WHY_LATE_MS);
}

/*
 * Returns whether missing ticks have another reason: interrupts are disabled, so none can wake the CPU, or
 * the CPU waits for a lock or an IPI answer. Such a state does not count if it began only a moment ago,
 * because code that takes a lock also disables interrupts for a moment. A program does not do this.
 */
static bool has_another_reason(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	return (cpu->mask == INTERRUPTS_MASKED && cpu->side == PRIVILEGE_USER) ||
	       (cpu->row.interrupts == KTRX_INTERRUPTS_OFF && is_old(evidence, cpu->row.interrupts_stamp) &&
		!why_wakes_masked(evidence, cpu)) ||
	       (cpu->has_holder && cpu->holder.wait != KTRX_WAIT_NONE &&
		is_old(evidence, cpu->holder.wait_stamp)) ||
	       (cpu->row.ipi_cpu != 0 && is_old(evidence, cpu->row.ipi_stamp));
}

/*
 * Ticks of the whole machine: no CPU has had a tick for long, and several threads are in timed sleeps that
 * last far longer than all their earlier timed sleeps. This rule is used for kernels that do not record
 * deadlines. It is not used if a CPU has stopped with interrupts disabled, because that CPU may be the reason
 * for the missing ticks.
 */

#define QUIET_MS 2000u
/* minimum number of finished sleeps that are needed to know how long a thread usually sleeps */
#define SLEEPS	    8u
#define SHOWN	    4u	/* maximum number of oversleepers that are listed */
#define OVERSLEEPS  3u	/* minimum number of threads that sleep too long */
#define TIMES_SLEPT 16u /* a sleep is too long if it takes this many times as long as all earlier ones */

struct oversleeper {
	const struct why_thread *thread;
	uint64_t ticks;	  /* how long the thread has slept now, in ticks */
	uint64_t sleeps;  /* number of the thread's earlier sleeps */
	uint64_t longest; /* upper limit for the lengths of the earlier sleeps, in ticks */
};

/*
 * Returns whether no thread except the oversleeper has slept on the queue, so that the queue's counts
 * describe only this thread.
 */
static bool is_own(const struct oversleeper *one, const struct why_queue *queue)
{
	return one->thread->holder.object == 0 ||
	       (queue->sleepers == 1 && !queue->more_sleepers && queue->sleeper[0].thread == one->thread->id);
}

/* Sets `sleeps` and `longest` from events, from the counts in the thread's row, or from both. */
static void learn_sleeps(const struct why_evidence *evidence, struct oversleeper *one)
{
	const struct ktrx_holder *row = &one->thread->holder;
	const struct why_untimed sleep = {
		.thread = one->thread, .object = row->object, .since = row->wait_stamp, .by_table = true
	};
	const struct why_queue *queue = row->object ? why_queue_find(evidence, row->object)
						    : why_queue_of_thread(evidence, one->thread->id);
	struct why_habit habit;

	if (queue && is_own(one, queue)) {
		one->sleeps = queue->waits;
		one->longest = queue->longest;
	}
	if (!why_habit_of(evidence, &sleep, &habit) || habit.brief)
		return;
	if (habit.wakes > one->sleeps)
		one->sleeps = habit.wakes;
	if (habit.longest > one->longest)
		one->longest = habit.longest;
}

static bool oversleeps(const struct why_evidence *evidence, const struct why_thread *thread,
		       struct oversleeper *one)
{
	const struct ktrx_holder *row = &thread->holder;

	*one = (struct oversleeper){ .thread = thread };
	if (!thread->has_holder || thread->idle || row->state != KTRX_THREAD_WAITING ||
	    row->wait != KTRX_WAIT_TIME || row->deadline || row->wait_stamp == 0)
		return false;
	one->ticks = why_age(evidence, row->wait_stamp);
	learn_sleeps(evidence, one);
	return one->sleeps >= SLEEPS && one->ticks >= why_ms(evidence, QUIET_MS) &&
	       one->ticks / TIMES_SLEPT >= one->longest;
}

static uint32_t count_oversleepers(const struct why_evidence *evidence)
{
	struct oversleeper one;
	uint32_t count = 0;

	for (uint32_t n = 0; n < evidence->threads; n++)
		count += oversleeps(evidence, &evidence->thread[n], &one);
	return count;
}

static void say_oversleepers(const struct why_evidence *evidence, struct why_finding *finding)
{
	char who[WHY_WORDS], ticks[WHY_WORDS], longest[WHY_WORDS];
	struct oversleeper one;
	uint32_t shown = 0;

	for (uint32_t n = 0; n < evidence->threads; n++) {
		if (!oversleeps(evidence, &evidence->thread[n], &one) || shown++ >= SHOWN)
			continue;
		finding_evidence(&finding->base,
				 "%s has been in a timed sleep for %s; its %" PRIu64
				 " earlier sleeps took at most %s",
				 why_say_actor(evidence, one.thread->id + 1, who, sizeof(who)),
				 why_say_ticks(evidence, one.ticks, ticks, sizeof(ticks)), one.sleeps,
				 why_say_ticks(evidence, one.longest, longest, sizeof(longest)));
		why_finding_actor(finding, (struct why_actor){ .id = one.thread->id + 1,
							       .waits = one.thread->holder.object,
							       .ticks = one.ticks,
							       .pc = one.thread->holder.wait_pc });
	}
	if (shown > SHOWN)
		finding_evidence(&finding->base, "%" PRIu32 " more thread%s far longer than before",
				 shown - SHOWN, shown - SHOWN == 1 ? " sleeps" : "s sleep");
}

static int found_all(const struct why_evidence *evidence, struct why_findings *findings,
		     const struct why_cpu *cpu)
{
	/*
	 * The registers show that the CPU could take an interrupt, and events show that its timer ticked even
	 * when there was no thread to wake. On other architectures than x86, an interrupt wakes an idle CPU
	 * even if interrupts are disabled, if this CPU waits for one.
	 */
	const bool ready = cpu->has_registers && why_ticks_without_reason(cpu) &&
			   !may_follow_another_spin(evidence, cpu) &&
			   (cpu->mask == INTERRUPTS_ENABLED ||
			    (why_wakes_masked(evidence, cpu) && !why_may_run_masked(evidence, cpu)));
	struct why_finding *finding =
		why_finding_new(findings, WHY_DEAD_TIMER, ready ? FINDING_LIKELY : FINDING_POSSIBLE);
	char beat[WHY_WORDS];

	if (!finding)
		return KTREAD_E_MEMORY;
	finding_say(finding->base.what,
		    "no CPU gets ticks any more: the timer of CPU %" PRIu32
		    ", which ticked last, has stopped",
		    cpu->number);
	why_finding_actor(finding, (struct why_actor){ .id = KTRX_HOLDER_CPU | cpu->number,
						       .ticks = why_silence(evidence, cpu) });
	finding_evidence(&finding->base, "%s, after %" PRIu64 " heartbeats",
			 why_say_beat(evidence, cpu, beat, sizeof(beat)), cpu->row.heartbeats);
	say_oversleepers(evidence, finding);
	finding_say(finding->base.advice, "pass deadlines to ktrace_block(), "
					  "which show when these sleeps should have ended");
	return 0;
}

static int look_at_all(const struct why_evidence *evidence, struct why_findings *findings)
{
	const struct why_cpu *cpu = why_newest_tick(evidence);

	if (!cpu || why_ms(evidence, QUIET_MS) == 0 ||
	    why_silence(evidence, cpu) < why_ms(evidence, QUIET_MS) || !why_has_stopped(evidence, cpu) ||
	    why_lacks_eoi(evidence, cpu) || has_another_reason(evidence, cpu) ||
	    may_follow_another_stop(evidence, cpu) || count_oversleepers(evidence) < OVERSLEEPS)
		return 0;
	return found_all(evidence, findings, cpu);
}

/*
 * A timer that was never started: a CPU never had a tick, while two or more other CPUs have ticks. This
 * proves nothing in a kernel that stops ticks that are not needed. So timed sleeps of threads on this CPU
 * must be late, and no others. Or the CPU works, and a thread waits for its turn there, or another CPU's
 * ticks come even if no thread is to be woken.
 */

#define TURN_MS 2000u /* minimum time in ms for which a thread has waited for its turn */

/* Returns the thread that has waited longest for a thread that has run on the CPU all that time; or NULL. */
static const struct why_thread *waits_for_turn(const struct why_evidence *evidence, const struct why_cpu *cpu,
					       uint64_t *since)
{
	const struct why_thread *runs = why_runs(evidence, cpu), *first = NULL;
	struct why_turn turn;

	*since = UINT64_MAX;
	for (uint32_t n = 0; runs && n < evidence->threads; n++) {
		const struct why_thread *thread = &evidence->thread[n];

		if (thread == runs || !why_turn_of(evidence, thread, &turn) || !turn.proven ||
		    turn.cpu != cpu || turn.others_ran || turn.since >= *since ||
		    why_age(evidence, turn.since) < why_ms(evidence, TURN_MS) ||
		    runs->holder.priority > thread->holder.priority)
			continue;
		first = thread;
		*since = turn.since;
	}
	return first;
}

/* Returns another CPU whose timer ticks even if the CPU idles and no thread is to be woken; or NULL. */
static const struct why_cpu *ticks_needlessly(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	for (uint32_t n = 0; n < evidence->cpus; n++)
		if (n != cpu->number && why_ticks_without_reason(&evidence->cpu[n]))
			return &evidence->cpu[n];
	return NULL;
}

/* Evidence that the timer of a CPU was never started. */
struct unstarted {
	const struct why_cpu *other; /* a CPU with ticks of its own */
	const struct why_thread *waits;
	uint64_t since; /* timestamp since which `waits` has waited for its turn */
	const struct why_cpu *needless;
	const struct why_thread *sleeps; /* the thread whose sleep has been late for longest */
	uint32_t late;			 /* number of sleeps that are late */
};

/* `late`: late sleeps of threads that last ran on the CPU; `total`: number of all late sleeps */
static bool is_unstarted(const struct why_evidence *evidence, const struct why_cpu *cpu,
			 const struct why_late *late, uint32_t total, struct unstarted *one)
{
	*one = (struct unstarted){ .other = why_ticks_elsewhere(evidence, cpu) };
	if (!one->other)
		return false;
	one->late = late->count == total ? total : 0;
	one->sleeps = late->longest;
	if (why_could_take_ticks(evidence, cpu)) {
		one->waits = waits_for_turn(evidence, cpu, &one->since);
		one->needless = why_is_there_for_long(evidence, cpu) ? ticks_needlessly(evidence, cpu) : NULL;
	}
	return one->late || one->waits || one->needless;
}

static void say_unstarted(const struct why_evidence *evidence, const struct why_cpu *cpu,
			  const struct unstarted *one, struct why_finding *finding)
{
	char who[WHY_WORDS], runs[WHY_WORDS], ticks[WHY_WORDS], more[WHY_WORDS] = "";

	if (one->late > 1)
		why_say(more, sizeof(more), ", and so should %" PRIu32 " more thread%s", one->late - 1,
			finding_plural(one->late - 1));
	if (one->late) {
		finding_evidence(&finding->base,
				 "%s, which last ran there, should have been woken %s ago%s; elsewhere, no "
				 "sleep is late",
				 why_say_actor(evidence, one->sleeps->id + 1, who, sizeof(who)),
				 why_say_ticks(evidence, why_age(evidence, one->sleeps->holder.deadline),
					       ticks, sizeof(ticks)),
				 more);
		why_finding_actor(finding, (struct why_actor){ .id = one->sleeps->id + 1,
							       .waits = one->sleeps->holder.object });
	}
	if (one->waits) {
		why_say_running(evidence, cpu, runs, sizeof(runs));
		finding_evidence(
			&finding->base, "%s has been runnable on CPU %" PRIu32 " for %s, while %s runs",
			why_say_actor(evidence, one->waits->id + 1, who, sizeof(who)), cpu->number,
			why_say_ticks(evidence, why_age(evidence, one->since), ticks, sizeof(ticks)), runs);
		why_finding_actor(finding, (struct why_actor){ .id = one->waits->id + 1,
							       .ticks = why_age(evidence, one->since) });
	}
	if (one->needless)
		finding_evidence(&finding->base,
				 "%s runs there; the timer of CPU %" PRIu32
				 " ticks also if no thread is to be woken",
				 why_say_running(evidence, cpu, runs, sizeof(runs)), one->needless->number);
}

static int found_unstarted(const struct why_evidence *evidence, struct why_findings *findings,
			   const struct why_cpu *cpu, const struct unstarted *found)
{
	const struct why_irq_kind *tick;
	struct why_finding *finding;
	char ticks[WHY_WORDS];

	finding = why_finding_new(findings, WHY_DEAD_TIMER, FINDING_LIKELY);
	if (!finding)
		return KTREAD_E_MEMORY;
	tick = why_most_frequent(found->other);
	finding_say(finding->base.what,
		    "the timer of CPU %" PRIu32 " was never started: the CPU never had a tick", cpu->number);
	why_finding_actor(finding, (struct why_actor){ .id = KTRX_HOLDER_CPU | cpu->number,
						       .ticks = why_age(evidence, cpu->first_stamp) });
	finding_evidence(&finding->base,
			 "CPU %" PRIu32 " has had %" PRIu64 " ticks of its own, the last one %s ago",
			 found->other->number, found->other->row.heartbeats,
			 why_say_ticks(evidence, why_age(evidence, found->other->row.heartbeat_stamp), ticks,
				       sizeof(ticks)));
	if (tick)
		finding_evidence(&finding->base,
				 "interrupt %" PRIu32 " came %" PRIu64
				 " times there, and never on CPU %" PRIu32 ", in this trace",
				 tick->number, tick->entered, cpu->number);
	say_unstarted(evidence, cpu, found, finding);
	return 0;
}

static int look_for_unstarted(const struct why_evidence *evidence, struct why_findings *findings)
{
	struct why_late *late;
	struct unstarted one;
	uint32_t total;
	int error = 0;

	if (why_waits_mean_nothing(evidence) || evidence->cpus < 3)
		return 0;
	late = malloc(evidence->cpus * sizeof(*late));
	if (!late)
		return KTREAD_E_MEMORY;
	total = why_late_on_cpus(evidence, late);
	for (uint32_t n = 0; n < evidence->cpus && !error; n++)
		if (is_unstarted(evidence, &evidence->cpu[n], &late[n], total, &one))
			error = found_unstarted(evidence, findings, &evidence->cpu[n], &one);
	free(late);
	return error;
}

int why_detect_dead_timer(const struct why_evidence *evidence, struct why_findings *findings)
{
	const struct why_thread *runs;
	uint32_t dead = 0;
	int error = 0;

	for (uint32_t n = 0; n < evidence->cpus && !error; n++) {
		const struct why_cpu *cpu = &evidence->cpu[n];

		if (!why_has_stopped(evidence, cpu) || why_lacks_eoi(evidence, cpu) ||
		    has_another_reason(evidence, cpu) || !is_tick_overdue(evidence, cpu) ||
		    late_sleepers(evidence, cpu) == 0)
			continue;
		dead++;
		runs = keeper(evidence, cpu);
		error = runs ? found_keeper(evidence, findings, cpu, runs) : found(evidence, findings, cpu);
	}
	if (!error && !dead)
		error = look_at_all(evidence, findings);
	return error ? error : look_for_unstarted(evidence, findings);
}
