/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "export/chrome_text.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "export/escape.h"
#include "export/json.h"
#include "export/number.h"
#include "ktrx/v2.h"

#define NAME_MOST \
	(ESCAPE_JSON_GROWTH * (2 * JSON_NAME + 1) + 32) /* bytes of a rendered name and what is around it */

enum form { OTHER, U8, U16, U32, U64, I8, I16, I32, I64, ADDRESS };

static const uint8_t forms[] = {
	[KTRX_TYPE_U8] = U8,   [KTRX_TYPE_U16] = U16, [KTRX_TYPE_U32] = U32,
	[KTRX_TYPE_U64] = U64, [KTRX_TYPE_I8] = I8,   [KTRX_TYPE_I16] = I16,
	[KTRX_TYPE_I32] = I32, [KTRX_TYPE_I64] = I64, [KTRX_TYPE_POINTER] = ADDRESS,
};

static enum form form_of(uint8_t type)
{
	return type < sizeof(forms) ? (enum form)forms[type] : OTHER;
}

static const uint8_t widths[] = {
	[U8] = 1, [U16] = 2, [U32] = 4, [U64] = 8, [I8] = 1, [I16] = 2, [I32] = 4, [I64] = 8, [ADDRESS] = 8
};

/* What has been written from `from` on. */
static struct chrome_piece piece(const char *from, const char *end)
{
	return (struct chrome_piece){ from, (uint32_t)(end - from) };
}

static char *render_field(struct chrome_field *field, const struct ktread_type *type, uint32_t n, char *at)
{
	char *from = at;

	*at = ',';
	at = json_put_name(at + (n > 0), type->field[n].name);
	*at++ = ':';
	field->form = (uint8_t)form_of(type->field[n].type);
	field->width = widths[field->form];
	if (field->form == ADDRESS)
		at = number_literal(at, "\"0x");
	field->name = piece(from, at);
	return at;
}

static void render_shape(struct chrome_shape *shape, const struct ktread_type *type, uint32_t version)
{
	char *at = shape->text, *from = at;
	const char *cpu = "\"cpu\":";

	shape->type = type;
	shape->fields = type->fields;
	shape->size = 0;
	at = json_put_event_name(number_literal(at, ",\"name\":"), type, version);
	at = json_put_name(number_literal(at, ",\"cat\":"), type->group);
	at = number_literal(at, ",\"s\":\"t\"");
	shape->instant = piece(from, at);
	from = at;
	at = json_put_name(number_literal(at, ",\"cat\":"), type->group);
	shape->category = piece(from, at);
	for (uint32_t n = 0; n < type->fields; n++) {
		at = render_field(&shape->field[n], type, n, at);
		if (shape->field[n].width == 0)
			shape->size = UINT32_MAX;
		else if (shape->size != UINT32_MAX)
			shape->size += shape->field[n].width;
		/* The CPU that an interprocessor interrupt goes to is a field of that name. */
		if (strcmp(type->field[n].name, "cpu") == 0)
			cpu = "\"event cpu\":";
	}
	from = at;
	at = stpcpy(at, cpu);
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
	text = calloc(type->fields + 4u, NAME_MOST);
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
	at = json_put_name(number_literal(call->text, ",\"name\":"), plain);
	call->name = piece(call->text, at);
	call->types = piece(at, types ? json_put_name(number_literal(at, "\"types\":"), types) : at);
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
		length = (size_t)(number_decimal(number_literal(text, "syscall_"), number) - text);
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

static inline uint64_t load(const unsigned char *from, uint32_t width)
{
	uint64_t whole;
	uint32_t half;
	uint16_t quarter;

	switch (width) {
	case 1:
		return *from;
	case 2:
		memcpy(&quarter, from, sizeof(quarter));
		return quarter;
	case 4:
		memcpy(&half, from, sizeof(half));
		return half;
	default:
		memcpy(&whole, from, sizeof(whole));
		return whole;
	}
}

static inline __attribute__((always_inline)) char *put_number(char *at, enum form form,
							      const unsigned char *from)
{
	switch (form) {
	case U8:
		return number_decimal(at, load(from, 1));
	case U16:
		return number_decimal(at, load(from, 2));
	case U32:
		return number_decimal(at, load(from, 4));
	case U64:
		return number_decimal(at, load(from, 8));
	case I8:
		return number_signed(at, (int8_t)load(from, 1));
	case I16:
		return number_signed(at, (int16_t)load(from, 2));
	case I32:
		return number_signed(at, (int32_t)load(from, 4));
	case I64:
		return number_signed(at, (int64_t)load(from, 8));
	default:
		at = number_hex(at, load(from, 8));
		*at = '"';
		return at + 1;
	}
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
			at = put_number(chrome_put_piece(at, field->name), (enum form)field->form, from);
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

char *chrome_put_fields(char *at, const struct chrome_shape *shape, const struct ktread_event *event)
{
	const struct chrome_field *field = shape->field, *last = field + shape->fields;
	const unsigned char *from = event->payload;

	if (event->payload_size < shape->size)
		return put_any(at, shape, event);
	for (; field < last; field++) {
		at = put_number(chrome_put_piece(at, field->name), (enum form)field->form, from);
		from += field->width;
	}
	return at;
}
