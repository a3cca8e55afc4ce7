/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Formats events as text. Neither the descriptor nor the payload is trusted: a conversion formats the next
 * field according to the type of the field, even if the conversion is for another type, and reads only bytes
 * that exist.
 */
#include "line.h"

#include <stdbool.h>

#include "../base/bytes.h"
#include "../core/reader.h"

#define KTRACE_SIZE_MAX_SHOWN 256u /* maximum width and precision; a larger value is reduced to this value */

/* A conversion of a format string: %[flags][width][.precision][length]letter */
struct conversion {
	bool left, plus, blank, alternate, zero, has_precision;
	char letter;
	uint32_t width, precision;
	uint32_t halves; /* number of letters h before the conversion's letter */
};

struct value {
	uint8_t type;
	uint32_t length; /* size of the field in bytes; for a string, the length of the string */
	uint64_t number;
	const char *string;
};

/* The fields of a record that are not formatted yet. */
struct fields {
	const struct ktrx_event *row;
	const uint8_t *payload;
	uint32_t bytes, at;
	uint32_t next;
};

/* ---- Fields of a record ------------------------------------------------------------------------ */

static bool take_string(struct fields *fields, struct value *value)
{
	uint32_t left = fields->bytes - fields->at;

	if (left < 2)
		return false;
	value->length = (uint32_t)ktrace_field_value(fields->payload + fields->at, KTRX_TYPE_U16);
	value->length &= ~KTRX_STRING_CUT;
	if (value->length > left - 2)
		return false;
	value->string = (const char *)fields->payload + fields->at + 2;
	fields->at += 2 + value->length;
	return true;
}

/*
 * Takes the next field. Returns false if there is none, if its bytes are missing, or if its type is invalid.
 */
static bool take_value(struct fields *fields, struct value *value)
{
	if (fields->next >= fields->row->fields || fields->next >= KTRX_EVENT_FIELDS)
		return false;
	value->type = fields->row->type[fields->next++];
	if (value->type == KTRX_TYPE_STRING)
		return take_string(fields, value);
	value->length = ktrace_field_bytes(value->type);
	if (value->length == 0 || value->length > fields->bytes - fields->at)
		return false;
	value->number = ktrace_field_value(fields->payload + fields->at, value->type);
	fields->at += value->length;
	return true;
}

/* ---- Conversions of a format string ------------------------------------------------------------ */

static bool is_one_of(char letter, const char *letters)
{
	while (*letters && *letters != letter)
		letters++;
	return *letters != '\0';
}

static const char *parse_flags(const char *at, struct conversion *how)
{
	for (;; at++) {
		switch (*at) {
		case '-':
			how->left = true;
			break;
		case '+':
			how->plus = true;
			break;
		case ' ':
			how->blank = true;
			break;
		case '#':
			how->alternate = true;
			break;
		case '0':
			how->zero = true;
			break;
		default:
			return at;
		}
	}
}

/* Parses a width or precision: digits, or *, which means the value of the next field. */
static const char *parse_size(const char *at, struct fields *fields, uint32_t *size)
{
	struct value value;
	uint64_t number = 0;

	if (*at == '*') {
		if (take_value(fields, &value) && value.type != KTRX_TYPE_STRING)
			number = value.number;
		at++;
	} else {
		for (; *at >= '0' && *at <= '9'; at++)
			if (number < KTRACE_SIZE_MAX_SHOWN)
				number = number * 10 + (uint64_t)(*at - '0');
	}
	*size = number < KTRACE_SIZE_MAX_SHOWN ? (uint32_t)number : KTRACE_SIZE_MAX_SHOWN;
	return at;
}

/*
 * Parses a conversion after its %. Returns the text that follows the conversion's letter. Sets members one by
 * one, because compilers turn initialisers into library calls.
 */
static const char *parse_conversion(const char *at, struct fields *fields, struct conversion *how)
{
	how->left = how->plus = how->blank = how->alternate = how->zero = how->has_precision = false;
	how->precision = 0;
	how->halves = 0;
	at = parse_size(parse_flags(at, how), fields, &how->width);
	if (*at == '.') {
		how->has_precision = true;
		at = parse_size(at + 1, fields, &how->precision);
	}
	for (; is_one_of(*at, "hlzjt"); at++)
		how->halves += *at == 'h';
	how->letter = *at;
	return *at ? at + 1 : at;
}

/* ---- Formatting of values ---------------------------------------------------------------------- */

static void put_string(struct ktrace_line *line, const struct conversion *how, const char *string,
		       uint32_t length)
{
	uint32_t shown = how->has_precision && how->precision < length ? how->precision : length;
	uint32_t padding = how->width > shown ? how->width - shown : 0;

	ktrace_line_pad(line, ' ', how->left ? 0 : padding);
	ktrace_line_bytes(line, string, shown);
	ktrace_line_pad(line, ' ', how->left ? padding : 0);
}

static uint32_t base_of(char letter)
{
	if (letter == 'o')
		return 8;
	return is_one_of(letter, "xXp") ? 16 : 10;
}

/* Writes the digits of a number like ktrace_digits(). Writes no digit if the number is 0. */
static uint32_t make_digits(char *digits, uint64_t number, const struct conversion *how)
{
	uint32_t count = number ? ktrace_digits(digits, number, base_of(how->letter)) : 0;

	for (uint32_t i = KTRACE_DIGITS_MAX - count; how->letter == 'X' && i < KTRACE_DIGITS_MAX; i++)
		if (digits[i] > '9')
			digits[i] &= ~0x20;
	return count;
}

/* Writes a number in the form [blanks][prefix][zeros]digits[blanks]. */
static void put_converted(struct ktrace_line *line, const struct conversion *how, const char *prefix,
			  uint64_t number)
{
	char digits[KTRACE_DIGITS_MAX];
	uint32_t count = make_digits(digits, number, how);
	uint32_t least = how->has_precision ? how->precision : 1;
	uint32_t zeros = least > count ? least - count : 0;
	uint32_t taken = count, padding;

	if (zeros == 0 && how->letter == 'o' && how->alternate)
		zeros = 1;
	if (prefix[0])
		taken += prefix[1] ? 2 : 1;
	padding = how->width > taken + zeros ? how->width - taken - zeros : 0;
	if (how->zero && !how->left && !how->has_precision) {
		zeros += padding;
		padding = 0;
	}
	ktrace_line_pad(line, ' ', how->left ? 0 : padding);
	ktrace_line_text(line, prefix);
	ktrace_line_pad(line, '0', zeros);
	ktrace_line_bytes(line, digits + KTRACE_DIGITS_MAX - count, count);
	ktrace_line_pad(line, ' ', how->left ? padding : 0);
}

static void put_signed(struct ktrace_line *line, const struct conversion *how, const struct value *value)
{
	int64_t number = (int64_t)value->number;
	const char *sign = how->plus ? "+" : how->blank ? " " : "";

	if (how->halves > 1)
		number = (int8_t)number;
	else if (how->halves == 1)
		number = (int16_t)number;
	else if (value->type == KTRX_TYPE_U32)
		number = (int32_t)number;
	if (number < 0)
		put_converted(line, how, "-", 0 - (uint64_t)number);
	else
		put_converted(line, how, sign, (uint64_t)number);
}

static uint64_t as_unsigned(const struct conversion *how, const struct value *value)
{
	if (how->halves > 1)
		return (uint8_t)value->number;
	if (how->halves == 1)
		return (uint16_t)value->number;
	return value->length <= 4 ? (uint32_t)value->number : value->number;
}

static const char *prefix_of(const struct conversion *how, uint64_t number)
{
	if (how->letter == 'p')
		return "0x";
	if (!how->alternate || number == 0 || !is_one_of(how->letter, "xX"))
		return "";
	return how->letter == 'x' ? "0x" : "0X";
}

/* Returns true if the value, of the field taken last, is the holder of a lock, and the holder is unknown. */
static bool is_unknown_holder(const struct fields *fields, const struct value *value)
{
	static const char holder[] = KTRX_HOLDER;
	const char *name;
	uint32_t n = 0;

	if (value->type != KTRX_TYPE_U32 || value->number != KTRX_HOLDER_UNKNOWN)
		return false;
	name = ktrace_descriptor_string(fields->row, KTRACE_DESCRIPTOR_FIELDS + 2 * (fields->next - 1));
	while (holder[n] && holder[n] == name[n])
		n++;
	return holder[n] == name[n];
}

static void put_value(struct ktrace_line *line, const struct conversion *how, const struct fields *fields,
		      const struct value *value)
{
	uint64_t number;
	char byte;

	if (how->letter == 'u' && is_unknown_holder(fields, value)) {
		put_string(line, how, "?", 1);
		return;
	}
	if (value->type == KTRX_TYPE_STRING) {
		put_string(line, how, value->string, value->length);
		return;
	}
	number = as_unsigned(how, value);
	byte = (char)number;
	if (how->letter == 'c')
		put_string(line, how, &byte, 1);
	else if (is_one_of(how->letter, "uxXop"))
		put_converted(line, how, prefix_of(how, number), number);
	else /* for the conversions d and i, and for the conversion s of a field that is not a string */
		put_signed(line, how, value);
}

/* ---- Text of an event -------------------------------------------------------------------------- */

static void put_conversion(struct ktrace_line *line, const struct conversion *how, struct fields *fields)
{
	struct value value;

	if (how->letter == '%' || how->letter == '\0')
		ktrace_line_put(line, '%');
	else if (!is_one_of(how->letter, "diuxXocsp"))
		ktrace_line_put(line, '?');
	else if (take_value(fields, &value))
		put_value(line, how, fields, &value);
	else
		ktrace_line_text(line, "(missing)");
}

static void put_text(struct ktrace_line *line, const char *text, struct fields *fields)
{
	struct conversion how;

	while (*text) {
		if (*text != '%') {
			ktrace_line_bytes(line, text++, 1);
			continue;
		}
		text = parse_conversion(text + 1, fields, &how);
		put_conversion(line, &how, fields);
	}
}

static char letter_of(uint8_t type)
{
	if (type >= KTRX_TYPE_I8 && type <= KTRX_TYPE_I64)
		return 'd';
	if (type == KTRX_TYPE_POINTER)
		return 'p';
	return type == KTRX_TYPE_CHAR ? 'c' : 'u';
}

static void put_fields(struct ktrace_line *line, struct fields *fields)
{
	struct conversion how;
	struct value value;

	parse_conversion("", fields, &how);
	for (uint32_t n = 0; take_value(fields, &value); n++) {
		ktrace_line_pad(line, ' ', n > 0);
		ktrace_line_text(line,
				 ktrace_descriptor_string(fields->row, KTRACE_DESCRIPTOR_FIELDS + 2 * n));
		ktrace_line_put(line, '=');
		how.letter = letter_of(value.type);
		put_value(line, &how, fields, &value);
	}
}

static void put_words(struct ktrace_line *line, const uint8_t *payload, uint32_t bytes)
{
	for (uint32_t at = 0; at < bytes; at += 4) {
		uint32_t word = 0;

		for (uint32_t i = 0; i < 4 && at + i < bytes; i++)
			word |= (uint32_t)payload[at + i] << 8 * i;
		ktrace_line_text(line, at ? " d" : "d");
		ktrace_line_decimal(line, at / 4);
		ktrace_line_put(line, '=');
		ktrace_line_hex(line, word);
	}
}

void ktrace_format_name(struct ktrace_line *line, const struct ktrx_event *row, uint32_t id)
{
	ktrace_line_text(line, row ? ktrace_descriptor_string(row, KTRACE_DESCRIPTOR_GROUP) : "event");
	ktrace_line_put(line, '_');
	if (row)
		ktrace_line_text(line, ktrace_descriptor_string(row, KTRACE_DESCRIPTOR_NAME));
	else
		ktrace_line_decimal(line, id);
}

void ktrace_format_origin(struct ktrace_line *line, const struct ktrx_event *row,
			  const struct ktrx_place *place, uint64_t stamp)
{
	ktrace_line_decimal(line, stamp);
	ktrace_line_put(line, ' ');
	if (!row)
		return;
	ktrace_line_text(line, ktrace_descriptor_file(row, place));
	ktrace_line_put(line, ':');
	ktrace_line_decimal(line, place ? place->line : row->line);
	ktrace_line_put(line, ' ');
}

void ktrace_format_payload(struct ktrace_line *line, const struct ktrx_event *row, const uint8_t *payload,
			   uint32_t bytes)
{
	struct fields fields;
	const char *text;

	if (!row) {
		put_words(line, payload, bytes);
		return;
	}
	fields.row = row;
	fields.payload = payload;
	fields.bytes = bytes;
	fields.at = 0;
	fields.next = 0;
	text = ktrace_descriptor_string(row, KTRACE_DESCRIPTOR_TEXT);
	if (*text)
		put_text(line, text, &fields);
	else
		put_fields(line, &fields);
}
