/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "arch.h"
#include "args.h"
#include "string.h"

#define VALUE_MAX 64

/* Returns the text after "key=" if a word with that key begins at `at`, otherwise NULL. */
static const char *match_key(const char *at, const char *key)
{
	while (*key && *at == *key)
		at++, key++;
	return !*key && *at == '=' ? at + 1 : NULL;
}

/* Returns the values of the next word KEY=VALUE… with this key, or NULL if there is no further word. */
static const char *find_word(const char *at, const char *key)
{
	while (*at) {
		const char *values;

		while (*at == ' ')
			at++;
		values = match_key(at, key);
		if (values)
			return values;
		while (*at && *at != ' ')
			at++;
	}
	return NULL;
}

bool arg_next(struct arg_walk *walk, const char *key, char *value, size_t size)
{
	size_t length = 0;

	if (!walk->at)
		walk->at = find_word(arch_boot_args(), key);
	else if (*walk->at == ',')
		walk->at++;
	else
		walk->at = find_word(walk->at, key);
	if (!walk->at)
		return false;

	for (; *walk->at && *walk->at != ' ' && *walk->at != ','; walk->at++)
		if (length + 1 < size)
			value[length++] = *walk->at;
	value[length] = '\0';
	return true;
}

bool arg_has(const char *key, const char *value)
{
	struct arg_walk walk = { 0 };
	char text[VALUE_MAX];

	while (arg_next(&walk, key, text, sizeof(text)))
		if (strcmp(text, value) == 0)
			return true;
	return false;
}

/*
 * Parses a number, see arg_number(). Returns false if the text is not a number, or does not fit in 64 bits.
 */
static bool parse_number(const char *text, uint64_t *number)
{
	unsigned shift = 0;

	*number = 0;
	if (!*text)
		return false;
	for (; *text >= '0' && *text <= '9'; text++)
		if (__builtin_mul_overflow(*number, 10, number) ||
		    __builtin_add_overflow(*number, (uint64_t)(*text - '0'), number))
			return false;
	if (*text == 'K' || *text == 'M' || *text == 'G')
		shift = *text == 'K' ? 10 : *text == 'M' ? 20 : 30, text++;
	return !*text && !__builtin_mul_overflow(*number, 1ull << shift, number);
}

uint64_t arg_number(const char *key, uint64_t fallback)
{
	struct arg_walk walk = { 0 };
	char text[VALUE_MAX];
	uint64_t number;

	while (arg_next(&walk, key, text, sizeof(text)))
		if (parse_number(text, &number))
			fallback = number;
	return fallback;
}
