/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Names of spans, for all output formats that use walk.h. */
#include "export/walk.h"

void walk_name_span(struct walk *walk, struct walk_name *name, const struct spans_span *span,
		    const struct ktread_event *event)
{
	const struct wellknown *known = wellknown_of(&walk->known, event);
	struct ktread_value value;

	name->kind = WALK_NAME_TEXT;
	name->number = span->key;
	name->length = 0;
	if (span->kind == WELLKNOWN_SYSCALL_ENTER)
		name->kind = WALK_NAME_CALL;
	else if (span->kind == WELLKNOWN_IRQ_ENTER && span->has_key)
		name->kind = WALK_NAME_IRQ;
	if (name->kind != WALK_NAME_TEXT && wellknown_string(known, event, WELLKNOWN_NAME, &value))
		name->kind = WALK_NAME_TEXT;
	if (name->kind == WALK_NAME_TEXT)
		name->length = span_name(&walk->names, walk->trace, span, event, known, name->text);
}

void walk_name_text(const struct walk *walk, struct walk_name *name)
{
	if (name->kind == WALK_NAME_CALL)
		name->length = span_name_call(walk->trace, name->number, name->text);
	else if (name->kind == WALK_NAME_IRQ)
		name->length = span_name_interrupt(name->number, name->text);
}
