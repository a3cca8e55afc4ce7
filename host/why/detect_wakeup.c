/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Missing wakeups: groups of threads that wait for each other's wakeups. In each group, the thread that has
 * slept longest missed its wakeup: the other threads still ran after it went to sleep, and should have woken
 * it. There is one exception. If the newest wakeup of a thread came while the thread was going to sleep, the
 * wakeup found no thread asleep, and this thread is the one that missed its wakeup.
 */
#include <inttypes.h>

#include "why/finding.h"
#include "why/pulse.h"
#include "why/untimed.h"

#define HABIT 16u /* minimum number of wakeups that show reliably which threads wake each other */

static void add_actor(const struct why_evidence *evidence, struct why_finding *finding,
		      const struct why_sleeper *sleeper)
{
	const struct why_actor actor = {
		.id = sleeper->thread->id + 1,
		.waits = sleeper->queue->address,
		.ticks = why_age(evidence, sleeper->since),
		.pc = sleeper->pc,
	};

	why_finding_actor(finding, actor);
}

static const char *say_ago(const struct why_evidence *evidence, uint64_t stamp, char *buffer, size_t size)
{
	return why_say_ticks(evidence, why_age(evidence, stamp), buffer, size);
}

/* Adds a line "thread 8 (printer) has waited 2.31 s on spooler (0x1234), at take_job+0x30 (spooler.c:65)". */
static void add_sleeper(const struct why_evidence *evidence, struct why_finding *finding,
			const struct why_sleeper *sleeper)
{
	char who[WHY_WORDS], waits[FINDING_LINE];

	finding_evidence(&finding->base, "%s %s",
			 why_say_actor(evidence, sleeper->thread->id + 1, who, sizeof(who)),
			 why_say_waiting(evidence, KTRX_WAIT_EVENT, sleeper->queue->address, sleeper->since,
					 sleeper->pc, waits, sizeof(waits)));
	finding_refer(&finding->base, sleeper->since, sleeper->thread->id + 1, sleeper->queue->address);
	add_actor(evidence, finding, sleeper);
}

/* Adds a line for each thread that has woken sleepers of the queue. */
static void add_wakers(const struct why_evidence *evidence, struct why_finding *finding,
		       const struct why_sleeper *sleeper)
{
	const struct why_queue *queue = sleeper->queue;
	char who[WHY_WORDS], what[WHY_WORDS], ago[WHY_WORDS];

	why_say_object(evidence, queue->address, what, sizeof(what));
	for (uint32_t n = 0; n < queue->wakers; n++) {
		const struct why_waker *waker = &queue->waker[n];

		if (waker->wakes == 0)
			continue;
		why_say_actor(evidence, waker->thread + 1, who, sizeof(who));
		say_ago(evidence, waker->last, ago, sizeof(ago));
		if (waker->wakes == 1)
			finding_evidence(&finding->base, "%s woke a thread on %s once, %s ago", who, what,
					 ago);
		else
			finding_evidence(&finding->base,
					 "%s woke threads on %s %" PRIu64 " times, the last time %s ago", who,
					 what, waker->wakes, ago);
		finding_refer(&finding->base, waker->last, waker->thread + 1, 0);
	}
}

/*
 * Returns whether a wakeup came while the thread was going to sleep. Returns true if the newest wakeup on its
 * queue found no thread asleep, and the thread only went to sleep after this wakeup: if the thread had
 * checked its condition after the wakeup, it would not have slept. Returns false for a thread that another
 * wakeup had just woken, because such a thread checks its condition again.
 */
static bool was_raced(const struct why_evidence *evidence, const struct why_sleeper *sleeper)
{
	const struct why_queue *queue = sleeper->queue;
	/*
	 * The order of two events of different CPUs is uncertain: the sleeper's last action may have come
	 * after the wakeup.
	 */
	const uint64_t apart =
		queue && queue->nobody_cpu != sleeper->thread->last_action_cpu ? evidence->doubt : 0;

	return queue->nobody && queue->nobody_thread != sleeper->thread->id &&
	       queue->nobody_stamp > queue->last_wake && queue->nobody_stamp < sleeper->since &&
	       sleeper->thread->last_action < queue->nobody_stamp &&
	       queue->nobody_stamp - sleeper->thread->last_action > apart &&
	       sleeper->thread->woken <= sleeper->thread->last_action &&
	       why_is_whole_since(evidence, queue->nobody_stamp);
}

static enum finding_certainty how_sure(const struct why_evidence *evidence, const struct why_sleeper *group,
				       uint32_t count, struct why_finding *finding)
{
	for (uint32_t n = 0; n < count; n++) {
		if (!group[n].by_table) {
			finding->base.partial = true;
			finding_say(finding->base.advice,
				    "call ktrace_block(), which records whether a sleep has a timeout");
			return FINDING_POSSIBLE;
		}
		if (!why_is_whole_since(evidence, group[n].queue->first)) {
			finding->base.partial = true;
			finding_say(finding->base.advice,
				    "use rings with more slots, "
				    "because events in which other threads woke these may be lost");
			return FINDING_POSSIBLE;
		}
	}
	return FINDING_LIKELY;
}

/*
 * Lowers the certainty to "possible" if there were few wakeups: threads that woke each other only a few times
 * may in fact all wait for a wakeup by another thread.
 */
static void doubt_few(const struct why_sleeper *group, uint32_t count, struct why_finding *finding)
{
	uint64_t least = group[0].queue->wakes;

	for (uint32_t n = 1; n < count; n++)
		if (group[n].queue->wakes < least)
			least = group[n].queue->wakes;
	if (least >= HABIT || finding->base.certain == FINDING_POSSIBLE)
		return;
	finding->base.certain = FINDING_POSSIBLE;
	if (least == 0)
		finding_say(finding->base.advice,
			    "check what else may wake them, because some were never woken from this wait");
	else
		finding_say(finding->base.advice,
			    "check what else may wake them, because %" PRIu64
			    " wakeup%s cannot show which threads they depend on",
			    least, finding_plural(least));
}

static void say_race(const struct why_evidence *evidence, struct why_finding *finding,
		     const struct why_sleeper *sleeper)
{
	const struct why_queue *queue = sleeper->queue;
	char who[WHY_WORDS], by[WHY_WORDS], what[WHY_WORDS], before[WHY_WORDS], where[WHY_WORDS];

	why_say_actor(evidence, sleeper->thread->id + 1, who, sizeof(who));
	why_say_actor(evidence, queue->nobody_thread + 1, by, sizeof(by));
	why_say_object(evidence, queue->address, what, sizeof(what));
	why_say_ticks(evidence, sleeper->since - queue->nobody_stamp, before, sizeof(before));
	finding_say(finding->base.what, "%s missed its wakeup: it went to sleep on %s %s after the wakeup",
		    who, what, before);
	if (queue->nobody_ip)
		finding_evidence(&finding->base, "%s woke %s and found no thread asleep, at %s", by, what,
				 why_say_call(evidence, queue->nobody_ip, where, sizeof(where)));
	else
		finding_evidence(&finding->base, "%s woke %s and found no thread asleep", by, what);
	finding_refer(&finding->base, queue->nobody_stamp, queue->nobody_thread + 1, queue->address);
	finding_evidence(&finding->base,
			 "%s has only gone to sleep since the wakeup: "
			 "it checked its condition before the wakeup, and not again",
			 who);
}

static void say_lost(const struct why_evidence *evidence, struct why_finding *finding,
		     const struct why_sleeper *sleeper)
{
	char who[WHY_WORDS], waits[FINDING_LINE];

	finding_say(finding->base.what, "%s %s, and the threads that used to wake it sleep as well",
		    why_say_actor(evidence, sleeper->thread->id + 1, who, sizeof(who)),
		    why_say_waiting(evidence, KTRX_WAIT_EVENT, sleeper->queue->address, sleeper->since, 0,
				    waits, sizeof(waits)));
	if (!finding->base.partial && !why_records_wake_nobody(evidence))
		finding_say(finding->base.advice,
			    "record sched.wake_nobody, "
			    "which distinguishes a wakeup that came too early from a missing one");
}

/*
 * Among the threads of this group that have woken other threads of the group, returns the thread that has
 * slept longest.
 */
static const struct why_sleeper *left_asleep(const struct why_sleeper *group, uint32_t count)
{
	for (uint32_t n = 0; n < count; n++)
		if (group[n].needed)
			return &group[n];
	return group;
}

static int find_in_group(const struct why_evidence *evidence, struct why_findings *findings,
			 const struct why_sleeper *group, uint32_t count)
{
	const struct why_sleeper *root = NULL;
	struct why_finding *finding;
	bool raced;

	for (uint32_t n = 0; n < count && !root; n++)
		if (was_raced(evidence, &group[n]))
			root = &group[n];
	raced = root;
	if (!raced)
		root = left_asleep(group, count);
	finding = why_finding_new(findings, raced ? WHY_WAKEUP_RACE : WHY_LOST_WAKEUP, FINDING_LIKELY);
	if (!finding)
		return KTREAD_E_MEMORY;
	finding->base.certain = how_sure(evidence, group, count, finding);
	if (raced)
		say_race(evidence, finding, root);
	else
		say_lost(evidence, finding, root);
	if (!raced)
		doubt_few(group, count, finding);
	add_sleeper(evidence, finding, root);
	add_wakers(evidence, finding, root);
	for (uint32_t n = 0; n < count; n++) {
		if (&group[n] == root)
			continue;
		add_sleeper(evidence, finding, &group[n]);
		if (group[n].queue != root->queue)
			add_wakers(evidence, finding, &group[n]);
	}
	return 0;
}

int why_detect_wakeup(const struct why_evidence *evidence, struct why_findings *findings)
{
	struct why_sleepers sleepers;
	uint32_t end;
	int error;

	if (why_ended_well(evidence))
		return 0;
	error = why_sleepers_find(&sleepers, evidence);
	for (uint32_t n = 0; n < sleepers.count && !error; n = end) {
		for (end = n + 1; end < sleepers.count; end++)
			if (sleepers.sleeper[end].group != sleepers.sleeper[n].group)
				break;
		error = find_in_group(evidence, findings, &sleepers.sleeper[n], end - n);
	}
	why_sleepers_free(&sleepers);
	return error;
}
