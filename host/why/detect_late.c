/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Things that come late or not at all: answers of CPUs to IPIs, ends of timed sleeps, answers of devices. */
#include <inttypes.h>
#include <string.h>

#include "why/answers.h"
#include "why/finding.h"
#include "why/pulse.h"
#include "why/untimed.h"

/*
 * A CPU waits for another CPU's answer to an IPI, and the answer does not come. If another detector finds the
 * reason, this finding is dropped.
 */

/* time in ms after which an answer is late; a host rarely stops a virtual CPU for this long */
#define LATE_MS 1500u
/* time in ms that is used instead of LATE_MS if the host reports that the machine stopped */
#define STALLED_MS 250u
#define SHOWN	   8u /* maximum number of CPUs without an answer in the list of a finding */
/*
 * maximum number of findings, one for each waiting CPU; the report's list of CPUs shows the other waits, too
 */
#define MOST 8u

static bool is_late(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	const uint64_t late = why_ms(evidence, evidence->stalled ? STALLED_MS : LATE_MS);

	return why_awaits_answer(cpu) && late && why_age(evidence, cpu->row.ipi_stamp) >= late;
}

static int found(const struct why_evidence *evidence, struct why_findings *findings,
		 const struct why_cpu *asker)
{
	struct why_finding *finding = why_finding_new(findings, WHY_OVERDUE, FINDING_LIKELY);
	char line[FINDING_LINE];
	uint32_t owing = 0;

	if (!finding)
		return KTREAD_E_MEMORY;
	finding_say(finding->base.what, "%s", why_say_awaited_answer(evidence, asker, line, sizeof(line)));
	why_finding_actor(finding, (struct why_actor){ .id = KTRX_HOLDER_CPU | asker->number,
						       .ticks = why_age(evidence, asker->row.ipi_stamp),
						       .pc = asker->row.ipi_pc });
	for (uint32_t n = 0; n < evidence->cpus; n++) {
		const struct why_cpu *asked = &evidence->cpu[n];

		if (!why_awaits_answer_of(asker, asked) || owing++ >= SHOWN)
			continue;
		finding_evidence(&finding->base, "%s",
				 why_say_missing_answer(evidence, asked, line, sizeof(line)));
		why_finding_actor(finding,
				  (struct why_actor){ .id = KTRX_HOLDER_CPU | n,
						      .pc = asked->has_registers ? asked->pc : asked->row.pc,
						      .exact = true });
	}
	if (owing > SHOWN)
		finding_evidence(&finding->base, "%" PRIu32 " more CPU%s not answered", owing - SHOWN,
				 owing - SHOWN == 1 ? " has" : "s have");
	if (*why_say_unanswerable(evidence, asker, line, sizeof(line))) {
		finding_evidence(&finding->base, "%s", line);
	} else if (owing == 0) {
		finding->base.certain = FINDING_POSSIBLE;
		finding_evidence(&finding->base,
				 "all CPUs that were asked have answered: "
				 "ktrace_ipi_wait_end() was not called, or answers were lost");
	}
	return 0;
}

int why_detect_answer(const struct why_evidence *evidence, struct why_findings *findings)
{
	uint32_t late = 0;
	int error = 0;

	if (why_ended_well(evidence) || evidence->panic.stamp)
		return 0;
	for (uint32_t n = 0; n < evidence->cpus && late < MOST && !error; n++) {
		if (!is_late(evidence, &evidence->cpu[n]))
			continue;
		late++;
		error = found(evidence, findings, &evidence->cpu[n]);
	}
	return error;
}

/*
 * Threads that still sleep long after their deadline. A kernel that counts ticks may lose some, for example
 * because the host stops a virtual CPU. Its clock then runs slow, and each sleep becomes longer by the same
 * factor. So a sleep is late only if its delay is many times the planned length.
 */

#define SLEEPS_MOST 8u /* maximum number of findings */
#define LONG_MS	    2000u
#define TIMES_SLOW  8u /* a sleep is late if its delay is at least this many times its planned length */

/*
 * Returns the CPU whose ticks end the thread's sleeps. This is the CPU on which the thread last ran. If that
 * CPU never had a tick, returns the CPU with the newest tick, because one CPU may count the ticks for all
 * CPUs.
 */
static const struct why_cpu *ticking_for(const struct why_evidence *evidence, uint32_t number)
{
	const struct why_cpu *cpu = &evidence->cpu[number];

	for (uint32_t n = 0; n < evidence->cpus && evidence->cpu[number].row.heartbeats == 0; n++)
		if (evidence->cpu[n].row.heartbeat_stamp > cpu->row.heartbeat_stamp)
			cpu = &evidence->cpu[n];
	return cpu;
}

static uint64_t slept_since(const struct ktrx_holder *row)
{
	return row->state_stamp > row->wait_stamp ? row->state_stamp : row->wait_stamp;
}

/* Returns whether a thread sleeps although the deadline of its sleep passed long ago. */
static bool is_past(const struct why_evidence *evidence, const struct why_thread *thread)
{
	const struct ktrx_holder *row = &thread->holder;

	return thread->has_holder && row->state == KTRX_THREAD_WAITING && !thread->idle &&
	       row->deadline > slept_since(row) && evidence->alive >= row->deadline &&
	       evidence->alive - row->deadline >= why_ms(evidence, LONG_MS);
}

bool why_any_sleep_is_late(const struct why_evidence *evidence)
{
	for (uint32_t n = 0; n < evidence->threads; n++)
		if (is_past(evidence, &evidence->thread[n]))
			return true;
	return false;
}

/*
 * Returns the deadline of a sleeping thread if the deadline passed long ago and the CPU of ticking_for() has
 * had ticks since then. Otherwise returns 0. A deadline before the beginning of the sleep is not valid: the
 * kernel passes it in the wrong units.
 */
static uint64_t past_since(const struct why_evidence *evidence, const struct why_thread *thread)
{
	const struct ktrx_holder *row = &thread->holder;
	const uint64_t late = why_ms(evidence, LONG_MS), begin = slept_since(row);

	if (!is_past(evidence, thread) || row->cpu >= evidence->cpus)
		return 0;
	if ((evidence->alive - row->deadline) / TIMES_SLOW < row->deadline - begin)
		return 0;
	return ticking_for(evidence, row->cpu)->row.heartbeat_stamp >= row->deadline + late / 2
		       ? row->deadline
		       : 0;
}

uint32_t why_late_sleeps(const struct why_evidence *evidence, const struct why_cpu *cpu,
			 const struct why_thread **longest)
{
	uint64_t first = UINT64_MAX;
	uint32_t count = 0;

	*longest = NULL;
	for (uint32_t n = 0; n < evidence->threads; n++) {
		const struct why_thread *thread = &evidence->thread[n];
		const uint64_t since = past_since(evidence, thread);

		if (since == 0 || ticking_for(evidence, thread->holder.cpu) != cpu)
			continue;
		count++;
		if (since >= first)
			continue;
		*longest = thread;
		first = since;
	}
	return count;
}

uint32_t why_late_on_cpus(const struct why_evidence *evidence, struct why_late *late)
{
	uint32_t total = 0;

	for (uint32_t n = 0; n < evidence->cpus; n++)
		late[n] = (struct why_late){ .since = UINT64_MAX };
	for (uint32_t n = 0; n < evidence->threads; n++) {
		const uint64_t since = past_since(evidence, &evidence->thread[n]);
		struct why_late *one = since ? &late[evidence->thread[n].holder.cpu] : NULL;

		if (!one)
			continue;
		total++;
		one->count++;
		if (since >= one->since)
			continue;
		one->since = since;
		one->longest = &evidence->thread[n];
	}
	return total;
}

static int found_past(const struct why_evidence *evidence, struct why_findings *findings,
		      const struct why_thread *thread, uint64_t since)
{
	struct why_finding *finding = why_finding_new(findings, WHY_OVERDUE, FINDING_LIKELY);
	const struct why_cpu *cpu = ticking_for(evidence, thread->holder.cpu);
	char who[WHY_WORDS], ticks[WHY_WORDS], place[WHY_WORDS];

	if (!finding)
		return KTREAD_E_MEMORY;
	finding_say(finding->base.what, "%s still sleeps %s after its deadline%s",
		    why_say_actor(evidence, thread->id + 1, who, sizeof(who)),
		    why_say_ticks(evidence, why_age(evidence, since), ticks, sizeof(ticks)),
		    why_say_called(evidence, ", at ", thread->holder.wait_pc, place, sizeof(place)));
	if (cpu->number == thread->holder.cpu)
		finding_evidence(&finding->base, "CPU %" PRIu32 ", where it last ran, still has ticks: %s",
				 cpu->number, why_say_beat(evidence, cpu, ticks, sizeof(ticks)));
	else
		finding_evidence(&finding->base,
				 "CPU %" PRIu32 ", where it last ran, never had a tick, but CPU %" PRIu32
				 " still has ticks: %s",
				 thread->holder.cpu, cpu->number,
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
	for (uint32_t n = 0; n < evidence->threads && count < SLEEPS_MOST && !error; n++) {
		const uint64_t since = past_since(evidence, &evidence->thread[n]);

		if (since == 0)
			continue;
		count++;
		error = found_past(evidence, findings, &evidence->thread[n], since);
	}
	return error;
}

/*
 * Slow device: most of its answers come soon, but some come very late. A single late answer shows nothing if
 * the machine, or its host, may have paused for a moment. Waits for other devices are not compared, because
 * some devices are always slow.
 */

#define WAITS_LEAST  8u
#define SOON_PART    4u	  /* at most one answer in SOON_PART may take 100 ms or more */
#define TIMES_WORSE  8u	  /* minimum ratio of a late answer to the mean of the answers that came soon */
#define SINGLE_MS    500u /* time in ms: minimum length of a single late answer that is reported */
#define SLEEPS_LEAST 2u
#define UNSEEN_PART  4u

/*
 * Returns whether timed sleeps ended late during the longest wait. If so, the machine or its host was slow at
 * that time, and the device may have answered in time.
 */
static bool all_was_slow(const struct why_waits *waits)
{
	return waits->worst_late >= SLEEPS_LEAST && waits->worst_late >= waits->worst_punctual;
}

/*
 * Returns whether the host may have stopped a virtual CPU for a large part of the longest wait. If so, the
 * device may have answered in time, but that CPU did not run.
 */
static bool was_not_run(const struct why_waits *waits)
{
	return waits->worst_unseen >= waits->ticks.greatest / UNSEEN_PART;
}

/* The answers of the device that gave the latest answer. */
struct answers {
	uint64_t count;
	uint64_t slows; /* number of answers after 100 ms or more */
	uint64_t mean;	/* mean time in ticks of the other answers */
	bool late;	/* the latest answer came far later than the device usually answers */
	bool again;	/* three answers to one object were so late, one after the other */
};

/*
 * Returns whether the queues belong to one device: they have the same name. Some kernels give each request an
 * object of its own.
 */
static bool is_of_device(const struct why_evidence *evidence, const struct why_queue *queue,
			 const struct why_queue *worst)
{
	const char *name = why_object_name(evidence, worst->address);

	return queue == worst || (*name && strcmp(name, why_object_name(evidence, queue->address)) == 0);
}

static struct answers answers_of_worst(const struct why_evidence *evidence)
{
	const struct why_waits *waits = &evidence->device;
	const struct why_queue *worst = why_queue_find(evidence, waits->worst_object);
	struct answers answers = { 0 };
	uint64_t soon = 0, third = 0;

	if (!worst)
		worst = why_queue_of_thread(evidence, waits->worst_thread);
	if (waits->ticks.count == 0 || !worst)
		return answers;
	for (uint32_t n = 0; n < evidence->queues; n++) {
		const struct why_queue *queue = &evidence->queue[n];
		uint64_t least = queue->slow[0];

		if (!is_of_device(evidence, queue, worst))
			continue;
		answers.count += queue->answers;
		answers.slows += queue->slows;
		soon += queue->soon;
		for (uint32_t k = 1; k < 3; k++)
			least = queue->slow[k] < least ? queue->slow[k] : least;
		third = least > third ? least : third;
	}
	if (answers.count < WAITS_LEAST || answers.slows == 0 || answers.slows > answers.count / SOON_PART)
		return answers;
	answers.mean = soon / (answers.count - answers.slows);
	answers.again = third > 0 && third / TIMES_WORSE >= answers.mean;
	answers.late = answers.again || (waits->ticks.greatest >= why_ms(evidence, SINGLE_MS) &&
					 waits->ticks.greatest / TIMES_WORSE >= answers.mean);
	return answers;
}

void why_slow_explain(const struct why_evidence *evidence, struct why_finding *finding)
{
	const struct why_waits *waits = &evidence->device;
	char worst[WHY_WORDS], what[WHY_WORDS], who[WHY_WORDS], unseen[WHY_WORDS];

	if (!answers_of_worst(evidence).late || (!all_was_slow(waits) && !was_not_run(waits)))
		return;
	why_say_ticks(evidence, waits->ticks.greatest, worst, sizeof(worst));
	why_say_object(evidence, waits->worst_object, what, sizeof(what));
	why_say_actor(evidence, waits->worst_thread + 1, who, sizeof(who));
	finding_evidence(&finding->base,
			 "%s waited %s for device %s, but the device may not be the cause:", who, worst,
			 what);
	if (all_was_slow(waits))
		finding_evidence(&finding->base,
				 "  %" PRIu32 " of %" PRIu32
				 " timed sleeps in that time ended late as well: the whole machine was slow",
				 waits->worst_late, waits->worst_late + waits->worst_punctual);
	if (was_not_run(waits))
		finding_evidence(&finding->base,
				 "  CPU %" PRIu32
				 " recorded nothing for %s of that: the host may not have run it",
				 waits->worst_cpu,
				 why_say_ticks(evidence, waits->worst_unseen, unseen, sizeof(unseen)));
}

int why_detect_slow(const struct why_evidence *evidence, struct why_findings *findings)
{
	const struct why_waits *waits = &evidence->device;
	char half[WHY_WORDS], worst[WHY_WORDS], what[WHY_WORDS], who[WHY_WORDS], ago[WHY_WORDS];
	const struct answers answers = answers_of_worst(evidence);
	char mean[WHY_WORDS];
	struct why_finding *finding;

	if (!answers.late || all_was_slow(waits) || was_not_run(waits))
		return 0;
	finding = why_finding_new(findings, WHY_SLOW, answers.again ? FINDING_LIKELY : FINDING_POSSIBLE);
	if (!finding)
		return KTREAD_E_MEMORY;
	why_say_ticks(evidence, waits->half, half, sizeof(half));
	why_say_ticks(evidence, waits->ticks.greatest, worst, sizeof(worst));
	why_say_object(evidence, waits->worst_object, what, sizeof(what));
	why_say_actor(evidence, waits->worst_thread + 1, who, sizeof(who));
	why_say_ticks(evidence, why_age(evidence, waits->worst_begin), ago, sizeof(ago));
	finding_say(finding->base.what, "the machine is alive, but %s waited %s for device %s", who, worst,
		    what);
	finding_evidence(&finding->base,
			 "%" PRIu64 " waits for devices ended: half of them within %s, the longest took %s",
			 waits->ticks.count, half, worst);
	finding_evidence(&finding->base,
			 "the longest wait began %s ago, by %s, for device %s; %" PRIu64
			 " other%s ended during that wait",
			 ago, who, what, waits->worst_overtaken, finding_plural(waits->worst_overtaken));
	finding_evidence(&finding->base,
			 "this device answered %" PRIu64 " times, %" PRIu64
			 " of them after 100 ms or more; the others "
			 "took %s on average",
			 answers.count, answers.slows,
			 why_say_ticks(evidence, answers.mean, mean, sizeof(mean)));
	finding_refer(&finding->base, waits->worst_begin, waits->worst_thread + 1, waits->worst_object);
	why_finding_actor(finding, (struct why_actor){ .id = waits->worst_thread + 1,
						       .waits = waits->worst_object,
						       .ticks = waits->ticks.greatest });
	return 0;
}
