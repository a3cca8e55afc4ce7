/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "export/timeline.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/names.h"
#include "analyze/wellknown.h"
#include "base/json.h"
#include "base/put.h"
#include "ktrx/slot.h"
#include "ktrx/v2.h"

char *json_put_event_name(char *at, const struct ktread_type *type)
{
	char name[2 * BASE_JSON_NAME + 1];
	size_t length = 0;

	if (type->name_alone || !*type->group) /* an event of an unknown type has no group */
		return base_json_name(at, type->name);
	length = strnlen(type->group, BASE_JSON_NAME);
	memcpy(name, type->group, length);
	name[length++] = '.';
	for (const char *from = type->name; *from && length < sizeof(name); from++)
		name[length++] = *from;
	for (size_t i = 0; i < length; i++)
		name[i] = (char)tolower((unsigned char)name[i]);
	return base_json_string(at, name, length);
}

char *json_put_value(char *at, const struct ktread_field *field, const struct ktread_value *value)
{
	char letter;

	if (timeline_is_unknown(field, value))
		return base_put_literal(at, "null");
	switch (value->type) {
	case KTRX_TYPE_I8:
	case KTRX_TYPE_I16:
	case KTRX_TYPE_I32:
	case KTRX_TYPE_I64:
		return base_put_signed(at, (int64_t)value->number);
	case KTRX_TYPE_POINTER:
		at = base_put_hex(base_put_literal(at, "\"0x"), value->number);
		*at = '"';
		return at + 1;
	case KTRX_TYPE_STRING:
		return base_json_string(at, value->string, value->length);
	case KTRX_TYPE_BOOL:
		return value->number ? base_put_literal(at, "true") : base_put_literal(at, "false");
	case KTRX_TYPE_CHAR:
		letter = (char)value->number;
		return base_json_string(at, &letter, 1);
	default:
		return base_put_decimal(at, value->number);
	}
}

/* Writes "data":"0a0b…" for an event whose type is unknown. */
static char *put_bytes(char *at, const struct ktread_event *event)
{
	at = base_put_literal(at, "\"data\":\"");
	for (uint32_t n = 0; n < event->payload_size && n < KTRX_RECORD_MAX_PAYLOAD; n++) {
		uint64_t digits = base_put_hex_digits((uint32_t)event->payload[n] << 24);

		memcpy(at, &digits, 2);
		at += 2;
	}
	*at = '"';
	return at + 1;
}

char *json_put_fields(char *at, const struct ktread_event *event)
{
	const struct ktread_type *type = event->type;
	char *begin = at;

	if (!*type->group)
		return put_bytes(at, event);
	for (uint32_t n = 0; n < type->fields; n++) {
		struct ktread_value value;

		if (ktread_value(event, n, &value) < 0)
			break;
		if (at > begin)
			*at++ = ',';
		at = base_json_name(at, type->field[n].name);
		*at++ = ':';
		at = json_put_value(at, &type->field[n], &value);
	}
	return at;
}

struct writer {
	struct timeline *timeline;
	uint64_t *lost; /* indexed by ring: number of lost slots reported so far */
	struct wellknown_table known;
	struct files *files; /* paths of open files; NULL: paths are not printed */
};

static char *put_time(const struct timeline *timeline, char *at, uint64_t stamp)
{
	uint64_t ticks = stamp > timeline->base ? stamp - timeline->base : 0;
	uint64_t nanoseconds;

	if (timeline->scale.frequency == 0)
		return base_put_decimal(base_put_literal(at, "{\"ticks\":"), ticks);
	nanoseconds = base_ticks_nanoseconds(&timeline->scale, ticks);
	at = base_put_decimal(base_put_literal(at, "{\"time\":"), nanoseconds / 1000000000u);
	*at = '.';
	at = base_put_three(at + 1, (uint32_t)(nanoseconds % 1000000000u / 1000000u));
	return base_put_six(at, (uint32_t)(nanoseconds % 1000000u));
}

static char *put_cpu(char *at, uint32_t cpu)
{
	at = base_put_literal(at, ",\"cpu\":");
	return cpu == KTRX_NO_CPU ? base_put_literal(at, "null") : base_put_decimal(at, cpu);
}

static char *put_call(struct writer *writer, char *at, const struct ktread_event *event)
{
	const struct wellknown *known = wellknown_of(&writer->known, event);
	const char *name = NULL;
	uint64_t number;

	if ((known->kind == WELLKNOWN_SYSCALL_ENTER || known->kind == WELLKNOWN_SYSCALL_EXIT) &&
	    wellknown_number(known, event, WELLKNOWN_NUMBER, &number) && number <= UINT32_MAX)
		name = ktread_syscall_name(writer->timeline->trace, (uint32_t)number);
	return name ? base_json_name(base_put_literal(at, ",\"call\":"), name) : at;
}

static char *put_path(struct writer *writer, char *at, const struct ktread_event *event)
{
	struct files_path path = files_event(writer->files, event, wellknown_of(&writer->known, event));

	return path.bytes ? base_json_string(base_put_literal(at, ",\"path\":"), path.bytes, path.length)
			  : at;
}

static char *put_event(struct writer *writer, char *at, const struct ktread_event *event)
{
	static const char *const contexts[] = { NULL, "irq", "nmi", "early" };
	const char *name = ktread_thread_name(writer->timeline->trace, event->thread);
	const char *context = contexts[event->context % 4];

	at = put_time(writer->timeline, at, timeline_stamp(writer->timeline, event));
	if (writer->timeline->ids)
		at = base_put_literal(timeline_put_id(base_put_literal(at, ",\"id\":\""), event), "\"");
	at = put_cpu(at, event->cpu);
	at = base_put_literal(at, ",\"thread\":");
	at = event->thread == KTREAD_NO_THREAD ? base_put_literal(at, "null")
					       : base_put_decimal(at, event->thread);
	if (name)
		at = base_json_name(base_put_literal(at, ",\"name\":"), name);
	if (context)
		at = base_json_name(base_put_literal(at, ",\"context\":"), context);
	at = json_put_event_name(base_put_literal(at, ",\"event\":"), event->type);
	at = put_call(writer, at, event);
	at = put_path(writer, at, event);
	at = json_put_fields(base_put_literal(at, ",\"args\":{"), event);
	*at++ = '}';
	at = places_put_json(at, event, writer->timeline->symbols);
	return base_put_literal(at, "}\n");
}

static void write_gap(struct writer *writer, uint32_t ring, uint64_t slots)
{
	struct base_output *out = writer->timeline->out;
	char *at = base_put_decimal(base_put_literal(base_output_line(out), "{\"lost\":"), slots);

	at = put_cpu(at, ktread_ring(writer->timeline->trace, ring)->cpu);
	base_output_done(out, base_put_literal(at, "}\n"));
	writer->lost[ring] += slots;
	writer->timeline->lost += slots;
}

static int write_all(struct writer *writer)
{
	struct timeline *timeline = writer->timeline;
	uint64_t left = timeline->limit ? timeline->limit : UINT64_MAX;
	const struct ktread_event *event;
	int result;

	while ((result = ktread_next(timeline->trace, &event)) > 0) {
		if (event->lost)
			write_gap(writer, event->ring, event->lost);
		base_output_done(timeline->out, put_event(writer, base_output_line(timeline->out), event));
		timeline->shown++;
		if (--left == 0 || timeline->out->error)
			return result;
	}
	for (uint32_t n = 0; n < ktread_info(timeline->trace)->rings; n++) {
		const struct ktread_ring *ring = ktread_ring(timeline->trace, n);

		if (timeline_wants_ring(timeline, ring) &&
		    ring->overwritten + ring->invalid - ring->outside > writer->lost[n])
			write_gap(writer, n,
				  ring->overwritten + ring->invalid - ring->outside - writer->lost[n]);
	}
	return result;
}

int lines_write(struct timeline *timeline)
{
	const struct ktread_info *info = ktread_info(timeline->trace);
	struct writer *writer = calloc(1, sizeof(*writer));
	int result = KTREAD_E_MEMORY;

	if (!writer)
		return result;
	timeline->base = ktread_first_stamp(timeline->trace);
	base_ticks_scale_init(&timeline->scale, info->frequency);
	writer->timeline = timeline;
	writer->lost = calloc((size_t)info->rings + 1, sizeof(*writer->lost));
	if (writer->lost && files_create(&writer->files, timeline->trace) == 0)
		result = write_all(writer);
	files_destroy(writer->files);
	free(writer->lost);
	free(writer);
	return result;
}
