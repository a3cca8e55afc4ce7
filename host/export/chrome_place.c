/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Rows of the trace: their numbers and names, and what is kept of a thread beside them. */
#include "export/chrome_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

void chrome_thread_label(const struct chrome_writer *writer, uint32_t thread, char *text, size_t size)
{
	const char *name = ktread_thread_name(writer->chrome->trace, thread);

	if (name && *name)
		snprintf(text, size, "%.40s (%u)", name, thread);
	else
		snprintf(text, size, "thread %u", thread);
}

/* ,"pid":1,"tid":12 */
static void render_row(struct chrome_row *row)
{
	char *at = base_put_decimal(base_put_literal(row->text, ",\"pid\":"), row->pid);

	at = base_put_decimal(base_put_literal(at, ",\"tid\":"), row->tid);
	row->length = (uint8_t)(at - row->text);
}

struct chrome_row *chrome_row_make(struct chrome_writer *writer, uint32_t pid, uint64_t tid)
{
	writer->row.pid = pid;
	writer->row.tid = tid;
	render_row(&writer->row);
	return &writer->row;
}

static void name_cpu(struct chrome_writer *writer, uint32_t pid, uint32_t cpu)
{
	char name[16];

	snprintf(name, sizeof(name), "CPU%u", cpu);
	chrome_name(writer->chrome, "thread_name", pid, cpu, name);
}

struct chrome_row *chrome_row_of_cpu(struct chrome_writer *writer, uint32_t cpu)
{
	struct chrome_row *row = cpu < THREADS_CPUS_MAX ? &writer->cpu[cpu] : NULL;

	if (!row)
		return chrome_row_make(writer, ROW_CPUS, cpu);
	if (row->length == 0) {
		name_cpu(writer, ROW_CPUS, cpu);
		*row = (struct chrome_row){ .pid = ROW_CPUS, .tid = cpu };
		render_row(row);
	}
	return row;
}

struct chrome_row *chrome_row_of_interrupts(struct chrome_writer *writer, uint32_t cpu)
{
	if (cpu < THREADS_CPUS_MAX && !writer->interrupts_named[cpu]) {
		writer->interrupts_named[cpu] = true;
		name_cpu(writer, ROW_INTERRUPTS, cpu);
	}
	return chrome_row_make(writer, ROW_INTERRUPTS, cpu);
}

bool chrome_places_reserve(struct chrome_writer *writer, uint32_t index)
{
	struct chrome_place *larger =
		base_grow(writer->place, &writer->places, (size_t)index + 1, sizeof(*larger));

	if (!larger) {
		writer->error = KTREAD_E_MEMORY;
		return false;
	}
	writer->place = larger;
	return true;
}

void chrome_places_free(struct chrome_writer *writer)
{
	for (uint32_t index = 0; index < writer->places; index++) {
		free(writer->place[index].row.open.span);
		free(writer->place[index].label);
	}
	free(writer->place);
}

/* The process that a thread's row is in. */
static uint32_t process_of_thread(const struct chrome_writer *writer, uint32_t thread)
{
	uint32_t id = processes_of(writer->processes, thread);

	return id ? ROW_PROCESSES + id : ROW_THREADS;
}

/* Names the process of a thread that is met for the first time. Naming it again for another thread does no harm. */
static void name_process(struct chrome_writer *writer, uint32_t thread)
{
	uint32_t id = processes_of(writer->processes, thread);
	const struct processes_process *process = processes_find(writer->processes, id);
	char name[PROCESSES_COMMAND + 16];

	if (id == 0)
		return;
	if (process && process->command[0] != '\0')
		snprintf(name, sizeof(name), "%.48s (%u)", process->command, id);
	else
		chrome_thread_label(writer, id, name, sizeof(name));
	chrome_name(writer->chrome, "process_name", ROW_PROCESSES + id, -1, name);
}

struct chrome_row *chrome_row_of_lane(struct chrome_writer *writer, uint32_t index, unsigned lane)
{
	uint32_t id = threads_at(writer->threads, index)->id;
	uint32_t pid = lane == LANE_WAITS ? ROW_WAITS : lane ? ROW_LOCKS : process_of_thread(writer, id);
	uint64_t tid = lane && lane != LANE_WAITS ? (uint64_t)id * LOCK_LANES + lane : id;
	uint8_t bit = (uint8_t)(1u << lane);
	struct chrome_place *place;
	char name[64];

	if (!chrome_places_reserve(writer, index))
		return chrome_row_make(writer, pid, tid);
	place = &writer->place[index];
	if (!(place->named & bit)) {
		place->named |= bit;
		chrome_thread_label(writer, id, name, sizeof(name));
		if (lane == 0)
			name_process(writer, id);
		chrome_name(writer->chrome, "thread_name", pid, (int64_t)tid, name);
	}
	if (lane != 0)
		return chrome_row_make(writer, pid, tid);
	place->row = (struct chrome_row){ .pid = pid, .tid = tid, .own = true };
	render_row(&place->row);
	return &place->row;
}
