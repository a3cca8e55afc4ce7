/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Names of spans, for all output formats that use walk.h. */
#include "export/walk.h"

#include <stdio.h>
#include <string.h>

static void add_text(struct walk_name *name, const char *text, size_t length)
{
	size_t room = sizeof(name->text) - name->length;

	if (length > WALK_NAME_MAX)
		length = WALK_NAME_MAX;
	if (length > room)
		length = room;
	memcpy(name->text + name->length, text, length);
	name->length += length;
}

static bool is_lock(const struct spans_span *span)
{
	return span->kind == WELLKNOWN_LOCK_CONTEND || span->kind == WELLKNOWN_LOCK_ACQUIRE;
}

/*
 * Names a lock. A kernel may record the name of a lock only on contention, where the cost matters less. So
 * the name is cached, and used for other events of the same lock.
 */
static void name_lock(struct walk *walk, struct walk_name *name, const struct spans_span *span,
		      const struct ktread_value *recorded)
{
	struct walk_lock *lock = &walk->locks[span->key * UINT64_C(0x9e3779b97f4a7c15) >> 55];

	if (recorded) {
		lock->key = span->key;
		lock->length =
			(uint8_t)(recorded->length < WALK_LOCK_NAME ? recorded->length : WALK_LOCK_NAME);
		memcpy(lock->name, recorded->string, lock->length);
	}
	if (span->kind == WELLKNOWN_LOCK_CONTEND)
		add_text(name, "wait ", strlen("wait "));
	if (lock->length > 0 && lock->key == span->key)
		add_text(name, lock->name, lock->length);
	else
		name->length += (size_t)snprintf(name->text + name->length, sizeof(name->text) - name->length,
						 "%#llx", (unsigned long long)span->key);
}

void walk_name_span(struct walk *walk, struct walk_name *name, const struct spans_span *span,
		    const struct ktread_event *event)
{
	const struct wellknown *known = wellknown_of(&walk->known, event);
	struct ktread_value value;
	bool named = wellknown_string(known, event, WELLKNOWN_NAME, &value);

	name->kind = WALK_NAME_TEXT;
	name->number = span->key;
	name->length = 0;
	if (is_lock(span))
		name_lock(walk, name, span, named ? &value : NULL);
	else if (named)
		add_text(name, value.string, value.length);
	else if (span->kind == WELLKNOWN_SYSCALL_ENTER)
		name->kind = WALK_NAME_CALL;
	else if (span->kind == WELLKNOWN_IRQ_ENTER && span->has_key)
		name->kind = WALK_NAME_IRQ;
	else if (span->kind == WELLKNOWN_IRQ_ENTER)
		add_text(name, "irq", strlen("irq"));
	else
		add_text(name, "page fault", strlen("page fault"));
}

void walk_name_text(const struct walk *walk, struct walk_name *name)
{
	const char *call = NULL;

	if (name->kind == WALK_NAME_TEXT)
		return;
	name->length = 0;
	if (name->kind == WALK_NAME_CALL && name->number <= UINT32_MAX)
		call = ktread_syscall_name(walk->trace, (uint32_t)name->number);
	if (call)
		add_text(name, call, strlen(call));
	else
		name->length = (size_t)snprintf(name->text, sizeof(name->text), "%s%llu",
						name->kind == WALK_NAME_CALL ? "syscall_" : "irq ",
						(unsigned long long)name->number);
}
