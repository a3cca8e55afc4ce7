/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Reads the trace twice. The first pass finds the end of the trace and the lost slots, and counts the events
 * of each CPU and thread. The second pass needs the end to know which events are recent. It needs the counts
 * to know which events are the newest of each CPU and thread, because only these events are formatted.
 */
#include "why/evidence.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/order.h"
#include "why/evidence_state.h"
#include "why/numbers.h"
#include "why/pulse.h"
#include "why/untimed.h"

/* time in s: a timestamp in a table is invalid if it is this much later than the newest event */
#define END_MOST      1000000u
#define CPUS_BELIEVED 64u /* if a trace states more CPUs, those without ring and row are left out */

bool why_index_find(const struct keyed *index, uint64_t kind, uint64_t value, uint32_t *at)
{
	const uint64_t key[KEYED_WORDS] = { kind, value };
	const struct keyed_entry *entry = keyed_find(index, key);

	if (!entry)
		return false;
	*at = (uint32_t)entry->count;
	return true;
}

int why_index_put(struct keyed *index, uint64_t kind, uint64_t value, uint32_t at)
{
	const uint64_t key[KEYED_WORDS] = { kind, value };
	struct keyed_entry *entry;
	int error = keyed_put(index, key, &entry);

	if (error || !entry)
		return KTREAD_E_MEMORY;
	entry->count = at;
	return 0;
}

void *why_one_more(void *array, uint32_t count, size_t size)
{
	const bool is_full = (count & (count - 1)) == 0;

	return is_full ? realloc(array, (count ? 2 * (size_t)count : 1) * size) : array;
}

const struct why_thread *why_thread_find(const struct why_evidence *evidence, uint32_t id)
{
	uint32_t at;

	return why_index_find(&evidence->index, WHY_KEY_THREAD, id, &at) ? &evidence->thread[at] : NULL;
}

const char *why_object_name(const struct why_evidence *evidence, uint64_t address)
{
	uint32_t at;

	return why_index_find(&evidence->index, WHY_KEY_OBJECT, address, &at) ? evidence->object[at].name
									      : "";
}

struct why_object *why_object_find(const struct why_evidence *evidence, uint64_t address)
{
	uint32_t at;

	return why_index_find(&evidence->index, WHY_KEY_OBJECT, address, &at) ? &evidence->object[at] : NULL;
}

bool why_object_is_elsewhere(const struct why_evidence *evidence, uint64_t address)
{
	uint32_t at;

	return why_index_find(&evidence->index, WHY_KEY_OBJECT, address, &at) &&
	       evidence->object[at].elsewhere;
}

static int grow_threads(struct why_reader *reader)
{
	struct why_evidence *evidence = reader->evidence;
	struct why_thread *thread = why_one_more(evidence->thread, evidence->threads, sizeof(*thread));
	struct why_progress *progress;

	if (!thread)
		return KTREAD_E_MEMORY;
	evidence->thread = thread;
	progress = why_one_more(reader->progress, evidence->threads, sizeof(*progress));
	if (!progress)
		return KTREAD_E_MEMORY;
	reader->progress = progress;
	return 0;
}

static void begin_thread(struct why_thread *thread, const struct ktread *trace, uint32_t id)
{
	const char *name = ktread_thread_name(trace, id);

	*thread = (struct why_thread){ .id = id, .cpu = KTRX_NO_CPU, .first = UINT64_MAX };
	if (name)
		strncpy(thread->name, name, sizeof(thread->name) - 1);
	thread->idle = id == 0 || threads_name_is_idle(thread->name, strlen(thread->name));
}

struct why_thread *why_thread_touch(struct why_reader *reader, uint32_t id)
{
	struct why_evidence *evidence = reader->evidence;
	uint32_t *recent = &reader->recent[id % WHY_RECENT], at = *recent;

	if (at > 0 && evidence->thread[at - 1].id == id)
		return &evidence->thread[at - 1];
	if (why_index_find(&evidence->index, WHY_KEY_THREAD, id, &at)) {
		*recent = at + 1;
		return &evidence->thread[at];
	}
	if (evidence->threads == WHY_THREADS)
		return NULL;
	if (!reader->error)
		reader->error = grow_threads(reader);
	if (!reader->error)
		reader->error = why_index_put(&evidence->index, WHY_KEY_THREAD, id, evidence->threads);
	if (reader->error)
		return NULL;
	reader->progress[evidence->threads] = (struct why_progress){ .last_number = UINT64_MAX };
	begin_thread(&evidence->thread[evidence->threads], evidence->trace, id);
	return &evidence->thread[evidence->threads++];
}

int why_object_touch(struct why_evidence *evidence, uint64_t address, const char *name, size_t length)
{
	struct why_object *object;
	uint32_t at;

	if (address == 0 || length == 0 || why_index_find(&evidence->index, WHY_KEY_OBJECT, address, &at) ||
	    evidence->objects == WHY_OBJECTS)
		return 0;
	object = why_one_more(evidence->object, evidence->objects, sizeof(*object));
	if (!object)
		return KTREAD_E_MEMORY;
	evidence->object = object;
	object += evidence->objects;
	*object = (struct why_object){ .address = address };
	if (length >= sizeof(object->name))
		length = sizeof(object->name) - 1;
	memcpy(object->name, name, strnlen(name, length));
	return why_index_put(&evidence->index, WHY_KEY_OBJECT, address, evidence->objects++);
}

/*
 * Returns the number of CPUs of the trace. The numbers of CPUs in a damaged trace may be much too large, and
 * each CPU takes kilobytes of memory. So if the header states more than CPUS_BELIEVED CPUs, only those that
 * have a ring or a row in the kernel's tables count. A ring of a CPU with a larger number does not count,
 * unless the header states that CPU or there are as many rings.
 */
static uint32_t count_cpus(const struct why_evidence *evidence)
{
	const uint32_t stated = evidence->info->cpus, rings = evidence->info->rings;
	uint32_t most = stated > rings ? stated : rings, cpus;
	struct ktrx_cpu row;

	most = most > CPUS_BELIEVED ? most : CPUS_BELIEVED;
	cpus = stated < CPUS_BELIEVED ? stated : CPUS_BELIEVED;
	for (uint32_t n = 0; n < rings; n++) {
		const struct ktread_ring *ring = ktread_ring(evidence->trace, n);

		if (ring && ring->kind == KTREAD_RING_PROCESSES && stated > cpus)
			cpus = stated; /* counted from the events */
		if (ring && ring->cpu != KTRX_NO_CPU && ring->cpu >= cpus && ring->cpu < most)
			cpus = ring->cpu + 1;
	}
	while (cpus < stated && ktread_cpus(evidence->trace, cpus, &row, 1) != 0)
		cpus++;
	return cpus < WHY_CPUS ? cpus : WHY_CPUS;
}

/* Allocates evidence->cpu, with an entry for each CPU of the trace. */
static int make_cpus(struct why_evidence *evidence)
{
	const uint32_t cpus = count_cpus(evidence);

	evidence->cpu = calloc(cpus ? cpus : 1, sizeof(*evidence->cpu));
	if (!evidence->cpu)
		return KTREAD_E_MEMORY;
	evidence->cpus = cpus;
	for (uint32_t n = 0; n < cpus; n++) {
		evidence->cpu[n].number = n;
		evidence->cpu[n].running = UINT32_MAX;
	}
	return 0;
}

/*
 * Sets evidence->end to a timestamp from the kernel's tables if that timestamp is later. Ignores a timestamp
 * so much later than the newest event that it cannot be valid.
 */
static void extend(struct why_evidence *evidence, uint64_t stamp)
{
	const uint64_t frequency = evidence->info->frequency;
	const uint64_t most =
		frequency && frequency < UINT64_MAX / END_MOST ? frequency * END_MOST : UINT64_C(1) << 48;

	if (stamp > evidence->end && (evidence->first == 0 || stamp - evidence->end < most))
		evidence->end = stamp;
}

static void measure(struct why_evidence *evidence)
{
	const uint64_t newest = evidence->end;
	uint64_t all, observed = newest, end = newest;

	for (uint32_t n = 0; n < evidence->cpus; n++) {
		const struct why_cpu *cpu = &evidence->cpu[n];

		evidence->end = newest;
		if (cpu->has_row)
			extend(evidence, cpu->row.heartbeat_stamp);
		observed = evidence->end > observed ? evidence->end : observed;
		if (cpu->has_row)
			extend(evidence, cpu->row.now);
		end = evidence->end > end ? evidence->end : end;
	}
	evidence->alive = end;
	/*
	 * The host observes events and heartbeats. Hooks that record no event may store timestamps in the
	 * time that the host counts as silent.
	 */
	evidence->end = (observed ? observed : end) + why_silent_ticks(evidence);
	evidence->end = evidence->end > end ? evidence->end : end;
	all = evidence->end - evidence->first;
	evidence->window = evidence->info->frequency && evidence->info->frequency < all
				   ? evidence->info->frequency
				   : all;
}

/*
 * Returns whether the machine was halted for the capture: the trace has registers, the host captured it after
 * a stall, or it is from a core file.
 */
static bool was_halted(const struct why_evidence *evidence)
{
	for (uint32_t n = 0; n < evidence->cpus; n++)
		if (evidence->cpu[n].has_registers)
			return true;
	return evidence->stalled || evidence->info->form == KTREAD_FORM_CORE;
}

static int read_all(struct why_reader *reader)
{
	struct why_evidence *evidence = reader->evidence;
	int error = make_cpus(evidence);

	if (error)
		return error;
	reader->known = calloc(1, sizeof(*reader->known));
	if (!reader->known)
		return KTREAD_E_MEMORY;
	why_note(evidence);
	error = why_registers(evidence);
	if (!error)
		error = why_is_overwritten(evidence) ? 0 : why_tables(reader);
	if (!error)
		error = why_survey(reader);
	evidence->halted = was_halted(evidence);
	measure(evidence);
	why_survey_cut(evidence);
	why_survey_stop(evidence);
	why_pulse_settle(evidence);
	if (!error)
		error = why_evaluate(reader);
	why_side_settle(evidence);
	why_turns_settle(evidence);
	why_mask_settle(evidence);
	return error;
}

int why_evidence_read(struct why_evidence **result, struct ktread *trace, struct symbols *symbols)
{
	struct why_reader reader = { .evidence = calloc(1, sizeof(struct why_evidence)) };
	int error;

	*result = reader.evidence;
	if (!reader.evidence)
		return KTREAD_E_MEMORY;
	reader.evidence->trace = trace;
	reader.evidence->info = ktread_info(trace);
	reader.evidence->symbols = symbols;
	reader.evidence->doubt = order_between_cpus(trace).doubt;
	error = read_all(&reader);
	threads_destroy(reader.model);
	free(reader.known);
	free(reader.progress);
	free(reader.events);
	free(reader.open);
	keyed_free(&reader.holds);
	keyed_free(&reader.orders);
	return error;
}

void why_evidence_free(struct why_evidence *evidence)
{
	if (!evidence)
		return;
	scheduling_free(evidence->scheduling);
	keyed_free(&evidence->index);
	keyed_free(&evidence->lasted);
	free(evidence->order);
	free(evidence->hold);
	histogram_free(&evidence->device.ticks);
	free(evidence->queue);
	free(evidence->object);
	free(evidence->thread);
	free(evidence->cpu);
	free(evidence);
}
