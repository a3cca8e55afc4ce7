/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "analyze/span_names.h"

#include <stdio.h>
#include <string.h>

static size_t put(char *text, size_t length, const char *bytes, size_t count)
{
	if (count > SPAN_NAMES_RECORDED)
		count = SPAN_NAMES_RECORDED;
	if (count > SPAN_NAMES_MOST - length)
		count = SPAN_NAMES_MOST - length;
	memcpy(text + length, bytes, count);
	return length + count;
}

size_t span_name_call(const struct ktread *trace, uint64_t number, char *text)
{
	const char *name = number <= UINT32_MAX ? ktread_syscall_name(trace, (uint32_t)number) : NULL;

	if (name)
		return put(text, 0, name, strlen(name));
	return (size_t)snprintf(text, SPAN_NAMES_MOST, "syscall_%llu", (unsigned long long)number);
}

size_t span_name_interrupt(uint64_t number, char *text)
{
	return (size_t)snprintf(text, SPAN_NAMES_MOST, "irq %llu", (unsigned long long)number);
}

static size_t name_interrupt(const struct spans_span *span, char *text)
{
	return span->has_key ? span_name_interrupt(span->key, text) : put(text, 0, "irq", strlen("irq"));
}

/*
 * Writes a span's name. `recorded`: the name in the event that begins the span; NULL if the event has none.
 */
static size_t name_lock(struct span_names *names, const struct spans_span *span,
			const struct ktread_value *recorded, char *text)
{
	struct span_names_lock *lock = &names->lock[span->key * UINT64_C(0x9e3779b97f4a7c15) >> 55];
	size_t length = 0;

	if (recorded) {
		lock->key = span->key;
		lock->length = (uint8_t)(recorded->length < sizeof(lock->name) ? recorded->length
									       : sizeof(lock->name));
		memcpy(lock->name, recorded->string, lock->length);
	}
	if (span->kind == WELLKNOWN_LOCK_CONTEND)
		length = put(text, length, "wait ", strlen("wait "));
	if (lock->length > 0 && lock->key == span->key)
		return put(text, length, lock->name, lock->length);
	return length + (size_t)snprintf(text + length, SPAN_NAMES_MOST - length, "%#llx",
					 (unsigned long long)span->key);
}

size_t span_name(struct span_names *names, const struct ktread *trace, const struct spans_span *span,
		 const struct ktread_event *event, const struct wellknown *known, char *text)
{
	struct ktread_value value;
	const bool named = wellknown_string(known, event, WELLKNOWN_NAME, &value);

	switch (span->kind) {
	case WELLKNOWN_LOCK_CONTEND:
	case WELLKNOWN_LOCK_ACQUIRE:
		return name_lock(names, span, named ? &value : NULL, text);
	case WELLKNOWN_SYSCALL_ENTER:
		return named ? put(text, 0, value.string, value.length)
			     : span_name_call(trace, span->key, text);
	case WELLKNOWN_IRQ_ENTER:
		return named ? put(text, 0, value.string, value.length) : name_interrupt(span, text);
	default:
		return named ? put(text, 0, value.string, value.length)
			     : put(text, 0, "page fault", strlen("page fault"));
	}
}
