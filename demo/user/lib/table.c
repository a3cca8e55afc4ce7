/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <table.h>

bool table_add(struct table *table, const char *text, size_t size)
{
	char *longer = malloc(table->size + size + 1);

	if (!longer)
		return false;
	memcpy(longer, table->text, table->size);
	memcpy(longer + table->size, text, size);
	table->size += size;
	longer[table->size] = '\0';
	free(table->text);
	table->text = longer;
	return true;
}

static bool is_between(char c)
{
	return c == ' ' || c == ',';
}

bool table_word(const struct table_line *line, unsigned n, char *word)
{
	size_t at = 0, length = 0;

	for (;; n--) {
		while (at < line->length && is_between(line->text[at]))
			at++;
		if (n == 0)
			break;
		while (at < line->length && !is_between(line->text[at]))
			at++;
	}
	for (; at < line->length && !is_between(line->text[at]); at++)
		if (length + 1 < TABLE_WORD)
			word[length++] = line->text[at];
	word[length] = '\0';
	return length > 0;
}

static bool next_line(const struct table *table, size_t *at, struct table_line *line)
{
	if (*at >= table->size)
		return false;
	*line = (struct table_line){ .text = table->text + *at };
	while (*at < table->size && table->text[*at] != '\n')
		++*at, line->length++;
	++*at;
	return true;
}

static bool has_word(const struct table_line *line, unsigned n, const char *wanted)
{
	char word[TABLE_WORD];

	return table_word(line, n, word) && strcmp(word, wanted) == 0;
}

static bool find_from(const struct table *table, size_t *at, const char *first, const char *second,
		      struct table_line *line)
{
	while (next_line(table, at, line))
		if (line->length > 0 && line->text[0] == first[0] && has_word(line, 0, first) &&
		    (!second || has_word(line, 1, second)))
			return true;
	return false;
}

bool table_find(const struct table *table, const char *first, const char *second, struct table_line *line)
{
	size_t at = 0;

	return find_from(table, &at, first, second, line);
}

bool table_each(const struct table *table, const char *kind, const char *type, size_t *at, uint64_t *value,
		char *name)
{
	struct table_line line;
	char word[TABLE_WORD];

	if (!find_from(table, at, kind, type, &line) || !table_word(&line, 2, word))
		return false;
	*value = table_number(word);
	return table_word(&line, 3, name);
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

uint64_t table_number(const char *word)
{
	int base = word[0] == '0' && word[1] == 'x' ? 16 : 10;
	uint64_t number = 0;

	for (word += base == 16 ? 2 : 0; digit_of(*word) < base; word++)
		number = number * (uint64_t)base + (uint64_t)digit_of(*word);
	return number;
}
