/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "kdump/pending.h"

#include <string.h>

#define PROBES 16u /* places that a thread may be in */

static unsigned place(uint32_t pid, uint32_t tid, unsigned probe)
{
	return ((pid * 2654435761u ^ tid * 40503u) + probe) % KDUMP_PENDINGS;
}

struct kdump_pending *kdump_pending_find(struct kdump_pending_table *table, uint32_t pid, uint32_t tid)
{
	for (unsigned probe = 0; probe < PROBES; probe++) {
		struct kdump_pending *pending = &table->of[place(pid, tid, probe)];

		if (pending->used && pending->pid == pid && pending->tid == tid)
			return pending;
	}
	return NULL;
}

struct kdump_pending *kdump_pending_place(struct kdump_pending_table *table, uint32_t pid, uint32_t tid)
{
	struct kdump_pending *oldest = kdump_pending_find(table, pid, tid);

	for (unsigned probe = 0; probe < PROBES && !(oldest && oldest->pid == pid && oldest->tid == tid);
	     probe++) {
		struct kdump_pending *pending = &table->of[place(pid, tid, probe)];

		if (!pending->used)
			return pending;
		if (!oldest || pending->stamp < oldest->stamp)
			oldest = pending;
	}
	return oldest;
}

void kdump_pending_begin(struct kdump_pending *pending, const struct ktread_proc_record *record)
{
	pending->used = true;
	pending->doubtful = pending->told = false;
	pending->pid = record->pid;
	pending->tid = record->tid;
	pending->number = record->syscall.number;
	pending->words = record->syscall.args < KDUMP_ARGUMENTS ? record->syscall.args : KDUMP_ARGUMENTS;
	memcpy(pending->word, record->syscall.arg, pending->words * sizeof(pending->word[0]));
	pending->stamp = record->stamp;
	pending->shown = pending->fillings = pending->length = 0;
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

void kdump_pending_filled(struct kdump_pending *pending, enum kdump_filling_kind kind, const char *name,
			  char *end)
{
	struct kdump_filling *filling = &pending->filling[pending->fillings++];

	filling->kind = kind;
	filling->name[0] = '\0';
	strncat(filling->name, name, sizeof(filling->name) - 1);
	filling->offset = (uint16_t)pending->length;
	filling->length = (uint16_t)(end - pending->text - filling->offset);
	pending->length += filling->length;
}
