/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "export/json.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "base/json.h"
#include "base/put.h"
#include "ktrx/slot.h"
#include "ktrx/v2.h"

char *json_put_event_name(char *at, const struct ktread_type *type, uint32_t version)
{
	char name[2 * BASE_JSON_NAME + 1];
	size_t length = 0;

	if (version == 1 || !*type->group) /* an unknown event has no group */
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

char *json_put_value(char *at, const struct ktread_value *value)
{
	char letter;

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

/* "data":"0a0b…": all that can be said of an event that the trace does not describe. */
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
		at = json_put_value(at, &value);
	}
	return at;
}
