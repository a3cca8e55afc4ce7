/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "export/chrome_text.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "base/escape.h"
#include "base/json.h"
#include "export/json.h"
#include "base/put.h"
#include "export/payload.h"
#include "ktrx/v2.h"

#define NAME_MOST                                             \
	(BASE_ESCAPE_JSON_GROWTH * (2 * BASE_JSON_NAME + 1) + \
	 32) /* bytes of a rendered name and what is around it */

static uint8_t form_of(uint8_t type)
{
	switch (type) {
	case KTRX_TYPE_I8:
	case KTRX_TYPE_I16:
	case KTRX_TYPE_I32:
	case KTRX_TYPE_I64:
		return CHROME_SIGNED;
	case KTRX_TYPE_POINTER:
		return CHROME_ADDRESS;
	case KTRX_TYPE_U8:
	case KTRX_TYPE_U16:
	case KTRX_TYPE_U32:
	case KTRX_TYPE_U64:
		return CHROME_UNSIGNED;
	default:
		return CHROME_OTHER;
	}
}

/* What has been written from `from` on. */
static struct chrome_piece piece(const char *from, const char *end)
{
	return (struct chrome_piece){ from, (uint32_t)(end - from) };
}

static char *render_field(struct chrome_field *field, const struct ktread_type *type, uint32_t n, char *at)
{
	char *from = at;

	*at = ',';
	at = base_json_name(at + (n > 0), type->field[n].name);
	*at++ = ':';
	field->form = form_of(type->field[n].type);
	field->width = field->form == CHROME_OTHER ? 0 : (uint8_t)payload_width(type->field[n].type);
	field->unused = (uint8_t)(64 - 8 * field->width);
	if (field->form == CHROME_ADDRESS)
		at = base_put_literal(at, "\"0x");
	field->name = piece(from, at);
	return at;
}

/* Whether a field is named like what is added to the arguments. The CPU that an interprocessor interrupt goes to is. */
static bool has_field(const struct ktread_type *type, const char *name)
{
	for (uint32_t n = 0; n < type->fields; n++)
		if (strcmp(type->field[n].name, name) == 0)
			return true;
	return false;
}

static char *render_fields(struct chrome_shape *shape, const struct ktread_type *type, char *at)
{
	shape->fields = type->fields;
	shape->size = type->fields ? 0 : UINT32_MAX;
	for (uint32_t n = 0; n < type->fields; n++) {
		at = render_field(&shape->field[n], type, n, at);
		if (shape->field[n].width == 0)
			shape->size = UINT32_MAX;
		else if (shape->size != UINT32_MAX)
			shape->size += shape->field[n].width;
	}
	return at;
}

/* `at` is where the lead begins; what is between it and `end` is written. */
static char *render_lead(struct chrome_shape *shape, enum chrome_lead lead, const char *from, char *end)
{
	end = base_put_literal(end, ",\"args\":{");
	shape->lead[lead] = shape->lead_field[lead] = piece(from, end);
	if (shape->fields) {
		end = (char *)memcpy(end, shape->field[0].name.text, shape->field[0].name.length) +
		      shape->field[0].name.length;
		shape->lead_field[lead] = piece(from, end);
	}
	return end;
}

static void render_shape(struct chrome_shape *shape, const struct ktread_type *type, uint32_t version)
{
	char *at = render_fields(shape, type, shape->text), *from = at;

	shape->type = type;
	at = json_put_event_name(base_put_literal(at, ",\"name\":"), type, version);
	at = base_json_name(base_put_literal(at, ",\"cat\":"), type->group);
	at = render_lead(shape, CHROME_INSTANT, from, base_put_literal(at, ",\"s\":\"t\""));
	from = at;
	at = render_lead(shape, CHROME_BEGIN, from,
			 base_json_name(base_put_literal(at, ",\"cat\":"), type->group));
	at = render_lead(shape, CHROME_END, at, at);
	from = at;
	at = stpcpy(at, has_field(type, "cpu") ? ",\"event cpu\":" : ",\"cpu\":");
	shape->cpu = piece(from, at);
}

const struct chrome_shape *chrome_shape_render(struct chrome_texts *texts, const struct ktread_type *type,
					       uint32_t version)
{
	struct chrome_shape **place = &texts->shape[type->id & 4095u], *shape;
	char *text;

	if (!*type->group) /* it may be overwritten by the next unknown event */
		return NULL;
	shape = malloc(sizeof(*shape) + type->fields * sizeof(shape->field[0]));
	text = calloc(type->fields + 8u, NAME_MOST);
	if (!shape || !text) {
		free(shape);
		free(text);
		return NULL;
	}
	if (*place)
		free((*place)->text);
	free(*place);
	*place = shape;
	shape->text = text;
	render_shape(shape, type, version);
	return shape;
}

const struct chrome_call *chrome_call_render(struct chrome_texts *texts, const struct ktread *trace,
					     uint32_t number)
{
	const char *name = ktread_syscall_name(trace, number), *types = ktread_syscall_types(trace, number);
	struct chrome_call *call = calloc(1, sizeof(*call) + 2 * NAME_MOST + CHROME_PIECE);
	char plain[CHROME_CALL_NAME + 1];
	char *at;

	if (!call)
		return NULL;
	chrome_call_name(plain, sizeof(plain), name, number);
	at = base_json_name(base_put_literal(call->text, ",\"name\":"), plain);
	call->name = piece(call->text, at);
	call->types = piece(at, types ? base_json_name(base_put_literal(at, "\"types\":"), types) : at);
	texts->call[number] = call;
	return call;
}

void chrome_call_name(char *text, size_t size, const char *name, uint64_t number)
{
	size_t length = name ? base_utf8_cut(name, strlen(name),
					     size - 1 < CHROME_CALL_NAME ? size - 1 : CHROME_CALL_NAME)
			     : 0;

	if (name)
		memcpy(text, name, length);
	else
		length = (size_t)(base_put_decimal(base_put_literal(text, "syscall_"), number) - text);
	text[length] = '\0';
}

void chrome_texts_free(struct chrome_texts *texts)
{
	for (size_t n = 0; n < sizeof(texts->shape) / sizeof(texts->shape[0]); n++) {
		if (texts->shape[n])
			free(texts->shape[n]->text);
		free(texts->shape[n]);
	}
	for (size_t n = 0; n < CALLS_CACHED; n++)
		free(texts->call[n]);
}

/* Fields of any kind, of which the payload may hold a part only. */
static char *put_any(char *at, const struct chrome_shape *shape, const struct ktread_event *event)
{
	const unsigned char *from = event->payload, *end = from + event->payload_size;

	for (uint32_t n = 0; n < shape->fields; n++) {
		const struct chrome_field *field = &shape->field[n];
		struct ktread_value value;

		if (field->width) {
			if (end - from < field->width)
				break;
			at = chrome_put_number(chrome_put_piece(at, field->name), field, from);
			from += field->width;
			continue;
		}
		if (ktread_value(event, n, &value) < 0)
			break;
		at = json_put_value(chrome_put_piece(at, field->name), &value);
		from += value.length + (value.type == KTRX_TYPE_STRING ? sizeof(uint16_t) : 0);
	}
	return at;
}

char *chrome_put_fields(char *at, const struct chrome_shape *shape, enum chrome_lead lead,
			const struct ktread_event *event, bool *comma)
{
	char *begin = chrome_put_piece(at, shape->lead[lead]);

	at = put_any(begin, shape, event);
	*comma = at > begin;
	return at;
}
