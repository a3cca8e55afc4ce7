/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What is said where no detector found anything: how much there is to go by, and what would tell more. */
#include <inttypes.h>
#include <string.h>

#include "why/detectors.h"
#include "why/pulse.h"

static bool is_empty(const struct why_evidence *evidence)
{
	for (uint32_t n = 0; n < evidence->cpus; n++)
		if (evidence->cpu[n].row.online || evidence->cpu[n].row.now)
			return false;
	return evidence->events == 0;
}

/* The first CPU that still is at what becomes its idle thread. */
static const struct why_cpu *one_that_starts(const struct why_evidence *evidence)
{
	for (uint32_t n = 0; n < evidence->cpus; n++) {
		const struct why_thread *thread = why_runs(evidence, &evidence->cpu[n]);

		if (thread && thread->idle && !why_idles(evidence, &evidence->cpu[n]))
			return &evidence->cpu[n];
	}
	return NULL;
}

static void say_what(const struct why_evidence *evidence, struct why_finding *finding)
{
	const struct why_cpu *starts = one_that_starts(evidence);
	char silence[WHY_WORDS];

	if (is_empty(evidence))
		finding_say(
			finding->base.what,
			"there is nothing in this trace: no event, and no table of what CPUs and threads do");
	else if (evidence->cut)
		finding_say(finding->base.what,
			    "the file is cut short: %" PRIu32
			    " ring%s, and what happened last may stand there",
			    evidence->cut, evidence->cut == 1 ? " lacks its end" : "s lack their ends");
	else if (!why_tells(evidence))
		finding_say(finding->base.what,
			    "this trace does not record what CPUs and threads do: no hook "
			    "is called, and no event has a name that is known");
	else if (evidence->end - evidence->alive >= why_ms(evidence, WHY_STANDS_MS) &&
		 evidence->end > evidence->alive)
		finding_say(
			finding->base.what,
			"the machine stands, or is paused: no CPU has recorded an event or a heartbeat for "
			"%s, and nothing that is known explains why",
			why_say_ticks(evidence, evidence->end - evidence->alive, silence, sizeof(silence)));
	else if (starts && !evidence->switched)
		finding_say(finding->base.what, "no CPU has switched threads yet: the machine still starts, "
						"or has come to a stop as it started");
	else if (starts)
		finding_say(finding->base.what,
			    "CPU %" PRIu32
			    " has not begun to idle or to work, and nothing that is known explains why",
			    starts->number);
	else
		finding_say(finding->base.what, "nothing that is known explains what this machine does");
}

int why_find_nothing(const struct why_evidence *evidence, struct why_findings *findings)
{
	struct why_finding *finding = why_finding_new(findings, WHY_UNKNOWN, FINDING_POSSIBLE);
	char hooks[FINDING_LINE];

	if (!finding)
		return KTREAD_E_MEMORY;
	finding->base.partial =
		*why_say_hooks(evidence->missing_hooks, hooks, sizeof(hooks)) || evidence->cut;
	say_what(evidence, finding);
	if (evidence->cut)
		finding_say(finding->base.advice, "the whole file");
	else if (why_finding_state(finding, evidence))
		return 0;
	else if (evidence->missing_hooks == WHY_ALL_HOOKS)
		finding_say(finding->base.advice, "hooks, or events by the names that doc/events.md has "
						  "(ktrace doctor has the lines for both)");
	else
		why_finding_hooks(finding, evidence->missing_hooks);
	return 0;
}
