/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "analyze/threads.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/index.h"

struct membership {
	uint32_t thread, process;
};

struct table {
	void *entry; /* array of elements; the first member of each element is its id */
	size_t entry_size;
	uint32_t entries, room;
	struct base_index index; /* index that finds an element by its id */
};

struct processes {
	struct table threads, all;
};

static uint32_t *id_at(const struct table *table, uint32_t n)
{
	return (uint32_t *)((char *)table->entry + n * table->entry_size);
}

static void *find(const struct table *table, uint32_t id)
{
	for (uint32_t probe = 0, n; base_index_next(&table->index, base_hash(0, id), &probe, &n);)
		if (*id_at(table, n) == id)
			return id_at(table, n);
	return NULL;
}

/* Finds or adds the entry of this id. Returns NULL if out of memory. */
static void *obtain(struct table *table, uint32_t id)
{
	void *entry = find(table, id);

	if (entry)
		return entry;
	entry = base_grow(table->entry, &table->room, table->entries + 1u, table->entry_size);
	if (!entry)
		return NULL;
	table->entry = entry;
	if (base_index_add(&table->index, base_hash(0, id), table->entries) < 0)
		return NULL;
	*id_at(table, table->entries) = id;
	return id_at(table, table->entries++);
}

/*
 * Adds a process and its thread. If the thread is known to belong to another process, it stays in that
 * process.
 */
static int add_member(struct processes *processes, uint32_t thread, uint32_t process)
{
	struct membership *member;

	if (thread == 0 || process == 0)
		return 0;
	member = obtain(&processes->threads, thread);
	if (!member || !obtain(&processes->all, process))
		return KTREAD_E_MEMORY;
	if (member->process == 0)
		member->process = process;
	return 0;
}

static int add_fork(struct processes *processes, uint32_t parent, uint32_t child)
{
	const struct processes_process *from;
	struct processes_process *process;

	if (child == 0)
		return 0;
	process = obtain(&processes->all, child);
	if (!process)
		return KTREAD_E_MEMORY;
	if (process->parent == 0)
		process->parent = parent;
	from = find(&processes->all, parent);
	if (from && process->command[0] == '\0')
		memcpy(process->command, from->command, sizeof(process->command));
	return 0;
}

static int add_exec(struct processes *processes, uint32_t id, const struct ktread_value *path)
{
	struct processes_process *process;
	size_t length = path->length < PROCESSES_COMMAND ? path->length : PROCESSES_COMMAND - 1;

	if (id == 0)
		return 0;
	process = obtain(&processes->all, id);
	if (!process)
		return KTREAD_E_MEMORY;
	if (!process->exec) {
		memcpy(process->command, path->string, length);
		process->command[length] = '\0';
	}
	process->exec = true;
	return 0;
}

uint32_t processes_subject(const struct processes *processes, const struct ktread_event *event,
			   const struct wellknown *known)
{
	uint32_t id;

	if (wellknown_thread(known, event, WELLKNOWN_PROCESS, &id) && id != 0)
		return id;
	return processes_of(processes, event->thread);
}

static int take(struct processes *processes, const struct ktread_event *event, const struct wellknown *known)
{
	uint32_t process = processes_subject(processes, event, known), thread;
	struct ktread_value path;
	int error;

	switch (known->kind) {
	case WELLKNOWN_CREATE:
		if (wellknown_thread(known, event, WELLKNOWN_PROCESS, &process) &&
		    wellknown_thread(known, event, WELLKNOWN_THREAD, &thread))
			return add_member(processes, thread, process);
		return 0;
	case WELLKNOWN_PROCESS_FORK:
		error = add_member(processes, event->thread, process);
		if (!error && wellknown_thread(known, event, WELLKNOWN_CHILD, &thread))
			error = add_fork(processes, process, thread);
		return error;
	case WELLKNOWN_PROCESS_EXEC:
		error = add_member(processes, event->thread, process);
		if (!error && wellknown_string(known, event, WELLKNOWN_NAME, &path))
			error = add_exec(processes, process, &path);
		return error;
	case WELLKNOWN_PROCESS_EXIT:
		return add_member(processes, event->thread, process);
	default:
		return 0;
	}
}

static bool are_declared(const struct ktread *trace)
{
	return wellknown_declared(trace, WELLKNOWN_PROCESS_FORK) ||
	       wellknown_declared(trace, WELLKNOWN_PROCESS_EXEC) ||
	       wellknown_declared(trace, WELLKNOWN_PROCESS_EXIT);
}

int processes_read(struct processes **result, struct ktread *trace, struct wellknown_table *table)
{
	struct processes *processes = calloc(1, sizeof(*processes));
	const struct ktread_event *event;
	int status = 0;

	*result = processes;
	if (!processes)
		return KTREAD_E_MEMORY;
	processes->threads.entry_size = sizeof(struct membership);
	processes->all.entry_size = sizeof(struct processes_process);
	if (!are_declared(trace))
		return 0;
	while ((status = ktread_next(trace, &event)) > 0) {
		status = take(processes, event, wellknown_of(table, event));
		if (status < 0)
			break;
	}
	return status < 0 ? status : ktread_rewind(trace);
}

void processes_free(struct processes *processes)
{
	if (!processes)
		return;
	free(processes->threads.entry);
	free(processes->all.entry);
	base_index_free(&processes->threads.index);
	base_index_free(&processes->all.index);
	free(processes);
}

uint32_t processes_of(const struct processes *processes, uint32_t thread)
{
	const struct membership *member = find(&processes->threads, thread);

	return member ? member->process : 0;
}

const struct processes_process *processes_find(const struct processes *processes, uint32_t id)
{
	return find(&processes->all, id);
}

const struct processes_process *processes_at(const struct processes *processes, uint32_t n)
{
	return n < processes->all.entries ? (const void *)id_at(&processes->all, n) : NULL;
}
