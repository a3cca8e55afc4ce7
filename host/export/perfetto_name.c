/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* How spans are called. Names made of a number are interned by that number, as far as it is small. */
#include <stdio.h>
#include <string.h>

#include "export/perfetto.h"

static void name_text(struct perfetto_name *name, const char *text, size_t length)
{
	size_t room = sizeof(name->text) - name->length;

	if (length > PERFETTO_NAME_MAX)
		length = PERFETTO_NAME_MAX;
	if (length > room)
		length = room;
	memcpy(name->text + name->length, text, length);
	name->length += length;
}

static void name_call(struct perfetto *perfetto, struct perfetto_name *name, uint64_t number)
{
	const char *text;

	if (number < PERFETTO_NUMBERS) {
		name->iid = perfetto_call_iid(number);
		name->fresh = !perfetto_note(perfetto->stream.calls, (uint32_t)number);
		if (!name->fresh)
			return;
	}
	text = number <= UINT32_MAX ? ktread_syscall_name(perfetto->trace, (uint32_t)number) : NULL;
	if (text)
		name_text(name, text, strlen(text));
	else
		name->length = (size_t)snprintf(name->text, sizeof(name->text), "syscall_%llu",
						(unsigned long long)number);
}

static void name_irq(struct perfetto *perfetto, struct perfetto_name *name, const struct spans_span *span)
{
	if (span->has_key && span->key < PERFETTO_NUMBERS) {
		name->iid = perfetto_irq_iid(span->key);
		name->fresh = !perfetto_note(perfetto->stream.irqs, (uint32_t)span->key);
		if (!name->fresh)
			return;
	}
	name->length = span->has_key ? (size_t)snprintf(name->text, sizeof(name->text), "irq %llu",
							(unsigned long long)span->key)
				     : (size_t)snprintf(name->text, sizeof(name->text), "irq");
}

static bool is_lock(const struct spans_span *span)
{
	return span->kind == WELLKNOWN_LOCK_CONTEND || span->kind == WELLKNOWN_LOCK_ACQUIRE;
}

/* A kernel may name a lock where it costs little, on contention; the name then serves wherever the lock is met. */
static void name_lock(struct perfetto *perfetto, struct perfetto_name *name, const struct spans_span *span,
		      const struct ktread_value *told)
{
	struct perfetto_lock *lock = &perfetto->locks[span->key * UINT64_C(0x9e3779b97f4a7c15) >> 55];

	if (told) {
		lock->key = span->key;
		lock->length =
			(uint8_t)(told->length < sizeof(lock->name) ? told->length : sizeof(lock->name));
		memcpy(lock->name, told->string, lock->length);
	}
	if (span->kind == WELLKNOWN_LOCK_CONTEND)
		name_text(name, "wait ", strlen("wait "));
	if (lock->length > 0 && lock->key == span->key)
		name_text(name, lock->name, lock->length);
	else
		name->length += (size_t)snprintf(name->text + name->length, sizeof(name->text) - name->length,
						 "%#llx", (unsigned long long)span->key);
}

void perfetto_name_span(struct perfetto *perfetto, struct perfetto_name *name, const struct spans_span *span,
			const struct ktread_event *event)
{
	const struct wellknown *known = wellknown_of(&perfetto->known, event);
	struct ktread_value value;
	bool named;

	name->iid = name->length = 0;
	name->fresh = false;
	named = wellknown_string(known, event, WELLKNOWN_NAME, &value);
	if (is_lock(span))
		name_lock(perfetto, name, span, named ? &value : NULL);
	else if (named)
		name_text(name, value.string, value.length);
	else if (span->kind == WELLKNOWN_SYSCALL_ENTER)
		name_call(perfetto, name, span->key);
	else if (span->kind == WELLKNOWN_IRQ_ENTER)
		name_irq(perfetto, name, span);
	else
		name_text(name, "page fault", strlen("page fault"));
}
