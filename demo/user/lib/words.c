/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include <words.h>

void words_hex(struct line *line, uint64_t value)
{
	line_put(line, value ? "0x%lx" : "%lx", value);
}

static void put_octal(struct line *line, uint32_t value)
{
	if (value > 7)
		put_octal(line, value >> 3);
	else
		line_byte(line, '0');
	if (value)
		line_byte(line, (char)('0' + (value & 7)));
}

void words_signal(struct line *line, const struct table *table, uint32_t number)
{
	struct table_line found;
	char text[TABLE_WORD];

	format(text, sizeof(text), "%u", number);
	if (table_find(table, "signal", text, &found) && table_word(&found, 2, text))
		line_put(line, "%s", text);
	else
		line_put(line, "SIG %u", number);
}

bool words_find(const struct table *table, const char *type, uint64_t wanted, char *name)
{
	uint64_t value;
	size_t at = 0;

	while (table_each(table, "enum", type, &at, &value, name))
		if (value == wanted)
			return true;
	return false;
}

bool words_call(struct line *line, const struct table *table, uint32_t number, struct table_line *call)
{
	char text[TABLE_WORD];
	bool known;

	format(text, sizeof(text), "%u", number);
	known = table_find(table, text, NULL, call) && table_word(call, 1, text);
	line_put(line, known ? "%s" : "[%s]", text);
	return known;
}

/*
 * Returns the mask from the table's line "field TYPE MASK": the bits of the type that are one number, not
 * flags. Returns 0 if there is no such line.
 */
static uint64_t field_mask(const struct table *table, const char *type)
{
	struct table_line found;
	char word[TABLE_WORD];

	return table_find(table, "field", type, &found) && table_word(&found, 2, word) ? table_number(word)
										       : 0;
}

static bool put_name(struct line *line, bool any, const char *name)
{
	line_put(line, any ? "|%s" : "%s", name);
	return true;
}

void words_flags(struct line *line, const struct table *table, const char *type, uint64_t value)
{
	uint64_t mask = field_mask(table, type), flag;
	char name[TABLE_WORD];
	bool any = false;
	size_t at = 0;

	if ((mask || value == 0) && words_find(table, type, mask ? value & mask : value, name)) {
		any = put_name(line, any, name);
		value &= ~mask;
	}
	while (table_each(table, "flags", type, &at, &flag, name)) {
		if ((value & flag) != flag)
			continue;
		any = put_name(line, any, name);
		value &= ~flag;
	}
	if (value == 0 && any)
		return;
	if (any)
		line_byte(line, '|');
	words_hex(line, value);
}

bool words_has_flags(const struct table *table, const char *type)
{
	char name[TABLE_WORD];
	uint64_t first;
	size_t at = 0;

	return table_each(table, "flags", type, &at, &first, name);
}

void words_value(struct line *line, const struct table *table, const char *type, uint64_t value)
{
	char name[TABLE_WORD];

	if (strcmp(type, "sig") == 0) {
		words_signal(line, table, (uint32_t)value);
	} else if (words_has_flags(table, type)) {
		words_hex(line, value);
		if (value == 0 && !words_find(table, type, 0, name))
			return;
		line_byte(line, '<');
		words_flags(line, table, type, value);
		line_byte(line, '>');
	} else if (words_find(table, type, value, name)) {
		line_put(line, "%s", name);
	} else if (strcmp(type, "mode") == 0) {
		put_octal(line, (uint32_t)value);
	} else {
		words_hex(line, value);
	}
}
