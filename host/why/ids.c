/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "why/ids.h"

#include <stdlib.h>

#include "analyze/wellknown.h"

#define NEAR_PER_SECOND 10000u /* an event is near a timestamp if it is at most 1/10000 s apart */

/* A line of a finding that refers to an event whose id is still to be found. */
struct reference {
	struct finding_event *event;
	/*
	 * number of ticks between the timestamps of the line and of the nearest event so far; UINT64_MAX: no
	 * event so far
	 */
	uint64_t distance;
};

struct references {
	struct reference *reference; /* all references, sorted by timestamp */
	uint32_t count;
	uint64_t near; /* maximum distance between the timestamps of a line and its event, in ticks */
	struct wellknown_table *known;
};

static int by_stamp(const void *a, const void *b)
{
	const struct reference *left = a, *right = b;

	return (left->event->stamp > right->event->stamp) - (left->event->stamp < right->event->stamp);
}

/* Returns the index of the first reference whose timestamp is not before `stamp`. */
static uint32_t first_from(const struct references *references, uint64_t stamp)
{
	uint32_t low = 0, high = references->count;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (references->reference[middle].event->stamp < stamp)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Returns whether the event belongs to the thread or CPU to which the line refers. */
static bool is_by_actor(const struct finding_event *line, const struct ktread_event *event,
			const struct wellknown *known)
{
	uint32_t thread;

	if (line->actor & KTRX_HOLDER_CPU)
		return event->cpu == (line->actor & ~KTRX_HOLDER_CPU);
	if (event->thread + 1 == line->actor)
		return true;
	return wellknown_thread(known, event, WELLKNOWN_THREAD, &thread) && thread + 1 == line->actor;
}

static void compare(struct references *references, struct reference *reference,
		    const struct ktread_event *event)
{
	struct finding_event *line = reference->event;
	const uint64_t distance =
		event->stamp > line->stamp ? event->stamp - line->stamp : line->stamp - event->stamp;
	const struct wellknown *known = wellknown_of(references->known, event);
	uint64_t object;

	if (distance >= reference->distance || !is_by_actor(line, event, known))
		return;
	if (line->object &&
	    (!wellknown_number(known, event, WELLKNOWN_OBJECT, &object) || object != line->object))
		return;
	if (!line->object && distance > 0)
		return;
	reference->distance = distance;
	line->known = true;
	line->ring = event->ring;
	line->slot = event->index;
}

/* Compares the event with all references whose timestamps are near. */
static void take_event(struct references *references, const struct ktread_event *event)
{
	const uint64_t from = event->stamp > references->near ? event->stamp - references->near : 0;

	for (uint32_t n = first_from(references, from);
	     n < references->count &&
	     references->reference[n].event->stamp <= event->stamp + references->near;
	     n++)
		compare(references, &references->reference[n], event);
}

static int collect(struct references *references, struct why_findings *findings)
{
	uint32_t most = why_findings_count(findings) * FINDING_LINES;

	references->reference = calloc((size_t)most + 1, sizeof(*references->reference));
	references->known = calloc(1, sizeof(*references->known));
	if (!references->reference || !references->known)
		return KTREAD_E_MEMORY;
	for (uint32_t n = 0; n < why_findings_count(findings); n++) {
		struct finding *finding = why_findings_base(findings, n);

		for (uint32_t line = 0; line < finding->lines; line++)
			if (finding->event[line].asked)
				references->reference[references->count++] =
					(struct reference){ &finding->event[line], UINT64_MAX };
	}
	if (references->count)
		qsort(references->reference, references->count, sizeof(*references->reference), by_stamp);
	return 0;
}

static int read_trace(struct references *references, struct ktread *trace)
{
	const struct ktread_event *event;
	int status = references->count ? ktread_rewind(trace) : 0;

	while (references->count && status >= 0 && (status = ktread_next(trace, &event)) > 0)
		take_event(references, event);
	return status < 0 ? status : 0;
}

/* ---- The event of a finding ---------------------------------------------------------------------- */

static const struct why_event *newest_of(const struct why_last *last)
{
	return last->count ? &last->event[last->count - 1] : NULL;
}

static const struct why_event *newest_of_all(const struct why_evidence *evidence)
{
	const struct why_event *newest = NULL;

	for (uint32_t n = 0; n < evidence->cpus; n++) {
		const struct why_event *event = newest_of(&evidence->cpu[n].last);

		if (event && (!newest || event->stamp > newest->stamp))
			newest = event;
	}
	return newest;
}

static const struct why_event *newest_of_actor(const struct why_evidence *evidence, uint32_t id)
{
	const uint32_t cpu = id & ~KTRX_HOLDER_CPU;
	const struct why_thread *thread;

	if (id & KTRX_HOLDER_CPU)
		return cpu < evidence->cpus ? newest_of(&evidence->cpu[cpu].last) : NULL;
	thread = why_thread_find(evidence, id - 1);
	return thread ? newest_of(&thread->last) : NULL;
}

/*
 * Sets the event of the finding itself. This is the event of the first line that has an event. If no line has
 * an event, it is the newest event of the first actor, and if the actor has no event, the newest event of all
 * CPUs.
 */
static void choose(struct finding *finding, const struct why_finding *why,
		   const struct why_evidence *evidence)
{
	const struct why_event *event = NULL;

	for (uint32_t line = 0; line < finding->lines && !finding->shows.known; line++)
		finding->shows = finding->event[line];
	if (finding->shows.known)
		return;
	if (why->actors)
		event = newest_of_actor(evidence, why->actor[0].id);
	if (!event)
		event = newest_of_all(evidence);
	finding->shows = (struct finding_event){ 0 };
	if (event)
		finding->shows =
			(struct finding_event){ .known = true, .ring = event->ring, .slot = event->slot };
}

int why_ids_find(struct why_findings *findings, const struct why_evidence *evidence)
{
	struct references references = { .near = evidence->info->frequency / NEAR_PER_SECOND };
	int error = collect(&references, findings);

	if (!error)
		error = read_trace(&references, evidence->trace);
	for (uint32_t n = 0; !error && n < why_findings_count(findings); n++)
		choose(why_findings_base(findings, n), why_findings_at(findings, n), evidence);
	free(references.reference);
	free(references.known);
	return error;
}
