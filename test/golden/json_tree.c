/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "golden/json_tree.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MOST 32

static void skip_blanks(const char **at)
{
	*at += strspn(*at, " \t\r\n");
}

/* Returns the size of the character at `at` in bytes, or 0 if it is not allowed in a string. */
static size_t character(const char *at)
{
	static const struct {
		uint32_t from, to;
	} forbidden[] = { { 0, 0x1f },	      { 0x7f, 0x9f },	  { 0x61c, 0x61c },   { 0x200b, 0x200f },
			  { 0x2028, 0x202e }, { 0x2066, 0x2069 }, { 0xd800, 0xdfff }, { 0xfeff, 0xfeff } };
	const unsigned char *byte = (const unsigned char *)at;
	size_t size = byte[0] < 0x80 ? 1 : byte[0] < 0xc2 ? 0 : byte[0] < 0xe0 ? 2 : byte[0] < 0xf0 ? 3 : 4;
	uint32_t code = size == 1 ? byte[0] : byte[0] & (0x7fu >> size);

	for (size_t i = 1; i < size; i++) {
		if ((byte[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (byte[i] & 0x3fu);
	}
	if (code > 0x10ffff || (size == 3 && code < 0x800) || (size == 4 && code < 0x10000))
		return 0;
	for (size_t i = 0; i < sizeof(forbidden) / sizeof(forbidden[0]); i++)
		if (code >= forbidden[i].from && code <= forbidden[i].to)
			return 0;
	return size;
}

static const char *read_string(const char **at, char **text)
{
	const char *from = ++*at;

	for (; **at != '"';) {
		size_t size = character(*at);

		if (size == 0)
			return "a character that must be escaped, or invalid UTF-8";
		if (**at == '\\') {
			++*at;
			if (**at == 'u' && strspn(*at + 1, "0123456789abcdefABCDEF") < 4)
				return "a bad \\u";
			if (!**at || !strchr("\"\\/bfnrtu", **at))
				return "an unknown escape";
		}
		*at += size;
	}
	*text = strndup(from, (size_t)(*at - from));
	++*at;
	return NULL;
}

static const char *read_number(const char **at, struct json *json)
{
	const char *from = *at;

	*at += **at == '-';
	if (!isdigit((unsigned char)**at) || (**at == '0' && isdigit((unsigned char)(*at)[1])))
		return "a bad number";
	*at += strspn(*at, "0123456789");
	if (**at == '.') {
		if (!isdigit((unsigned char)*++*at))
			return "a bad fraction";
		*at += strspn(*at, "0123456789");
	}
	if (**at == 'e' || **at == 'E') {
		++*at;
		*at += **at == '-' || **at == '+';
		if (!isdigit((unsigned char)**at))
			return "a bad exponent";
		*at += strspn(*at, "0123456789");
	}
	json->text = strndup(from, (size_t)(*at - from));
	json->number = strtod(json->text, NULL);
	return NULL;
}

static const char *read_value(const char **at, struct json *json, unsigned depth);

static struct json *add_item(struct json *json)
{
	if ((json->items & (json->items - 1)) == 0) {
		size_t room = json->items ? 2 * json->items : 1;

		json->item = realloc(json->item, room * sizeof(*json->item));
		json->name = realloc(json->name, room * sizeof(*json->name));
	}
	json->name[json->items] = NULL;
	json->item[json->items] = (struct json){ .kind = JSON_NULL };
	return &json->item[json->items++];
}

static const char *read_items(const char **at, struct json *json, unsigned depth)
{
	char end = json->kind == JSON_OBJECT ? '}' : ']';
	const char *error;

	++*at;
	skip_blanks(at);
	if (**at == end) {
		++*at;
		return NULL;
	}
	for (;;) {
		struct json *item = add_item(json);

		if (json->kind == JSON_OBJECT) {
			if (**at != '"')
				return "a member without a name";
			error = read_string(at, &json->name[json->items - 1]);
			if (error)
				return error;
			for (size_t i = 0; i + 1 < json->items; i++)
				if (strcmp(json->name[i], json->name[json->items - 1]) == 0)
					return "a duplicate member";
			skip_blanks(at);
			if (*(*at)++ != ':')
				return "no colon";
			skip_blanks(at);
		}
		error = read_value(at, item, depth + 1);
		if (error)
			return error;
		skip_blanks(at);
		if (*(*at)++ == end)
			return NULL;
		if ((*at)[-1] != ',')
			return "no comma";
		skip_blanks(at);
	}
}

static const char *read_value(const char **at, struct json *json, unsigned depth)
{
	static const char *const words[] = { "null", "false", "true" };

	if (depth > DEPTH_MOST)
		return "nested too deeply";
	for (int kind = JSON_NULL; kind <= JSON_TRUE; kind++) {
		size_t length = strlen(words[kind]);

		if (strncmp(*at, words[kind], length) == 0) {
			json->kind = (enum json_kind)kind;
			*at += length;
			return NULL;
		}
	}
	json->kind = **at == '"'   ? JSON_STRING
		     : **at == '{' ? JSON_OBJECT
		     : **at == '[' ? JSON_ARRAY
				   : JSON_NUMBER;
	if (json->kind == JSON_STRING)
		return read_string(at, &json->text);
	return json->kind == JSON_NUMBER ? read_number(at, json) : read_items(at, json, depth);
}

const char *json_read(const char **text, struct json *json)
{
	const char *error;

	*json = (struct json){ .kind = JSON_NULL };
	skip_blanks(text);
	error = read_value(text, json, 0);
	if (!error)
		skip_blanks(text);
	return error;
}

void json_free(struct json *json)
{
	for (size_t i = 0; i < json->items; i++) {
		free(json->name[i]);
		json_free(&json->item[i]);
	}
	free(json->text);
	free(json->item);
	free(json->name);
}

const struct json *json_member(const struct json *json, const char *name)
{
	for (size_t i = 0; json->kind == JSON_OBJECT && i < json->items; i++)
		if (strcmp(json->name[i], name) == 0)
			return &json->item[i];
	return NULL;
}

const char *json_text(const struct json *json, const char *name, const char *otherwise)
{
	const struct json *member = json_member(json, name);

	return member && member->kind == JSON_STRING ? member->text : otherwise;
}

char *json_slurp(const char *path, size_t *size)
{
	FILE *file = path ? fopen(path, "rb") : stdin;
	size_t room = 1 << 16, got;
	char *text = malloc(room);

	*size = 0;
	while (file && text && (got = fread(text + *size, 1, room - *size - 1, file)) > 0) {
		*size += got;
		if (*size + 1 == room)
			text = realloc(text, room *= 2);
	}
	if (!file || !text || ferror(file)) {
		perror(path ? path : "standard input");
		exit(2);
	}
	if (path)
		fclose(file);
	text[*size] = '\0';
	return text;
}
