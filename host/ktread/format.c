/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Formats an event's text with its values. The text comes from the guest, so it never reaches printf. This
 * code parses the text. Each conversion prints the next field, even if the field's type is not the type that
 * the conversion expects.
 */
#include <stdbool.h>
#include <string.h>

#include "ktrx/v2.h"
#include "trace.h"

#define WIDTH_MAX 256u

struct out {
	char *buffer;
	size_t size, used;
};

/* One conversion in an event's text: %[flags][width][.precision][length]letter. */
struct conversion {
	bool left, plus, blank, alternate, zero, has_precision;
	uint32_t width, precision;
	int shorts; /* number of 'h' modifiers (one for short, two for char) */
	char letter;
};

/* The values of an event's fields, and the position of the next one. */
struct values {
	const struct ktread_event *event;
	uint32_t next, offset;
};

static void put(struct out *out, char byte)
{
	if (out->used + 1 < out->size)
		out->buffer[out->used++] = byte;
}

static void put_escaped(struct out *out, unsigned char byte)
{
	static const char digits[] = "0123456789abcdef";

	if (byte >= 0x20 && byte < 0x7f) {
		put(out, (char)byte);
	} else if (out->used + 4 < out->size) {
		put(out, '\\');
		put(out, 'x');
		put(out, digits[byte >> 4]);
		put(out, digits[byte & 15]);
	}
}

static void put_text(struct out *out, const char *text)
{
	while (*text)
		put_escaped(out, (unsigned char)*text++);
}

static void pad(struct out *out, char with, uint32_t width, uint32_t used)
{
	for (; used < width; used++)
		put(out, with);
}

static uint32_t parse_number(const char **text)
{
	uint32_t number = 0;

	for (; **text >= '0' && **text <= '9'; (*text)++)
		number = number * 10 + (uint32_t)(**text - '0') > WIDTH_MAX
				 ? WIDTH_MAX
				 : number * 10 + (uint32_t)(**text - '0');
	return number;
}

static bool take(struct values *values, struct ktread_value *value)
{
	return values->next < values->event->type->fields &&
	       ktread_value_take(values->event, values->next++, &values->offset, value) == 0;
}

/* Parses a width or precision: digits, or `*`, which means the next value of the event. */
static uint32_t parse_size(const char **text, struct values *values)
{
	struct ktread_value value;

	if (**text != '*')
		return parse_number(text);
	(*text)++;
	if (!take(values, &value))
		return 0;
	return value.number > WIDTH_MAX ? WIDTH_MAX : (uint32_t)value.number;
}

/* Parses a conversion after its `%`. Moves *text past the conversion's letter. */
static struct conversion parse_conversion(const char **text, struct values *values)
{
	struct conversion found = { 0 };

	for (;; (*text)++) {
		if (**text == '-')
			found.left = true;
		else if (**text == '+')
			found.plus = true;
		else if (**text == ' ')
			found.blank = true;
		else if (**text == '#')
			found.alternate = true;
		else if (**text == '0')
			found.zero = true;
		else
			break;
	}
	found.width = parse_size(text, values);
	if (**text == '.') {
		(*text)++;
		found.has_precision = true;
		found.precision = parse_size(text, values);
	}
	for (; **text && strchr("hlzjt", **text); (*text)++)
		found.shorts += **text == 'h';
	found.letter = **text;
	if (found.letter)
		(*text)++;
	return found;
}

static void put_string(struct out *out, const struct conversion *how, const char *string, uint32_t length)
{
	if (how->has_precision && how->precision < length)
		length = how->precision;
	if (!how->left)
		pad(out, ' ', how->width, length);
	for (uint32_t i = 0; i < length; i++)
		put_escaped(out, (unsigned char)string[i]);
	if (how->left)
		pad(out, ' ', how->width, length);
}

/*
 * Stores the digits of `number` in base `base` (8, 10 or 16), the least significant digit first. Returns the
 * number of digits.
 */
static uint32_t make_digits(char *digits, uint64_t number, uint32_t base, bool upper)
{
	const char *set = upper ? "0123456789ABCDEF" : "0123456789abcdef";
	const uint32_t bits = base == 16 ? 4 : 3;
	uint32_t count = 0;

	if (base == 10)
		for (; number; number /= 10)
			digits[count++] = set[number % 10];
	else
		for (; number; number >>= bits)
			digits[count++] = set[number & (base - 1)];
	return count;
}

static void put_number(struct out *out, const struct conversion *how, uint64_t number, const char *prefix,
		       uint32_t base)
{
	char digits[24];
	uint32_t count = make_digits(digits, number, base, how->letter == 'X');
	uint32_t least = how->has_precision ? how->precision : 1;
	uint32_t lead = (uint32_t)strlen(prefix), body;

	if (base == 8 && how->alternate && least <= count)
		least = count + 1;
	body = lead + (count > least ? count : least);
	if (how->zero && !how->left && !how->has_precision && how->width > body) {
		least += how->width - lead > least ? how->width - lead - least : 0;
		body = how->width;
	}
	if (!how->left)
		pad(out, ' ', how->width, body);
	put_text(out, prefix);
	pad(out, '0', least, count);
	while (count)
		put(out, digits[--count]);
	if (how->left)
		pad(out, ' ', how->width, body);
}

/* Returns the number that %d prints for an argument of the field's type. */
static int64_t as_signed(const struct ktread_value *value, int shorts)
{
	if (shorts >= 2)
		return (int8_t)value->number;
	if (shorts == 1)
		return (int16_t)value->number;
	return value->type == KTRX_TYPE_U32 ? (int32_t)value->number : (int64_t)value->number;
}

/* Returns the number that %u and %x print for an argument of the field's type. */
static uint64_t as_unsigned(const struct ktread_value *value, int shorts)
{
	if (shorts >= 2)
		return (uint8_t)value->number;
	if (shorts == 1)
		return (uint16_t)value->number;
	return value->length <= 4 ? (uint32_t)value->number : value->number;
}

static void put_signed(struct out *out, const struct conversion *how, int64_t number)
{
	const char *sign = number < 0 ? "-" : how->plus ? "+" : how->blank ? " " : "";

	put_number(out, how, number < 0 ? 0 - (uint64_t)number : (uint64_t)number, sign, 10);
}

/* Returns true if the value is the holder of a lock, and the holder is unknown. */
static bool is_unknown_holder(const struct ktread_field *field, const struct ktread_value *value)
{
	return value->type == KTRX_TYPE_U32 && value->number == KTRX_HOLDER_UNKNOWN &&
	       strcmp(field->name, KTRX_HOLDER) == 0;
}

static void put_value(struct out *out, const struct conversion *how, const struct ktread_field *field,
		      const struct ktread_value *value)
{
	uint64_t number = as_unsigned(value, how->shorts);
	char byte = (char)number;

	if (how->letter == 'u' && is_unknown_holder(field, value)) {
		put_string(out, how, "?", 1);
		return;
	}
	if (value->type == KTRX_TYPE_STRING) {
		put_string(out, how, value->string, value->length);
		return;
	}
	switch (how->letter) {
	case 'u':
		put_number(out, how, number, "", 10);
		break;
	case 'x':
	case 'X':
		put_number(out, how, number,
			   !how->alternate || !number ? ""
			   : how->letter == 'x'	      ? "0x"
						      : "0X",
			   16);
		break;
	case 'o':
		put_number(out, how, number, "", 8);
		break;
	case 'p':
		put_number(out, how, number, "0x", 16);
		break;
	case 'c':
		put_string(out, how, &byte, 1);
		break;
	default: /* %d and %i, and %s for a field that is not a string */
		put_signed(out, how, as_signed(value, how->shorts));
	}
}

/* Prints the payload of an unknown event, as 32-bit words. */
static void put_words(struct out *out, const struct ktread_event *event)
{
	struct conversion plain = { .letter = 'u' }, hex = { .letter = 'x' };

	for (uint32_t i = 0; i < event->payload_size; i += 4) {
		uint32_t left = event->payload_size - i, word = 0;

		memcpy(&word, event->payload + i, left < 4 ? left : 4);
		put_text(out, i ? " d" : "d");
		put_number(out, &plain, i / 4, "", 10);
		put(out, '=');
		put_number(out, &hex, word, "0x", 16);
	}
}

/* Prints name=value for each field of an event that has no text. */
static void put_fields(struct out *out, struct values *values)
{
	const struct ktread_type *type = values->event->type;
	struct ktread_value value;

	while (take(values, &value)) {
		const struct ktread_field *field = &type->field[values->next - 1];
		bool is_signed = field->type >= KTRX_TYPE_I8 && field->type <= KTRX_TYPE_I64;
		struct conversion how = { .letter = is_signed			       ? 'd'
						    : field->type == KTRX_TYPE_POINTER ? 'p'
						    : field->type == KTRX_TYPE_CHAR    ? 'c'
										       : 'u' };

		if (values->next > 1)
			put(out, ' ');
		put_text(out, field->name);
		put(out, '=');
		put_value(out, &how, field, &value);
	}
}

static void put_format(struct out *out, const char *text, struct values *values)
{
	while (*text) {
		struct conversion how;
		struct ktread_value value;

		if (*text != '%') {
			put_escaped(out, (unsigned char)*text++);
			continue;
		}
		text++;
		how = parse_conversion(&text, values);
		if (how.letter == '%' || how.letter == '\0')
			put(out, '%');
		else if (!strchr("diuxXocsp", how.letter))
			put(out, '?');
		else if (take(values, &value))
			put_value(out, &how, &values->event->type->field[values->next - 1], &value);
		else
			put_text(out, "(missing)");
	}
}

/* Returns the type of the next field and moves *next past it. Returns 0 if no field is left. */
static uint8_t take_type(const struct ktread_type *type, uint32_t *next)
{
	return *next < type->fields ? type->field[(*next)++].type : 0;
}

bool ktread_text_fits(const struct ktread_type *type)
{
	const char *text = type->text;
	uint32_t next = 0;

	while ((text = strchr(text, '%')) != NULL) {
		uint8_t taken;

		for (text++; *text && strchr("-+ #0123456789.*hlzjt", *text); text++)
			if (*text == '*' && take_type(type, &next) == 0)
				return false;
		if (*text == '%') {
			text++;
			continue;
		}
		taken = take_type(type, &next);
		if (*text == '\0' || !strchr("diuxXocsp", *text) || taken == 0 ||
		    (*text == 's') != (taken == KTRX_TYPE_STRING))
			return false;
	}
	return true;
}

size_t ktread_format(const struct ktread_event *event, char *buffer, size_t size)
{
	struct out out = { buffer, size, 0 };
	struct values values = { event, 0, 0 };

	if (size == 0)
		return 0;
	if (ktread_types_is_unknown(event->type))
		put_words(&out, event);
	else if (event->type->text[0] == '\0')
		put_fields(&out, &values);
	else
		put_format(&out, event->type->text, &values);
	buffer[out.used] = '\0';
	return out.used;
}
