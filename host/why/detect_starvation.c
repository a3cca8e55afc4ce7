/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Starvation: a thread is runnable for long and does not run. Either the timer of its CPU ticks nevertheless,
 * or another thread keeps that CPU with preemption disabled. There must be a reason why other threads run:
 * they have a higher priority, or one of them has kept the CPU all the time. If no such reason is known, or
 * if the thread may have ended, detect_bookkeeping.c reports the thread. Other detectors find a CPU that runs
 * no thread at all.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

/* A starved thread. */
struct starved {
	struct why_turn turn;
	const struct why_thread *runs; /* the thread that runs on the CPU instead */
	bool outranked;		       /* `runs` has a higher priority; otherwise, it has run all the time */
	bool outranks;		       /* `runs` has a lower priority */
	bool asks;		       /* the CPU waits for an answer to its IPI */
};

/*
 * Starved threads. In a list of threads that are starved for the same reason, the longest wait comes first.
 */
struct starved_list {
	struct starved *one;
	uint32_t count;
};

/*
 * Puts threads that are reported together next to each other: they are starved for the same reason, and it is
 * equally certain that they are runnable.
 */
static int by_cause(const void *left, const void *right)
{
	const struct starved *a = left, *b = right;

	if (a->turn.cpu != b->turn.cpu)
		return a->turn.cpu->number < b->turn.cpu->number ? -1 : 1;
	if (a->runs != b->runs)
		return a->runs->id < b->runs->id ? -1 : 1;
	if (a->turn.by_table != b->turn.by_table)
		return a->turn.by_table ? -1 : 1;
	if (a->turn.weak != b->turn.weak)
		return a->turn.weak ? 1 : -1;
	if (a->outranked != b->outranked)
		return a->outranked ? -1 : 1;
	if (a->outranks != b->outranks)
		return a->outranks ? -1 : 1;
	return a->asks == b->asks ? 0 : a->asks ? -1 : 1;
}

static int by_cause_and_wait(const void *left, const void *right)
{
	const struct starved *a = left, *b = right;
	const int order = by_cause(a, b);

	if (order)
		return order;
	if (a->turn.since != b->turn.since)
		return a->turn.since < b->turn.since ? -1 : 1;
	return a->turn.thread->id < b->turn.thread->id ? -1 : a->turn.thread->id > b->turn.thread->id;
}

/* Formats the priorities of the threads: "thread 5 (make) has priority 3", "they have priorities 1 to 3". */
static const char *say_lower(const struct why_evidence *evidence, const struct starved_list *group,
			     char *buffer, size_t size)
{
	const struct why_thread *first = group->one[0].turn.thread;
	uint32_t low = first->holder.priority, high = low;
	char who[WHY_WORDS];

	if (group->count == 1)
		return why_say(buffer, size, "%s has priority %" PRIu32,
			       why_say_actor(evidence, first->id + 1, who, sizeof(who)), low);
	for (uint32_t n = 1; n < group->count; n++) {
		const uint32_t priority = group->one[n].turn.thread->holder.priority;

		low = priority < low ? priority : low;
		high = priority > high ? priority : high;
	}
	if (low == high)
		return why_say(buffer, size, "they have priority %" PRIu32, low);
	return why_say(buffer, size, "they have priorities from %" PRIu32 " to %" PRIu32, low, high);
}

static void say_priorities(const struct why_evidence *evidence, struct why_finding *finding,
			   const struct starved_list *group)
{
	const struct why_thread *runs = group->one[0].runs;
	const struct why_cpu *cpu = group->one[0].turn.cpu;
	char who[WHY_WORDS], lower[2 * WHY_WORDS];

	why_say_actor(evidence, runs->id + 1, who, sizeof(who));
	if (group->one[0].outranked)
		finding_evidence(&finding->base, "%s runs there with priority %" PRIu32 "; %s", who,
				 (uint32_t)runs->holder.priority,
				 say_lower(evidence, group, lower, sizeof(lower)));
	else
		finding_evidence(&finding->base, "%s has run there all that time", who);
	if (cpu->has_row && cpu->row.preempt)
		finding_evidence(&finding->base, "preemption is disabled on CPU %" PRIu32, cpu->number);
}

static const char *say_starved(const struct why_evidence *evidence, const struct starved_list *group,
			       char *buffer, size_t size)
{
	char one[WHY_WORDS], two[WHY_WORDS];

	why_say_actor(evidence, group->one[0].turn.thread->id + 1, one, sizeof(one));
	if (group->count == 1)
		return why_say(buffer, size, "%s has", one);
	why_say_actor(evidence, group->one[1].turn.thread->id + 1, two, sizeof(two));
	if (group->count == 2)
		return why_say(buffer, size, "%s and %s have", one, two);
	return why_say(buffer, size, "%s, %s and %" PRIu32 " other%s have", one, two, group->count - 2,
		       finding_plural(group->count - 2));
}

/* Adds a line with the threads that the finding's first line does not name. */
static void say_others(const struct why_evidence *evidence, struct why_finding *finding,
		       const struct starved_list *group)
{
	char line[FINDING_LINE] = "", who[WHY_WORDS];
	size_t used = 0;
	uint32_t n = 2;

	for (; n < group->count && used < sizeof(line) - sizeof(who) - 16; n++) {
		why_say(line + used, sizeof(line) - used, "%s%s", used ? ", " : "",
			why_say_actor(evidence, group->one[n].turn.thread->id + 1, who, sizeof(who)));
		used += strlen(line + used);
	}
	if (n < group->count)
		why_say(line + used, sizeof(line) - used, " and %" PRIu32 " more", group->count - n);
	if (used)
		finding_evidence(&finding->base, "the others: %s", line);
}

/*
 * Returns how certain the finding is. It is not certain if the thread may have ended, or may sleep, without a
 * report. If a thread of lower priority runs, it is known that preemption is disabled now, but not that it
 * has been disabled all the time.
 */
static enum finding_certainty how_certain(const struct starved *one)
{
	return one->turn.by_table && !one->turn.weak && one->turn.cpu->row.heartbeats && !one->outranks
		       ? FINDING_CERTAIN
		       : FINDING_LIKELY;
}

/* Reports threads that are starved for the same reason. The first one has waited longest. */
static int report(const struct why_evidence *evidence, struct why_findings *findings,
		  const struct starved_list *group)
{
	const struct why_turn *starved = &group->one[0].turn;
	const struct why_thread *runs = group->one[0].runs;
	struct why_finding *finding = why_finding_new(findings, WHY_STARVATION, how_certain(group->one));
	char who[FINDING_LINE], waits[WHY_WORDS];
	const uint64_t ticks = why_age(evidence, starved->since);

	if (!finding)
		return KTREAD_E_MEMORY;
	finding_say(finding->base.what, "%s been runnable on CPU %" PRIu32 " for %s%s and %s not run%s",
		    say_starved(evidence, group, who, sizeof(who)), starved->cpu->number,
		    group->count > 1 ? "up to " : "", why_say_ticks(evidence, ticks, waits, sizeof(waits)),
		    group->count > 1 ? "have" : "has",
		    waits_for_answer(evidence, starved) ? ", while that CPU waits for an answer to its IPI"
							: "");
	why_finding_actor(finding, (struct why_actor){ .id = starved->thread->id + 1, .ticks = ticks });
	say_priorities(evidence, finding, group);
	why_finding_actor(finding,
			  (struct why_actor){ .id = runs->id + 1,
					      .pc = starved->cpu->row.heartbeats ? starved->cpu->row.pc
										 : starved->cpu->pc,
					      .exact = true });
	for (uint32_t n = 1; n < group->count; n++)
		why_finding_actor(finding,
				  (struct why_actor){ .id = group->one[n].turn.thread->id + 1,
						      .ticks = why_age(evidence, group->one[n].turn.since) });
	say_others(evidence, finding, group);
	if (starved->weak)
		finding_evidence(&finding->base, "%s, without a report",
				 group->count > 1 ? "only switches away from them are recorded: they may "
						    "have ended, or may sleep"
						  : "only a switch away from it is recorded: it may have "
						    "ended, or may sleep");
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

static bool is_outranked(const struct why_thread *thread, const struct why_thread *by)
{
	return thread->holder.priority && by->holder.priority > thread->holder.priority;
}

/*
 * Lists the starved threads, those with the same cause next to each other. Returns 0 or KTREAD_E_MEMORY. The
 * caller frees the array in any case.
 */
static int list_starved(const struct why_evidence *evidence, struct starved_list *list)
{
	uint32_t *runnable = count_runnable(evidence);
	struct starved one;
	bool has_room;

	list->one = calloc((size_t)evidence->threads + 1, sizeof(*list->one));
	for (uint32_t n = 0; runnable && list->one && n < evidence->threads; n++) {
		if (!counts(evidence, &evidence->thread[n], &one.turn) ||
		    !is_starved(evidence, &one.turn, runnable[one.turn.cpu->number]) ||
		    !why_turn_is_explained(evidence, &one.turn, &one.runs))
			continue;
		one.outranked = is_outranked(one.turn.thread, one.runs);
		one.outranks = is_outranked(one.runs, one.turn.thread);
		one.asks = waits_for_answer(evidence, &one.turn);
		list->one[list->count++] = one;
	}
	has_room = runnable && list->one;
	free(runnable);
	if (list->count)
		qsort(list->one, list->count, sizeof(*list->one), by_cause_and_wait);
	return has_room ? 0 : KTREAD_E_MEMORY;
}

int why_detect_starvation(const struct why_evidence *evidence, struct why_findings *findings)
{
	struct starved_list list = { 0 }, group;
	int error;

	if (why_ended_well(evidence))
		return 0;
	error = list_starved(evidence, &list);
	for (uint32_t n = 0; n < list.count && !error; n += group.count) {
		group = (struct starved_list){ .one = &list.one[n], .count = 1 };
		while (n + group.count < list.count && by_cause(group.one, &group.one[group.count]) == 0)
			group.count++;
		error = report(evidence, findings, &group);
	}
	free(list.one);
	return error;
}
