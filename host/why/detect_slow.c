/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Slow but alive: devices answer, and most answers come soon, but some very late. */
#include <inttypes.h>

#include "why/detectors.h"
#include "why/pulse.h"

#define WAITS_LEAST  8u
#define LATES_LEAST  3u /* late answers that make it likely */
#define SLEEPS_LEAST 2u
#define UNSEEN_PART  4u

/*
 * Threads that only slept for a time meanwhile woke as late: the machine, or the host under it, was slow,
 * whatever the device did.
 */
static bool all_was_slow(const struct why_waits *waits)
{
	return waits->worst_late >= SLEEPS_LEAST && waits->worst_late >= waits->worst_punctual;
}

/*
 * The host did not run a virtual CPU for a good part of the wait, and the answer may have been due on that
 * CPU.
 */
static bool was_not_run(const struct why_waits *waits)
{
	return waits->worst_unseen >= waits->ticks.greatest / UNSEEN_PART;
}

static bool is_slow(const struct why_waits *waits)
{
	return waits->ticks.count >= WAITS_LEAST && waits->late && waits->ticks.greatest >= waits->late;
}

void why_slow_explain(const struct why_evidence *evidence, struct why_finding *finding)
{
	const struct why_waits *waits = &evidence->device;
	char worst[WHY_WORDS], what[WHY_WORDS], who[WHY_WORDS], unseen[WHY_WORDS];

	if (!is_slow(waits) || (!all_was_slow(waits) && !was_not_run(waits)))
		return;
	why_say_ticks(evidence, waits->ticks.greatest, worst, sizeof(worst));
	why_say_object(evidence, waits->worst_object, what, sizeof(what));
	why_say_actor(evidence, waits->worst_thread + 1, who, sizeof(who));
	finding_evidence(&finding->base, "%s waited %s for %s, and the device need not be the cause:", who,
			 worst, what);
	if (all_was_slow(waits))
		finding_evidence(
			&finding->base,
			"  %" PRIu32 " of %" PRIu32
			" waits for a time that overlap it ended late as well: all of the machine was slow",
			waits->worst_late, waits->worst_late + waits->worst_punctual);
	if (was_not_run(waits))
		finding_evidence(&finding->base,
				 "  CPU %" PRIu32
				 " recorded nothing for %s of that: its host may not have run it",
				 waits->worst_cpu,
				 why_say_ticks(evidence, waits->worst_unseen, unseen, sizeof(unseen)));
}

int why_detect_slow(const struct why_evidence *evidence, struct why_findings *findings)
{
	const struct why_waits *waits = &evidence->device;
	char half[WHY_WORDS], worst[WHY_WORDS], what[WHY_WORDS], who[WHY_WORDS], ago[WHY_WORDS];
	struct why_finding *finding;

	if (!is_slow(waits) || all_was_slow(waits) || was_not_run(waits))
		return 0;
	finding = why_finding_new(findings, WHY_SLOW,
				  waits->lates >= LATES_LEAST ? FINDING_LIKELY : FINDING_POSSIBLE);
	if (!finding)
		return KTREAD_E_MEMORY;
	why_say_ticks(evidence, waits->half, half, sizeof(half));
	why_say_ticks(evidence, waits->ticks.greatest, worst, sizeof(worst));
	why_say_object(evidence, waits->worst_object, what, sizeof(what));
	why_say_actor(evidence, waits->worst_thread + 1, who, sizeof(who));
	why_say_ticks(evidence, why_age(evidence, waits->worst_begin), ago, sizeof(ago));
	finding_say(finding->base.what, "the machine is alive, but %s waited %s for %s", who, worst, what);
	finding_evidence(&finding->base,
			 "%" PRIu64 " waits for devices ended: half of them within %s, the worst took %s",
			 waits->ticks.count, half, worst);
	finding_evidence(&finding->base,
			 "the worst began %s ago, by %s, for %s; while it lasted %" PRIu64 " others ended",
			 ago, who, what, waits->worst_overtaken);
	why_finding_actor(finding, (struct why_actor){ .id = waits->worst_thread + 1,
						       .waits = waits->worst_object,
						       .ticks = waits->ticks.greatest });
	return 0;
}
