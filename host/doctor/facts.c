/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "doctor/examine.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/note.h"
#include "analyze/wellknown.h"
#include "base/ticks.h"

#define HOLDERS_AT_ONCE 16u
#define SYSCALLS_TRIED	512u

struct reading {
	struct facts *facts;
	uint8_t *thread; /* bit map of the thread ids that occur in the trace */
};

static void note_thread(struct reading *reading, uint32_t thread)
{
	struct facts *facts = reading->facts;
	const char *name;

	thread &= KTRX_THREAD_MAX;
	if (thread == 0 || reading->thread[thread / 8] >> (thread % 8) & 1)
		return;
	reading->thread[thread / 8] |= (uint8_t)(1u << (thread % 8));
	facts->threads++;
	name = ktread_thread_name(facts->trace, thread);
	facts->named += name && *name;
}

static void note_cpu(struct facts *facts, const struct ktread_event *event)
{
	struct facts_cpu *cpu = &facts->cpu[event->cpu];

	facts->cpus = event->cpu >= facts->cpus ? event->cpu + 1 : facts->cpus;
	if (ktread_ring(facts->trace, event->ring)->cpu == event->cpu) {
		cpu->own++;
		facts->lit |= VIEW_RINGS;
	} else {
		cpu->elsewhere++;
	}
}

/* Requires: the events are passed as ktread_next_by_ring() returns them, one ring after another. */
static void note_order(struct facts_cpu *cpu, struct facts_ring *ring, const struct ktread_event *event)
{
	uint32_t at = FACTS_HELD_UP;

	if (cpu->latest_ring != event->ring)
		memset(cpu->latest, 0, sizeof(cpu->latest));
	cpu->latest_ring = event->ring;
	if (event->stamp < cpu->latest[at]) {
		if (cpu->latest[at] - event->stamp > ring->back)
			ring->back = cpu->latest[at] - event->stamp;
		return;
	}
	for (; at > 0 && cpu->latest[at - 1] < event->stamp; at--)
		cpu->latest[at] = cpu->latest[at - 1];
	cpu->latest[at] = event->stamp;
}

/* Records in the facts whether the event announces a sleep, and for which kind of wait. */
static void note_sleep(struct facts *facts, const struct ktread_event *event)
{
	const struct ktread_type *type = ktread_type(facts->trace, event->id);
	const struct wellknown *known = type ? wellknown_bind(facts->known, type) : NULL;
	uint64_t kind;

	if (!known || known->kind != WELLKNOWN_BLOCK)
		return;
	facts->lit |= VIEW_SLEEPS;
	if (wellknown_number(known, event, WELLKNOWN_NUMBER, &kind) && kind == KTRX_WAIT_THREAD)
		facts->lit |= VIEW_JOINS;
}

static void note_event(struct reading *reading, const struct ktread_event *event)
{
	struct facts *facts = reading->facts;
	struct facts_ring *ring = &facts->ring[event->ring];

	if (facts->events++ == 0 || event->stamp < facts->first)
		facts->first = event->stamp;
	facts->last = event->stamp > facts->last ? event->stamp : facts->last;
	if (!ring->decided)
		ring->first = event->stamp;
	ring->decided = true;
	ring->events++;
	if (event->id <= KTRX_EVENT_MAX)
		facts->fired[event->id / 8] |= (uint8_t)(1u << (event->id % 8));
	if (event->callers)
		facts->lit |= VIEW_CALLERS;
	if (!(facts->lit & VIEW_JOINS))
		note_sleep(facts, event);
	if (event->cpu < FACTS_CPUS_MAX) {
		note_cpu(facts, event);
		note_order(&facts->cpu[event->cpu], ring, event);
	}
	note_thread(reading, event->thread);
}

static int read_events(struct reading *reading)
{
	const struct ktread_event *event;
	int more;

	while ((more = ktread_next_by_ring(reading->facts->trace, &event)) > 0)
		note_event(reading, event);
	return more < 0 ? more : ktread_rewind(reading->facts->trace);
}

static void note_row(struct facts *facts, const struct ktrx_cpu *row, uint32_t number)
{
	facts->initialised = true;
	if (row->misnumbered && !row->online && facts->misnumbered++ == 0)
		facts->first_misnumbered = number;
	facts->cpu[number].row = *row;
	facts->hooks |= row->hooks;
	facts->refused += row->refused;
	facts->online += row->online != 0;
	if (row->online && number >= facts->cpus)
		facts->cpus = number + 1;
	if (row->heartbeats)
		facts->lit |= VIEW_BEATS;
	if (row->mode == KTRX_MODE_IDLE)
		facts->lit |= VIEW_IDLE;
	else if (row->mode != KTRX_MODE_UNKNOWN)
		facts->lit |= VIEW_MODES;
	if (row->user_enters || row->user_exits)
		facts->lit |= VIEW_MODES;
	if (row->interrupts != KTRX_INTERRUPTS_UNKNOWN)
		facts->lit |= VIEW_INTERRUPTS;
}

static void note_holder(struct facts *facts, const struct ktrx_holder *row)
{
	facts->rows += !(row->id & KTRX_HOLDER_CPU);
	if (row->id && !(row->id & KTRX_HOLDER_CPU)) {
		facts->lit |= VIEW_HOLDERS;
		facts->used++;
	}
	if (row->priority)
		facts->lit |= VIEW_PRIORITY;
	if (row->wait == KTRX_WAIT_THREAD)
		facts->lit |= VIEW_JOINS;
	if (row->stack_high > row->stack_low)
		facts->lit |= VIEW_STACKS;
}

/* Returns whether the trace has a table of thread names, even an empty one. */
static bool has_names(const struct ktread *trace)
{
	uint64_t size = 0;
	char *copy = NULL;
	const bool read = ktread_section_copy(trace, KTRX_SECTION_THREADS, &copy, &size) == 0;

	free(copy);
	return read && size != 0;
}

static int read_tables(struct facts *facts)
{
	struct ktrx_holder holder[HOLDERS_AT_ONCE];
	struct ktrx_cpu row;
	uint32_t number = 0;
	int rows;

	while (number < FACTS_CPUS_MAX && (rows = ktread_cpus(facts->trace, number, &row, 1)) > 0)
		note_row(facts, &row, number++);
	for (number = 0; (rows = ktread_holders(facts->trace, number, holder, HOLDERS_AT_ONCE)) > 0;
	     number += (uint32_t)rows)
		for (int n = 0; n < rows; n++)
			note_holder(facts, &holder[n]);
	facts->has_table = number > 0;
	facts->has_names = has_names(facts->trace);
	/*
	 * the trace of an earlier boot has rings of CPUs, but no table of CPUs; a process trace has neither
	 */
	facts->initialised |= facts->info->form == KTREAD_FORM_PROCESSES;
	for (uint32_t ring = 0; ring < facts->info->rings; ring++)
		facts->initialised |= ktread_ring(facts->trace, ring)->cpu != KTRX_NO_CPU;
	return rows;
}

/* Collects the facts that are not in events. */
static void note_info(struct facts *facts)
{
	const struct ktread_info *info = facts->info;
	const struct {
		bool is;
		enum view_fact fact;
	} known[] = {
		{ facts->online != 0, VIEW_RINGS },
		{ facts->cpus > 1, VIEW_CPUS },
		{ facts->threads != 0, VIEW_THREADS },
		{ facts->named != 0, VIEW_NAMES },
		{ cost_of(facts->trace) != 0, VIEW_COST },
		{ info->build_id_size != 0, VIEW_BUILD_ID },
		{ info->clock_samples != 0 || info->clock_measured || info->clock_failed, VIEW_CLOCKS },
		{ info->frequency != 0, VIEW_FREQUENCY },
		{ info->outcome == KTRX_OUTCOME_EXITED, VIEW_EXIT },
		{ info->outcome == KTRX_OUTCOME_PANIC, VIEW_PANIC },
	};

	for (size_t n = 0; n < sizeof(known) / sizeof(known[0]); n++)
		facts->lit |= known[n].is ? known[n].fact : 0;
	for (uint32_t number = 0; number < SYSCALLS_TRIED; number++)
		if (ktread_syscall_name(facts->trace, number))
			facts->lit |= VIEW_SYSCALLS;
}

/* Returns whether records from the beginning or the end of the run are missing. */
static bool lacks_ends(const struct facts *facts)
{
	for (uint32_t n = 0; n < facts->info->rings; n++) {
		const struct ktread_ring *ring = ktread_ring(facts->trace, n);

		if (ring->overwritten || ring->cleared || ring->dropped || ring->cut)
			return true;
	}
	return false;
}

/*
 * The events show how long the guest ran only if none is missing. The table of CPUs counts from the start of
 * the guest, so a shorter time would give wrong rates.
 */
static void measure(struct facts *facts)
{
	size_t length;
	const char *ran = note_find(facts->info->note, "guest ran", &length);

	if (ran)
		facts->seconds = strtod(ran, NULL);
	else if (facts->info->frequency && facts->last > facts->first && !lacks_ends(facts))
		facts->seconds = base_ticks_seconds(facts->last - facts->first, facts->info->frequency);
}

int facts_read(struct facts *facts, struct ktread *trace)
{
	struct reading reading = { .facts = facts, .thread = calloc((KTRX_THREAD_MAX + 1) / 8, 1) };
	int status = KTREAD_E_MEMORY;

	memset(facts, 0, sizeof(*facts));
	facts->trace = trace;
	facts->info = ktread_info(trace);
	facts->cpu = calloc(FACTS_CPUS_MAX, sizeof(*facts->cpu));
	facts->ring = calloc(facts->info->rings + 1, sizeof(*facts->ring));
	facts->known = calloc(1, sizeof(*facts->known));
	if (reading.thread && facts->cpu && facts->ring && facts->known)
		status = read_tables(facts);
	if (status >= 0)
		status = read_events(&reading);
	if (status >= 0) {
		note_info(facts);
		measure(facts);
	}
	free(reading.thread);
	return status;
}

double facts_rate(const struct facts *facts)
{
	double rate = 0;

	for (uint32_t n = 0; n < facts->info->rings && facts->info->frequency; n++) {
		const struct facts_ring *ring = &facts->ring[n];
		const uint64_t since = ktread_ring(facts->trace, n)->overwritten ? ring->first : facts->first;

		if (ring->decided && facts->last > since)
			rate += (double)ring->events /
				base_ticks_seconds(facts->last - since, facts->info->frequency);
	}
	return rate;
}

double facts_cost_share(const struct facts *facts)
{
	const double time = (double)facts->info->frequency * (facts->cpus ? facts->cpus : 1);

	return time > 0 ? (double)cost_of(facts->trace) / 1000 * facts_rate(facts) / time : 0;
}

void facts_free(struct facts *facts)
{
	free(facts->cpu);
	free(facts->ring);
	free(facts->known);
}
