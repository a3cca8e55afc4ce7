/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The text of a session's TABLE records. Those right behind its head are taken in ahead, so that what comes
 * first can be shown by them; any that come later, when they are come to. What is too long for a table is
 * left out.
 */
#include <stdlib.h>

#include "proc_state.h"

#define TABLE_MOST (UINT32_C(4) << 20)

void ktread_proc_table_clear(struct ktread_proc *trace)
{
	trace->info.tables += trace->table_size != 0;
	trace->table_size = 0;
	trace->tabled = 0;
}

static void append(struct ktread_proc *trace, const uint8_t *text, uint32_t size)
{
	size_t wanted = trace->table_size + size + 1;

	if (wanted > TABLE_MOST || size == 0)
		return;
	if (wanted > trace->table_room) {
		size_t room = 2 * wanted;
		char *grown = realloc(trace->table, room);

		if (!grown)
			return;
		trace->table = grown;
		trace->table_room = room;
	}
	memcpy(trace->table + trace->table_size, text, size);
	trace->table_size += size;
	trace->table[trace->table_size] = '\0';
	trace->info.tables++;
}

void ktread_proc_table_add(struct ktread_proc *trace, uint64_t offset, const uint8_t *text, uint32_t size)
{
	if (offset < trace->tabled)
		return;
	append(trace, text, size);
	trace->tabled = offset + 1;
}

void ktread_proc_table_gather(struct ktread_proc *trace)
{
	struct ktread_proc_input *input = &trace->input;
	struct ktrx_proc_record head;
	size_t at = 0;

	while (at < KTREAD_PROC_PAYLOAD_MOST && ktread_proc_want(input, at + trace->record_head)) {
		memcpy(&head, ktread_proc_bytes(input) + at, sizeof(head));
		if (head.type != KTRX_PROC_TABLE || head.mark != KTRX_PROC_MARK ||
		    head.size > KTRX_PROC_PAYLOAD_MAX ||
		    !ktread_proc_want(input, at + ktread_proc_ktrx_size(trace, head.size)))
			return;
		ktread_proc_table_add(trace, input->offset + at,
				      ktread_proc_bytes(input) + at + trace->record_head, head.size);
		at += ktread_proc_ktrx_size(trace, head.size);
	}
}
