/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Objects of the trace: what all of them begin and end with, and the arguments of events. */
#include "export/chrome_writer.h"

#include "base/json.h"
#include "export/json.h"

/* "types":"size, fd, ptr, size": the types of the call's result and arguments. */
static char *put_types(struct chrome_writer *writer, char *at, const struct ktread_event *event, bool comma)
{
	const struct wellknown *known = wellknown_of(&writer->known, event);
	const struct chrome_call *call;
	const char *types;
	uint64_t number;

	if (known->kind != WELLKNOWN_SYSCALL_ENTER ||
	    !wellknown_number(known, event, WELLKNOWN_NUMBER, &number) || number > UINT32_MAX)
		return at;
	call = chrome_call_of(&writer->texts, writer->chrome->trace, number);
	types = call ? NULL : ktread_syscall_types(writer->chrome->trace, (uint32_t)number);
	*at = ',';
	if (call && call->types.length)
		return chrome_put_piece(at + comma, call->types);
	return types ? base_json_name(base_put_literal(at + comma, "\"types\":"), types) : at;
}

static char *put_addresses(char *at, const struct ktread_event *event)
{
	if (event->callers) {
		at = base_put_hex(base_put_literal(at, ",\"caller\":\"0x"), event->caller[0]);
		*at++ = '"';
	}
	if (event->callers > 1) {
		at = base_put_hex(base_put_literal(at, ",\"caller's caller\":\"0x"), event->caller[1]);
		*at++ = '"';
	}
	if (event->site) {
		at = base_put_hex(base_put_literal(at, ",\"site\":\"0x"), event->site);
		*at++ = '"';
	}
	return at;
}

/* Arguments that come from other parts of the trace. `*comma`: whether arguments precede, before the call and after it. */
static char *put_inferred(struct chrome_writer *writer, char *at, const struct ktread_event *event,
			  bool *comma)
{
	char *begin = at;

	if (writer->typed)
		at = put_types(writer, at, event, *comma);
	*comma |= at > begin;
	if (writer->path.bytes) {
		*at = ',';
		at = base_json_string(base_put_literal(at + *comma, "\"path\":"), writer->path.bytes,
				      writer->path.length);
		*comma = true;
	}
	return at;
}

/* The lead and the fields of an event without a shape. */
static char *put_shapeless(struct chrome_writer *writer, char *at, const struct ktread_event *event,
			   enum chrome_lead lead, bool *comma)
{
	const char *group = event->type->group;
	char *begin;

	if (lead == CHROME_INSTANT) {
		at = json_put_event_name(base_put_literal(at, ",\"name\":"), event->type, writer->version);
		group = *group ? group : "other";
	}
	if (lead != CHROME_END)
		at = base_json_name(base_put_literal(at, ",\"cat\":"), group);
	if (lead == CHROME_INSTANT)
		at = base_put_literal(at, ",\"s\":\"t\"");
	begin = base_put_literal(at, ",\"args\":{");
	at = json_put_fields(begin, event);
	*comma = at > begin;
	return at;
}

static char *put_cpu(char *at, const struct chrome_shape *shape, bool comma)
{
	const struct chrome_piece cpu = shape ? shape->cpu : (struct chrome_piece){ .text = NULL };

	*at = ',';
	if (!shape)
		return base_put_literal(at + comma, "\"cpu\":");
	memcpy(at, cpu.text + !comma, cpu.length - !comma);
	return at + cpu.length - !comma;
}

/* chrome_finish_event() for any event. */
static __attribute__((noinline)) void finish_slowly(struct chrome_writer *writer, char *at,
						    const struct ktread_event *event,
						    const struct chrome_shape *shape, enum chrome_lead lead)
{
	bool comma;

	at = shape ? chrome_put_fields(at, shape, lead, event, &comma)
		   : put_shapeless(writer, at, event, lead, &comma);
	at = put_inferred(writer, at, event, &comma);
	at = base_put_decimal(put_cpu(at, shape, comma), event->cpu);
	at = put_addresses(at, event);
	*at = '}';
	chrome_finish(writer, at + 1);
}

void chrome_finish_event(struct chrome_writer *writer, char *at, const struct ktread_event *event,
			 const struct chrome_shape *shape, enum chrome_lead lead)
{
	const struct chrome_field *field, *last;
	const unsigned char *from = event->payload;

	if (__builtin_expect(!shape || event->payload_size < shape->size || writer->inferred ||
				     event->callers || event->site || event->cpu > 999999,
			     0)) {
		finish_slowly(writer, at, event, shape, lead);
		return;
	}
	field = shape->field;
	last = field + shape->fields;
	at = chrome_put_piece(at, shape->lead_field[lead]);
	for (;;) {
		at = chrome_put_number(at, field, from);
		from += field->width;
		if (++field == last)
			break;
		at = chrome_put_piece(at, field->name);
	}
	at = base_put_middle(chrome_put_piece(at, shape->cpu), event->cpu);
	*at = '}';
	chrome_finish(writer, at + 1);
}
