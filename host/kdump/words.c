/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Prints values by their types. */
#include "kdump/context.h"

#include <stdio.h>
#include <string.h>

#include "base/put.h"
#include "calls/tables.h"

#define SMALL 4096u
/* maximum size of a value's text in bytes; needed because a hostile table could have 64 long names of bits */
#define FLAGS_MOST 1000

/* copy in a loop, because names are short and a call of stpcpy() costs more */
char *kdump_put_name(char *at, const char *name)
{
	while ((*at = *name++))
		at++;
	return at;
}

char *kdump_put_octal(char *at, uint32_t value)
{
	char digits[12], *from = digits + sizeof(digits);
	size_t length;

	for (; value; value >>= 3)
		*--from = (char)('0' + (value & 7));
	*--from = '0';
	length = (size_t)(digits + sizeof(digits) - from);
	memcpy(at, from, length);
	return at + length;
}

static char *put_hex(char *at, uint64_t value)
{
	if (value == 0) {
		*at = '0';
		return at + 1;
	}
	return base_put_hex(base_put_literal(at, "0x"), value);
}

char *kdump_put_word(char *at, const struct kdump_words *words, uint64_t value)
{
	return words->decimal ? base_put_signed(at, (int64_t)value) : put_hex(at, value);
}

char *kdump_put_signal(char *at, const struct kdump_words *words, uint32_t number)
{
	const char *name = words->raw ? NULL : calls_table_signal(words->table, number);

	return name ? kdump_put_name(at, name)
		    : base_put_signed(base_put_literal(at, "SIG "), (int32_t)number);
}

/*
 * The names are in a type of the table: one for the signal, such as "sicode_SIGSEGV", or one for all signals,
 * "sicode".
 */
const char *kdump_code_name(const struct calls_table *table, uint32_t signal, int32_t code)
{
	const char *of = calls_table_signal(table, signal), *name = NULL;
	const struct calls_type *type;
	char text[CALLS_NAME + sizeof("sicode_")];

	snprintf(text, sizeof(text), "sicode_%s", of ? of : "");
	type = calls_table_type(table, text);
	if (type)
		name = calls_type_symbol(type, (uint64_t)(int64_t)code);
	type = calls_table_type(table, "sicode");
	return name || !type ? name : calls_type_symbol(type, (uint64_t)(int64_t)code);
}

/*
 * Flags have 32 bits, unless a flag with a higher bit is defined. Removes the upper bits that were set by
 * sign extension.
 */
static uint64_t without_sign(const struct calls_type *type, uint64_t value)
{
	if (value >> 32 != UINT32_MAX)
		return value;
	for (unsigned n = 0; n < type->flags; n++)
		if (type->flag[n].value >> 32)
			return value;
	return (uint32_t)value;
}

char *kdump_put_flags(char *at, const struct calls_type *type, uint64_t value)
{
	char *start = at, *limit = at + FLAGS_MOST;
	uint64_t rest = without_sign(type, value);
	const char *symbol = calls_type_symbol(type, type->mask ? rest & type->mask : rest);

	if (symbol && (type->mask || rest == 0 || type->flags == 0)) {
		at = kdump_put_name(at, symbol);
		rest &= type->mask ? ~type->mask : 0;
	}
	for (unsigned n = 0; n < type->flags && at < limit; n++) {
		uint64_t flag = type->flag[n].value;

		if ((rest & flag) != flag)
			continue;
		if (at != start)
			*at++ = '|';
		at = kdump_put_name(at, type->flag[n].name);
		rest &= ~flag;
	}
	if (rest == 0 && at != start)
		return at;
	if (at != start)
		*at++ = '|';
	return put_hex(at, rest);
}

/* ---- in the style of the BSDs ---- */

static char *put_flags_bsd(char *at, const struct kdump_words *words, const struct calls_type *type,
			   uint64_t value)
{
	char *names;

	if (value == 0 && !calls_type_symbol(type, 0))
		return kdump_put_word(at, words, 0);
	value = without_sign(type, value);
	names = type->base == CALLS_MODE ? kdump_put_octal(at, (uint32_t)value)
					 : kdump_put_word(at, words, value);
	at = kdump_put_flags(names + 1, type, value);
	if (names[1] == '0') /* none of the set bits has a name */
		return names;
	*names = '<';
	*at = '>';
	return at + 1;
}

static char *put_bsd(char *at, const struct kdump_words *words, const struct calls_type *type, uint64_t value)
{
	const char *symbol;

	if (words->raw)
		return kdump_put_word(at, words, value);
	if (type->base == CALLS_SIG)
		return kdump_put_signal(at, words, (uint32_t)value);
	if (type->flags)
		return put_flags_bsd(at, words, type, value);
	symbol = type->symbols ? calls_type_symbol(type, value) : NULL;
	if (symbol)
		return kdump_put_name(at, symbol);
	if (type->base == CALLS_MODE)
		return kdump_put_octal(at, (uint32_t)value);
	return kdump_put_word(at, words, value);
}

/* ---- in the style of strace ---- */

static char *put_mode(char *at, const struct calls_type *type, uint32_t value)
{
	const char *kind = type->mask ? calls_type_symbol(type, value & type->mask) : NULL;

	if (kind) {
		at = kdump_put_name(at, kind);
		*at++ = '|';
		value &= (uint32_t)~type->mask;
	}
	return kdump_put_octal(at, value);
}

static bool is_pointer(const struct calls_type *type)
{
	switch (type->base) {
	case CALLS_PTR:
	case CALLS_PATH:
	case CALLS_STR:
	case CALLS_DATA:
	case CALLS_BUFFER:
	case CALLS_STRUCTURE:
		return true;
	default:
		return false;
	}
}

/*
 * Returns true if the value is small. A small value without a name in the table is printed as a decimal
 * number; a large value may be anything, and is printed in hexadecimal.
 */
static bool is_small(uint64_t value)
{
	uint64_t high = value >> 32;

	return (high == 0 || high == UINT32_MAX) && (uint32_t)value + SMALL < 2 * SMALL;
}

/* Returns whether the value is a string in JSON, not a number. */
static bool is_text(const struct kdump_words *words, const struct calls_type *type, uint64_t value)
{
	if (words->raw)
		return !words->decimal;
	if (type->symbols && calls_type_symbol(type, value))
		return true;
	switch (type->base) {
	case CALLS_INT:
	case CALLS_UINT:
	case CALLS_LONG:
	case CALLS_ULONG:
	case CALLS_SIZE:
	case CALLS_OFF:
	case CALLS_FD:
	case CALLS_PID:
	case CALLS_UID:
	case CALLS_GID:
	case CALLS_MS:
	case CALLS_SOCKOPT:
		return false;
	case CALLS_SYMBOL:
		return type->flags != 0 || type->mask != 0 || !is_small(value);
	default:
		return true;
	}
}

static char *put_plain(char *at, const struct kdump_words *words, const struct calls_type *type,
		       uint64_t value)
{
	const char *symbol;

	if (words->raw)
		return kdump_put_word(at, words, value);
	symbol = type->symbols && !type->mask ? calls_type_symbol(type, value) : NULL;
	if (symbol)
		return kdump_put_name(at, symbol);
	switch (type->base) {
	case CALLS_SYMBOL:
		if (type->flags || type->mask)
			return kdump_put_flags(at, type, value);
		return is_small(value) ? base_put_signed(at, (int32_t)value) : put_hex(at, value);
	case CALLS_INT:
	case CALLS_FD:
	case CALLS_PID:
	case CALLS_MS:
	case CALLS_SOCKOPT:
		return base_put_signed(at, (int32_t)value);
	case CALLS_UINT:
		return base_put_decimal(at, (uint32_t)value);
	case CALLS_UID:
	case CALLS_GID: /* a value that means "no change" */
		return (uint32_t)value == UINT32_MAX ? base_put_literal(at, "-1")
						     : base_put_decimal(at, (uint32_t)value);
	case CALLS_LONG:
	case CALLS_OFF:
		return base_put_signed(at, (int64_t)value);
	case CALLS_ULONG:
	case CALLS_SIZE:
		return base_put_decimal(at, value);
	case CALLS_MODE:
		return put_mode(at, type, (uint32_t)value);
	case CALLS_SIG:
		return value == 0 ? base_put_literal(at, "0") : kdump_put_signal(at, words, (uint32_t)value);
	default:
		return value == 0 && is_pointer(type) ? base_put_literal(at, "NULL") : put_hex(at, value);
	}
}

char *kdump_put_value(char *at, const struct kdump_words *words, const struct calls_type *type,
		      uint64_t value)
{
	static const struct calls_type unknown = { .base = CALLS_HEX };

	if (!type)
		type = &unknown;
	if (words->style == KDUMP_STYLE_BSD)
		return put_bsd(at, words, type, value);
	if (words->style == KDUMP_STYLE_PLAIN || !is_text(words, type, value))
		return put_plain(at, words, type, value);
	if (value == 0 && !words->raw && is_pointer(type))
		return base_put_literal(at, "null");
	*at = '"';
	at = put_plain(at + 1, words, type, value);
	*at = '"';
	return at + 1;
}
