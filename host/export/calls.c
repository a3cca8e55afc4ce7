/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "export/timeline.h"

#include <stdbool.h>
#include <string.h>

#include "base/escape.h"
#include "base/put.h"
#include "ktrx/v2.h"

#define NAME_MOST   160u /* maximum length, after escaping, of a name that is not cached, in bytes */
#define ERRORS_MOST 4095 /* a result from -1 down to minus this number may be an error */

enum state {
	STATE_UNKNOWN, /* it has not been looked up yet whether the call has a name and types */
	STATE_LONG,    /* the call has no name, or a name that is too long for the cache */
	STATE_NAMED,   /* the call has a name, but its types are unknown */
	STATE_TYPED,   /* the call has a name and types */
};

/* How to print an argument or result. */
enum how {
	HOW_HEX,
	HOW_INT,
	HOW_UNSIGNED_INT,
	HOW_SIZE,
	HOW_SIGNED,
	HOW_FLAGS, /* prints hexadecimal digits, but 0 as "0"; used for unknown types */
	HOW_OCTAL,
	HOW_NOTHING,
};

/* The list of types in spec/ktrx.md (normative). */
static const struct {
	char word[8];
	enum how how;
} words[] = {
	{ "void", HOW_NOTHING },     { "int", HOW_INT },	  { "fd", HOW_INT },
	{ "pid", HOW_INT },	     { "sig", HOW_INT },	  { "ms", HOW_INT },
	{ "off", HOW_SIGNED },	     { "long", HOW_SIGNED },	  { "size", HOW_SIZE },
	{ "ulong", HOW_SIZE },	     { "ptr", HOW_HEX },	  { "path", HOW_HEX },
	{ "str", HOW_HEX },	     { "data", HOW_HEX },	  { "buffer", HOW_HEX },
	{ "hex", HOW_HEX },	     { "mode", HOW_OCTAL },	  { "uint", HOW_UNSIGNED_INT },
	{ "uid", HOW_UNSIGNED_INT }, { "gid", HOW_UNSIGNED_INT },
};

static enum how how_of(const char *word, size_t length)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i].word) == length && memcmp(words[i].word, word, length) == 0)
			return words[i].how;
	return HOW_FLAGS;
}

/*
 * Parses the types of a call, such as "size, fd fd, data data, size size": the type of the result, followed
 * by the type and optional name of each argument. Returns false if there are more than CALLS_ARGUMENTS
 * arguments.
 */
static bool take_types(struct calls_form *form, const char *types)
{
	const char *at = types + strspn(types, " ");

	form->result = (uint8_t)how_of(at, strcspn(at, ", "));
	form->count = 0;
	for (at += strcspn(at, ","); *at; at += strcspn(at, ",")) {
		at += strspn(at, ", ");
		if (!*at)
			break;
		if (form->count == CALLS_ARGUMENTS)
			return false;
		form->argument[form->count++] = (uint8_t)how_of(at, strcspn(at, ", "));
	}
	return true;
}

static void take(struct calls_form *form, const struct ktread *trace, uint32_t number)
{
	const char *name = ktread_syscall_name(trace, number);
	const char *types = ktread_syscall_types(trace, number);
	char text[4 * CALLS_NAME];
	size_t length;

	form->state = STATE_LONG;
	if (!name)
		return;
	length = (size_t)(base_escape_text(text, name, strlen(name), sizeof(text)) - text);
	if (length >= sizeof(form->name))
		return;
	memcpy(form->name, text, length);
	form->name[length] = ' ';
	form->length = (uint8_t)length;
	form->state = types && take_types(form, types) ? STATE_TYPED : STATE_NAMED;
}

static const struct calls_form *form_of(struct calls *calls, uint32_t number, struct calls_form *spare)
{
	struct calls_form *form = number < CALLS_CACHED ? &calls->form[number] : spare;

	if (__builtin_expect(form->state == STATE_UNKNOWN, 0))
		take(form, calls->trace, number);
	return form;
}

/*
 * Finds the payload offsets of up to `count` numbers, beginning with field `first`. Stops at a string,
 * because fields after a string have no fixed offset.
 */
static void find_values(struct calls_shape *shape, const struct ktread_type *type, int first, uint32_t count)
{
	uint32_t offset = 0;

	*shape = (struct calls_shape){ .id = type->id };
	for (int n = 0; first >= 0 && n < type->fields && shape->count < count; n++) {
		uint32_t width = payload_width(type->field[n].type);

		if (width == 0)
			break;
		if (n >= first) {
			shape->type[shape->count] = type->field[n].type;
			shape->offset[shape->count++] = (uint16_t)offset;
			shape->end = (uint16_t)(offset + width);
		}
		offset += width;
	}
}

static char *put_octal(char *at, uint32_t number)
{
	char digits[12], *from = digits + sizeof(digits);
	size_t length;

	for (; number; number >>= 3)
		*--from = (char)('0' + (number & 7));
	*--from = '0';
	length = (size_t)(digits + sizeof(digits) - from);
	memcpy(at, from, length);
	return at + length;
}

static inline char *put_value(char *at, enum how how, uint8_t type, const unsigned char *from)
{
	uint64_t whole = payload_unsigned(type, from);

	switch (how) {
	case HOW_INT:
		return base_put_signed(at, (int32_t)whole);
	case HOW_UNSIGNED_INT:
		return base_put_decimal(at, (uint32_t)whole);
	case HOW_SIZE:
		return base_put_decimal(at, whole);
	case HOW_SIGNED:
		return base_put_signed(at, payload_signed(type, from));
	case HOW_OCTAL:
		return put_octal(at, (uint32_t)whole);
	case HOW_FLAGS:
		if (whole == 0)
			return base_put_literal(at, "0");
		break;
	default:
		break;
	}
	return base_put_hex(base_put_literal(at, "0x"), whole);
}

static char *put_enter(const struct calls_form *form, const struct calls_shape *shape, char *at,
		       const unsigned char *payload)
{
	at[-1] = '(';
	for (uint32_t n = 0; n < form->count; n++) {
		if (n > 0)
			at = base_put_literal(at, ", ");
		at = put_value(at, form->argument[n], shape->type[n], payload + shape->offset[n]);
	}
	*at = ')';
	return at + 1;
}

/* Prints a result. A negative result is printed as an error if the kernel has a name for the error. */
static char *put_exit(const struct calls *calls, const struct calls_form *form,
		      const struct calls_shape *shape, char *at, const unsigned char *payload)
{
	const unsigned char *from = payload + shape->offset[0];
	int64_t number = payload_signed(shape->type[0], from);
	const char *error = NULL;

	if (form->result == HOW_NOTHING)
		return at - 1;
	at = base_put_literal(at, "= ");
	if (number < 0 && number >= -ERRORS_MOST)
		error = ktread_error_name(calls->trace, (uint32_t)-number);
	if (error) {
		at = base_put_literal(base_put_signed(at, number), " ");
		return base_escape_text(at, error, strlen(error), NAME_MOST);
	}
	/*
	 * A size is printed as a signed number, because a call that returns a size may also return an error.
	 */
	return put_value(at, form->result == HOW_SIZE ? HOW_SIGNED : form->result, shape->type[0], from);
}

char *calls_put(struct calls *calls, char *at, uint32_t number, const struct wellknown *known,
		const struct ktread_event *event)
{
	bool enter = known->kind == WELLKNOWN_SYSCALL_ENTER;
	struct calls_shape *shape = enter ? &calls->enter : &calls->exit;
	struct calls_form spare = { .state = STATE_UNKNOWN };
	const struct calls_form *form = form_of(calls, number, &spare);

	if (form->state != STATE_TYPED)
		return NULL;
	if (__builtin_expect(shape->id != event->id, 0))
		find_values(shape, event->type,
			    enter ? known->field[WELLKNOWN_NUMBER] + 1 : known->field[WELLKNOWN_RESULT],
			    enter ? CALLS_ARGUMENTS : 1);
	if (shape->count < (enter ? form->count : 1) || shape->end > event->payload_size)
		return NULL;
	memcpy(at, form->name, sizeof(form->name));
	at += form->length + 1;
	return enter ? put_enter(form, shape, at, event->payload)
		     : put_exit(calls, form, shape, at, event->payload);
}

char *calls_put_name(struct calls *calls, char *at, uint32_t number)
{
	struct calls_form spare = { .state = STATE_UNKNOWN };
	const struct calls_form *form = form_of(calls, number, &spare);
	const char *name;

	if (form->state != STATE_LONG) {
		memcpy(at, form->name, sizeof(form->name));
		return at + form->length + 1;
	}
	name = ktread_syscall_name(calls->trace, number);
	if (!name)
		return at;
	at = base_escape_text(at, name, strlen(name), NAME_MOST);
	*at = ' ';
	return at + 1;
}
