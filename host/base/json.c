/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "base/json.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/escape.h"

char *base_json_string(char *at, const char *bytes, size_t length)
{
	*at++ = '"';
	at = base_escape_json(at, bytes, length);
	*at++ = '"';
	return at;
}

char *base_json_name(char *at, const char *name)
{
	char *start = at;

	/* fast path for short names without special characters: nearly all names */
	*at++ = '"';
	while (*name >= ' ' && *name <= '~' && *name != '"' && *name != '\\' &&
	       at - start <= (ptrdiff_t)BASE_JSON_NAME)
		*at++ = *name++;
	if (*name == '\0') {
		*at = '"';
		return at + 1;
	}
	name -= at - start - 1;
	at = start;
	/* Four bytes after the limit are enough to find out whether a character extends beyond the limit. */
	return base_json_string(at, name,
				base_utf8_cut(name, strnlen(name, BASE_JSON_NAME + 4), BASE_JSON_NAME));
}

void base_json_key(struct base_output *out, const char *key)
{
	const char last = out->at > out->buffer ? out->at[-1] : '\n';

	if (last != '{' && last != '[' && last != '\n')
		base_output_text(out, ",");
	if (!key)
		return;
	base_output_text(out, "\"");
	base_output_text(out, key);
	base_output_text(out, "\":");
}

void base_json_begin(struct base_output *out, const char *key, char bracket)
{
	base_json_key(out, key);
	base_output_bytes(out, &bracket, 1);
}

void base_json_put_bytes(struct base_output *out, const char *key, const char *bytes, size_t length)
{
	base_json_key(out, key);
	base_output_done(out, base_json_string(base_output_line(out), bytes, length));
}

void base_json_put_format(struct base_output *out, const char *key, const char *format, ...)
{
	va_list arguments;

	base_json_key(out, key);
	va_start(arguments, format);
	base_output_vformat(out, format, arguments);
	va_end(arguments);
}

void base_json_put_text(struct base_output *out, const char *key, const char *text)
{
	base_json_put_bytes(out, key, text, strnlen(text, BASE_JSON_TEXT));
}

void base_json_put(struct base_output *out, const char *key, const char *text)
{
	if (*text)
		base_json_put_text(out, key, text);
	else
		base_json_put_format(out, key, "null");
}

void base_json_put_number(struct base_output *out, const char *key, uint64_t number)
{
	base_json_put_format(out, key, "%" PRIu64, number);
}

void base_json_put_known(struct base_output *out, const char *key, bool known, uint64_t number)
{
	if (known)
		base_json_put_number(out, key, number);
	else
		base_json_put_format(out, key, "null");
}

void base_json_put_bool(struct base_output *out, const char *key, bool value)
{
	base_json_put_format(out, key, value ? "true" : "false");
}
