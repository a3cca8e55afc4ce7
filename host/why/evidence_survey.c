/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Examines the events of a trace: the first pass. */
#include <stdlib.h>

#include "analyze/note.h"
#include "analyze/scheduling.h"
#include "ktrx/slot.h"
#include "why/evidence_state.h"
#include "why/pulse.h"

/* What the first pass finds about a ring. */
struct survey_ring {
	uint64_t lost;	/* number of slots that are missing before the ring's events */
	uint64_t first; /* timestamp of the ring's first event; 0: the ring has no event */
};

/* Records that slots were lost before the timestamp. `cpu`: the CPU that may have written them, or NULL */
static void note_gap(struct why_evidence *evidence, struct why_cpu *cpu, uint64_t stamp)
{
	if (cpu && stamp > cpu->gap)
		cpu->gap = stamp;
	if (stamp > evidence->gap)
		evidence->gap = stamp;
}

static void survey_ring(struct survey_ring *ring, const struct ktread_event *event)
{
	ring->lost += event->lost;
	if (!ring->first)
		ring->first = event->stamp;
}

static void survey_event(struct why_reader *reader, const struct ktread_event *event)
{
	struct why_evidence *evidence = reader->evidence;
	struct why_cpu *cpu = event->cpu < evidence->cpus ? &evidence->cpu[event->cpu] : NULL;
	struct why_thread *thread = why_thread_touch(reader, event->thread);

	if (thread)
		thread->last.total++;
	evidence->left_out += (!thread && !reader->error) || (!cpu && event->cpu != KTRX_NO_CPU);
	if (evidence->end == 0 || event->stamp < evidence->first)
		evidence->first = event->stamp;
	if (event->stamp > evidence->end)
		evidence->end = evidence->newest_event = event->stamp;
	if (scheduling_event(evidence->scheduling, event) < 0)
		reader->error = KTREAD_E_MEMORY;
	if (event->lost)
		note_gap(evidence, cpu, event->stamp);
	if (!cpu)
		return;
	if (cpu->last.total++ == 0 || event->stamp < cpu->first_stamp)
		cpu->first_stamp = event->stamp;
	cpu->cut |= why_is_cut(reader, event);
	cpu->lost += event->lost;
	if (event->stamp > cpu->last_stamp)
		cpu->last_stamp = event->stamp;
}

/*
 * Completes evidence->scheduling. If events were enabled or disabled during the trace, or if the states in
 * sched.switch may be wrong, reads the trace once more, in the order of time.
 */
static int survey_scheduling(struct why_evidence *evidence)
{
	int error;

	if (!scheduling_needs_order(evidence->scheduling)) {
		error = scheduling_end(evidence->scheduling);
	} else {
		scheduling_free(evidence->scheduling);
		error = scheduling_read(&evidence->scheduling, evidence->trace);
	}
	if (!error && scheduling_states_are_doubtful(evidence->scheduling))
		error = scheduling_judge(evidence->scheduling, evidence->trace);
	return error;
}

/*
 * Maximum number of slots that a CPU may be writing when the trace is captured: a record of a thread, one of
 * an interrupt, and one of an interrupt that cannot be masked.
 */
#define WRITING_MOST (3 * KTRX_RECORD_MAX_SLOTS)

/*
 * Records after the newest event of a shared ring are missing: they may be of any CPU, but no CPU records in
 * the boot ring after the first event in a ring of its own.
 */
static void survey_shared_tail(struct why_evidence *evidence, const struct survey_ring *rings,
			       uint32_t shared)
{
	for (uint32_t n = 0; n < evidence->cpus; n++)
		evidence->cpu[n].shared_end = true;
	for (uint32_t n = 1; n < evidence->info->rings && shared == 0; n++) {
		const struct ktread_ring *ring = ktread_ring(evidence->trace, n);
		struct why_cpu *cpu = ring->cpu < evidence->cpus ? &evidence->cpu[ring->cpu] : NULL;

		if (!cpu || !rings[n].first)
			continue;
		cpu->shared_end = false;
		cpu->after_boot = rings[n].first;
		note_gap(evidence, cpu, rings[n].first);
	}
}

/* Counts the unreadable slots after the newest event of each ring. */
static void survey_tails(struct why_evidence *evidence, const struct survey_ring *rings)
{
	for (uint32_t n = 0; n < evidence->info->rings; n++) {
		const struct ktread_ring *ring = ktread_ring(evidence->trace, n);
		const uint64_t lost = rings[n].lost;
		const uint64_t known = lost > ring->overwritten ? lost - ring->overwritten : 0;

		const uint64_t unread = ring->invalid > known ? ring->invalid - known : 0;

		/* the end of a cut ring is counted by why_survey_cut() */
		if (ring->cut)
			continue;
		if (ring->cpu < evidence->cpus)
			evidence->cpu[ring->cpu].unread += unread;
		else if (why_is_shared(evidence, n) && (unread > WRITING_MOST || ring->dropped))
			survey_shared_tail(evidence, rings, n);
	}
}

int why_survey(struct why_reader *reader)
{
	struct ktread *trace = reader->evidence->trace;
	struct survey_ring *rings = calloc((size_t)reader->evidence->info->rings + 1, sizeof(*rings));
	const struct ktread_event *event;
	int status = rings ? scheduling_open(&reader->evidence->scheduling, trace) : KTREAD_E_MEMORY, error;

	if (status < 0) {
		free(rings);
		return status;
	}
	while ((status = ktread_next_by_ring(trace, &event)) > 0 && !reader->error) {
		survey_event(reader, event);
		survey_ring(&rings[event->ring], event);
	}
	if (status == 0)
		survey_tails(reader->evidence, rings);
	free(rings);
	error = reader->error ? reader->error : survey_scheduling(reader->evidence);
	if (error)
		return error;
	return status < 0 ? status : ktread_rewind(trace);
}

void why_survey_cut(struct why_evidence *evidence)
{
	for (uint32_t n = 0; n < evidence->cpus; n++) {
		struct why_cpu *cpu = &evidence->cpu[n];
		const bool unread = cpu->unread > WRITING_MOST;

		if (!unread && (!cpu->shared_end || why_is_offline(evidence, cpu)))
			continue;
		cpu->lost += unread ? cpu->unread : 0;
		note_gap(evidence, cpu, evidence->end);
		evidence->end_unread = true;
	}
	for (uint32_t n = 0; n < evidence->info->rings; n++) {
		const struct ktread_ring *ring = ktread_ring(evidence->trace, n);

		if (!ring || ring->cut == 0)
			continue;
		evidence->cut++;
		evidence->gap = evidence->end;
		if (ring->cpu < evidence->cpus) {
			evidence->cpu[ring->cpu].lost += ring->cut;
			evidence->cpu[ring->cpu].gap = evidence->end;
		} else if (why_is_shared(evidence, n)) {
			for (uint32_t cpu = 0; cpu < evidence->cpus; cpu++)
				note_gap(evidence, &evidence->cpu[cpu], evidence->end);
		}
	}
}

/* time in ms: maximum by which the tables of a stopped machine are newer than its last event */
#define STOP_MS 100u

/*
 * If recording was stopped and the machine continued to run, the time from the stop to the end counts as a
 * gap, because only the tables show what happened then. If the guest stopped recording only to send a dump,
 * this is a gap of the whole trace, but not a gap of any CPU.
 */
void why_survey_stop(struct why_evidence *evidence)
{
	size_t length;

	if (!evidence->info->stopped || !evidence->newest_event ||
	    evidence->alive <= evidence->newest_event + why_ms(evidence, STOP_MS))
		return;
	evidence->gap = evidence->alive;
	if (note_find(evidence->info->note, "dumped over", &length))
		return;
	evidence->stopped = evidence->newest_event;
	for (uint32_t n = 0; n < evidence->cpus; n++)
		evidence->cpu[n].gap = evidence->alive;
}
