/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "kdump/views.h"

#include <string.h>

#define PROBES 16u /* maximum number of entries that are searched for a thread's entry */

static unsigned entry_number(uint32_t pid, uint32_t tid, unsigned probe)
{
	return ((pid * 2654435761u ^ tid * 40503u) + probe) % KDUMP_PENDINGS;
}

/*
 * Returns the entry that a thread used last, even if the thread makes no call now. Returns NULL if the thread
 * has no entry. A thread has at most one entry.
 */
static struct kdump_pending *last_entry(struct kdump_pending_table *table, uint32_t pid, uint32_t tid)
{
	for (unsigned probe = 0; probe < PROBES; probe++) {
		struct kdump_pending *pending = &table->of[entry_number(pid, tid, probe)];

		if (pending->pid == pid && pending->tid == tid)
			return pending;
	}
	return NULL;
}

struct kdump_pending *kdump_pending_find(struct kdump_pending_table *table, uint32_t pid, uint32_t tid)
{
	struct kdump_pending *pending = last_entry(table, pid, tid);

	return pending && pending->used ? pending : NULL;
}

struct kdump_pending *kdump_pending_entry(struct kdump_pending_table *table, uint32_t pid, uint32_t tid)
{
	struct kdump_pending *last = last_entry(table, pid, tid);
	struct kdump_pending *oldest = &table->of[entry_number(pid, tid, 0)];

	if (last)
		return last;
	for (unsigned probe = 0; probe < PROBES; probe++) {
		struct kdump_pending *pending = &table->of[entry_number(pid, tid, probe)];

		if (!pending->used)
			return pending;
		if (pending->stamp < oldest->stamp)
			oldest = pending;
	}
	return oldest;
}

void kdump_pending_mark(struct kdump_pending *pending, const struct ktread_proc_record *record)
{
	pending->used = true;
	pending->doubtful = pending->shown_unfinished = pending->cut = false;
	pending->pid = record->pid;
	pending->tid = record->tid;
	pending->number = record->syscall.number;
	pending->stamp = record->stamp;
}

void kdump_pending_begin(struct kdump_pending *pending, const struct ktread_proc_record *record)
{
	kdump_pending_mark(pending, record);
	pending->words = record->syscall.args < CALLS_ARGUMENTS ? record->syscall.args : CALLS_ARGUMENTS;
	memcpy(pending->word, record->syscall.arg, pending->words * sizeof(pending->word[0]));
	pending->shown = pending->fillings = pending->pieces = pending->length = 0;
}

void kdump_pending_doubt(struct kdump_pending_table *table)
{
	for (unsigned n = 0; n < KDUMP_PENDINGS; n++)
		table->of[n].doubtful = true;
}

char *kdump_pending_fill(struct kdump_pending *pending, size_t *limit)
{
	*limit = sizeof(pending->text) - pending->length;
	return pending->fillings < KDUMP_FILLINGS ? pending->text + pending->length : NULL;
}

void kdump_pending_filled(struct kdump_pending *pending, enum kdump_filling_kind kind, unsigned argument,
			  const char *name, char *end)
{
	struct kdump_filling *filling = &pending->filling[pending->fillings++];

	filling->kind = kind;
	filling->argument = (uint8_t)argument;
	filling->name[0] = '\0';
	if (*name)
		strncat(filling->name, name, sizeof(filling->name) - 1);
	filling->offset = (uint16_t)pending->length;
	filling->length = (uint16_t)(end - pending->text - filling->offset);
	pending->length += filling->length;
}

void kdump_pending_drop(struct kdump_pending *pending, unsigned n)
{
	const struct kdump_filling gone = pending->filling[n];
	const unsigned end = gone.offset + gone.length;

	memmove(pending->text + gone.offset, pending->text + end, pending->length - end);
	pending->length -= gone.length;
	pending->fillings--;
	memmove(&pending->filling[n], &pending->filling[n + 1],
		(pending->fillings - n) * sizeof(pending->filling[0]));
	for (unsigned m = 0; m < pending->fillings; m++)
		if (pending->filling[m].offset > gone.offset)
			pending->filling[m].offset = (uint16_t)(pending->filling[m].offset - gone.length);
}
