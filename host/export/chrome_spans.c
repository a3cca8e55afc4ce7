/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Spans: system calls, faults, interrupts and locks. */
#include "export/chrome_writer.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"

static void name_span(struct chrome_writer *writer, const struct spans_span *span,
		      const struct ktread_event *event, char *text, size_t size)
{
	const struct wellknown *known = wellknown_of(&writer->known, event);
	unsigned long long key = span->key;
	struct ktread_value value = { .length = 0 };
	const char *call = NULL;
	int named = wellknown_string(known, event, WELLKNOWN_NAME, &value) ? (int)value.length : 0;

	named = named < 40 ? named : 40;
	switch (span->kind) {
	case WELLKNOWN_SYSCALL_ENTER:
		if (span->has_key && key <= UINT32_MAX)
			call = ktread_syscall_name(writer->chrome->trace, (uint32_t)key);
		chrome_call_name(text, size, call, key);
		break;
	case WELLKNOWN_IRQ_ENTER:
		snprintf(text, size, "irq %llu%s%.*s", key, named ? " " : "", named,
			 named ? value.string : "");
		break;
	case WELLKNOWN_LOCK_CONTEND:
	case WELLKNOWN_LOCK_ACQUIRE:
		snprintf(text, size, "%s ", span->kind == WELLKNOWN_LOCK_CONTEND ? "wait for" : "hold");
		if (named)
			snprintf(text + strlen(text), size - strlen(text), "%.*s", named, value.string);
		else
			snprintf(text + strlen(text), size - strlen(text), "0x%llx", key);
		break;
	default:
		snprintf(text, size, "page fault");
	}
}

/* chrome_span_begin() for any span. */
static __attribute__((noinline)) void begin_named(struct chrome_writer *writer, struct chrome_row *row,
						  const struct spans_span *span,
						  const struct ktread_event *event)
{
	const struct chrome_shape *shape = chrome_writer_shape(writer, event);
	char name[CHROME_ROWS_NAME], *at;

	name_span(writer, span, event, name, sizeof(name));
	at = chrome_put_begin(writer, row, event->stamp, (struct chrome_piece){ .text = NULL }, name);
	if (at)
		chrome_finish_event(writer, base_json_name(base_put_literal(at, ",\"name\":"), name), event,
				    shape, CHROME_BEGIN);
}

void chrome_span_begin(void *context, struct spans_owner owner, unsigned lane, const struct spans_span *span,
		       const struct ktread_event *event)
{
	struct chrome_writer *writer = context;
	struct chrome_row *row = chrome_row_of(writer, owner, lane);
	const struct chrome_call *call = NULL;
	char *at;

	/* Every second event of many traces is a call. */
	if (span->kind == WELLKNOWN_SYSCALL_ENTER && span->has_key)
		call = chrome_call_of(&writer->texts, writer->chrome->trace, span->key);
	if (!call) {
		begin_named(writer, row, span, event);
		return;
	}
	at = chrome_put_begin(writer, row, event->stamp, call->name, NULL);
	if (at)
		chrome_finish_event(writer, chrome_put_piece(at, call->name), event,
				    chrome_writer_shape(writer, event), CHROME_BEGIN);
}

void chrome_span_end(void *context, struct spans_owner owner, unsigned lane, const struct spans_span *span,
		     const struct ktread_event *event, uint64_t time)
{
	struct chrome_writer *writer = context;
	char *at = chrome_put_end(writer, chrome_row_of(writer, owner, lane), event ? event->stamp : time);

	(void)span;
	if (at && event)
		chrome_finish_event(writer, at, event, chrome_writer_shape(writer, event), CHROME_END);
	else if (at)
		chrome_finish(writer, base_put_literal(at, ",\"args\":{\"end\":\"not recorded\"}"));
}
