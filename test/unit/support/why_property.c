/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "unit/support/why_property.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDED 1.006 /* factor, because a printed time such as "2.00 s" may have been rounded up */

static char broken[1024];

static void older(uint64_t *oldest, uint64_t stamp)
{
	if (stamp && stamp < *oldest)
		*oldest = stamp;
}

static void look_at_holder(uint64_t *oldest, const struct ktrx_holder *row)
{
	older(oldest, row->state_stamp);
	older(oldest, row->wait_stamp);
	older(oldest, row->deadline);
	for (uint32_t n = 0; n < KTRX_HELD; n++)
		older(oldest, row->held[n].stamp);
}

static uint64_t oldest_of(const struct why_evidence *evidence)
{
	uint64_t oldest = evidence->end;

	if (evidence->events)
		older(&oldest, evidence->first ? evidence->first : 1);
	for (uint32_t n = 0; n < evidence->cpus; n++) {
		const struct ktrx_cpu *row = &evidence->cpu[n].row;

		older(&oldest, row->heartbeat_stamp);
		older(&oldest, row->now);
		older(&oldest, row->mode_stamp);
		older(&oldest, row->interrupts_stamp);
		older(&oldest, row->switch_stamp);
		older(&oldest, row->irq_stamp);
		older(&oldest, row->ipi_stamp);
		older(&oldest, row->ipi_answered);
		older(&oldest, row->broken_stamp);
		look_at_holder(&oldest, &evidence->cpu[n].holder);
	}
	for (uint32_t n = 0; n < evidence->threads; n++)
		look_at_holder(&oldest, &evidence->thread[n].holder);
	return oldest;
}

/* Returns the longest time that a thread or CPU can have existed according to the trace. */
static uint64_t life_of(const struct why_evidence *evidence, uint32_t id, uint64_t all)
{
	const struct why_thread *thread = id & KTRX_HOLDER_CPU ? NULL : why_thread_find(evidence, id - 1);

	return thread && thread->created && why_age(evidence, thread->created) < all
		       ? why_age(evidence, thread->created)
		       : all;
}

/*
 * Returns true if the CPU had no heartbeat, or its heartbeat has no timestamp. Then the time since the
 * heartbeat is unknown, and is not printed.
 */
static bool has_no_stamp(const struct why_evidence *evidence, uint64_t ticks)
{
	return ticks == evidence->end;
}

/*
 * Returns the time, in seconds, with which the text at `at` begins. Returns a negative number if the text
 * does not begin with a time.
 */
static double seconds_at(const char *at)
{
	static const struct {
		const char *word;
		double seconds;
	} units[] = { { " s", 1 }, { " ms", 1e-3 }, { " us", 1e-6 } };
	char *end;
	const double number = strtod(at, &end);

	for (size_t n = 0; n < sizeof(units) / sizeof(units[0]); n++) {
		const size_t length = strlen(units[n].word);

		if (strncmp(end, units[n].word, length) == 0 && !isalnum((unsigned char)end[length]))
			return number * units[n].seconds;
	}
	return -1;
}

/* Returns true if the time at `at` is in the future, such as the end of a timeout in "ends in 20.5 s". */
static bool is_future(const char *text, const char *at)
{
	static const char before[] = "ends in ";
	const size_t length = sizeof(before) - 1;

	return (size_t)(at - text) >= length && memcmp(at - length, before, length) == 0;
}

static bool is_within(const struct why_evidence *evidence, const char *text, uint64_t all)
{
	const double most = (double)all / (double)evidence->info->frequency;

	for (const char *at = text; *at; at++)
		if (isdigit((unsigned char)*at) &&
		    (at == text || !(isalnum((unsigned char)at[-1]) || strchr("._-", at[-1]))) &&
		    !is_future(text, at) && seconds_at(at) > most * ROUNDED + 1e-6) {
			snprintf(broken, sizeof(broken), "%.3f s are known of: %.800s", most, text);
			return false;
		}
	return true;
}

static bool finding_holds(const struct why_evidence *evidence, const struct why_finding *finding,
			  uint64_t all, bool words)
{
	bool holds = true;

	for (uint32_t n = 0; n < finding->actors && holds; n++) {
		const struct why_actor *actor = &finding->actor[n];

		holds = actor->ticks <= life_of(evidence, actor->id, all) ||
			has_no_stamp(evidence, actor->ticks);
		if (!holds)
			snprintf(broken, sizeof(broken), "%" PRIu64 " ticks of %" PRIu64 ": %.800s",
				 actor->ticks, life_of(evidence, actor->id, all), finding->base.what);
	}
	if (!words || evidence->info->frequency == 0 || !holds)
		return holds;
	holds = is_within(evidence, finding->base.what, all);
	for (uint32_t n = 0; n < finding->base.lines && holds; n++)
		holds = is_within(evidence, finding->base.evidence[n], all);
	return holds;
}

const char *why_property_broken(const struct why_evidence *evidence, const struct why_findings *findings,
				bool words)
{
	const uint64_t oldest = oldest_of(evidence);
	const uint64_t all = evidence->end > oldest ? evidence->end - oldest : 0;
	const bool healthy = why_verdict_is_healthy(why_findings_at(findings, 0)->verdict);

	for (uint32_t n = 0; n < why_findings_count(findings); n++) {
		const struct why_finding *finding = why_findings_at(findings, n);

		if (!finding_holds(evidence, finding, all, words))
			return broken;
		if (finding->base.what[0] == '\0')
			return "a finding without a word";
		if (healthy && !why_verdict_is_healthy(finding->verdict) &&
		    finding->base.certain != FINDING_POSSIBLE)
			return "a machine that is well and has trouble";
	}
	return NULL;
}
