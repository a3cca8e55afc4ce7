/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "json.h"

static size_t skip_blanks(struct capture_json json, size_t at)
{
	while (at < json.length && strchr(" \t\r\n", json.text[at]))
		at++;
	return at;
}

/* From an opening quote to behind the closing one, or to the end. */
static size_t skip_string(struct capture_json json, size_t at)
{
	for (at++; at < json.length && json.text[at] != '"'; at++)
		if (json.text[at] == '\\')
			at++;
	return at < json.length ? at + 1 : json.length;
}

/* To behind the value at `at`, however deep it nests. */
static size_t skip_value(struct capture_json json, size_t at)
{
	size_t depth = 0;

	while (at < json.length) {
		char c = json.text[at];

		if (c == '"') {
			at = skip_string(json, at);
		} else if (c == '{' || c == '[') {
			depth++;
			at++;
		} else if (c == '}' || c == ']') {
			if (depth == 0)
				return at;
			depth--;
			at++;
		} else if (c == ',' && depth == 0) {
			return at;
		} else {
			at++;
			continue;
		}
		if (depth == 0)
			return at;
	}
	return at;
}

static bool find_name(struct capture_json json, const char *name, size_t name_length,
		      struct capture_json *value)
{
	size_t at = skip_blanks(json, 0);

	if (at >= json.length || json.text[at] != '{')
		return false;
	do {
		size_t key = skip_blanks(json, at + 1);
		size_t key_end;

		if (key >= json.length || json.text[key] != '"')
			return false;
		key_end = skip_string(json, key);
		at = skip_blanks(json, key_end);
		if (at >= json.length || json.text[at] != ':')
			return false;
		at = skip_blanks(json, at + 1);
		value->text = json.text + at;
		at = skip_value(json, at);
		value->length = (size_t)(json.text + at - value->text);
		if (key_end - key == name_length + 2 && memcmp(json.text + key + 1, name, name_length) == 0)
			return true;
		at = skip_blanks(json, at);
	} while (at < json.length && json.text[at] == ',');
	return false;
}

bool capture_json_member(struct capture_json json, const char *path, struct capture_json *value)
{
	for (;;) {
		size_t length = strcspn(path, ".");

		if (!find_name(json, path, length, value))
			return false;
		if (path[length] == '\0')
			return true;
		path += length + 1;
		json = *value;
	}
}

/* Four hexadecimal digits at `at`, or -1. */
static long hex_unit(struct capture_json json, size_t at)
{
	char digits[5] = "";

	if (at > json.length || json.length - at < 4)
		return -1;
	memcpy(digits, json.text + at, 4);
	return strspn(digits, "0123456789abcdefABCDEF") == 4 ? strtol(digits, NULL, 16) : -1;
}

/*
 * The character that \uNNNN stands for, of which *at is on the u and is moved to the last digit. Two such escapes that are a pair of
 * surrogates are one character. What is no character, as half of a pair, and NUL, which would end the string, are replaced.
 */
static uint32_t unescape_unit(struct capture_json json, size_t *at)
{
	long unit = hex_unit(json, *at + 1), low = -1;

	if (unit < 0)
		return BASE_UTF8_REPLACEMENT;
	*at += 4;
	if (unit == 0)
		return BASE_UTF8_REPLACEMENT;
	if (unit < 0xd800 || unit > 0xdbff)
		return (uint32_t)unit;
	if (json.length - *at > 2 && json.text[*at + 1] == '\\' && json.text[*at + 2] == 'u')
		low = hex_unit(json, *at + 3);
	if (low < 0xdc00 || low > 0xdfff)
		return BASE_UTF8_REPLACEMENT;
	*at += 6;
	return 0x10000 + ((uint32_t)(unit - 0xd800) << 10) + (uint32_t)(low - 0xdc00);
}

/* What an escape stands for; *at is on what follows the backslash and is moved to its last character. Returns its length. */
static size_t unescape(struct capture_json json, size_t *at, char to[BASE_UTF8_MOST])
{
	static const char letters[] = "nrtbf", meanings[] = "\n\r\t\b\f";
	char c = json.text[*at];
	const char *letter = strchr(letters, c);

	if (c == 'u')
		return base_utf8_encode(to, unescape_unit(json, at));
	to[0] = c && letter ? meanings[letter - letters] : c;
	return 1;
}

size_t capture_json_string(struct capture_json json, char *buffer, size_t size)
{
	size_t used = 0;

	if (size == 0)
		return 0;
	if (json.length >= 2 && json.text[0] == '"') {
		for (size_t at = 1; at < json.length - 1 && json.text[at] != '"'; at++) {
			char bytes[BASE_UTF8_MOST] = { json.text[at] };
			size_t length = 1;

			if (json.text[at] == '\\' && ++at < json.length - 1)
				length = unescape(json, &at, bytes);
			if (length >= size - used)
				break;
			memcpy(buffer + used, bytes, length);
			used += length;
		}
	}
	buffer[used] = '\0';
	return used;
}

bool capture_json_is(struct capture_json json, const char *path, const char *string)
{
	struct capture_json value;
	char text[64];

	if (!capture_json_member(json, path, &value))
		return false;
	capture_json_string(value, text, sizeof(text));
	return strcmp(text, string) == 0;
}
