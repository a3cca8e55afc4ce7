/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "base/escape.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST 4 /* maximum length of a character in UTF-8, in bytes */

size_t base_utf8_decode(const void *bytes, size_t length, uint32_t *code)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *at = bytes;
	size_t size;

	if (length == 0)
		return 0;
	*code = at[0];
	if (at[0] < 0x80)
		return 1;
	size = at[0] < 0xc0 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : at[0] < 0xf5 ? 4 : 0;
	if (size == 0 || size > length)
		return 0;
	*code = at[0] & (0x7fu >> size);
	for (size_t i = 1; i < size; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (at[i] & 0x3fu);
	}
	if (*code < least[size] || *code > 0x10ffff || (*code >= 0xd800 && *code <= 0xdfff))
		return 0;
	return size;
}

bool base_utf8_is_harmless(uint32_t code)
{
	static const struct {
		uint32_t from, to;
	} harmful[] = {
		{ 0x00, 0x1f },	    /* C0 */
		{ 0x7f, 0x9f },	    /* control characters: DEL, and the set C1 */
		{ 0xad, 0xad },	    /* soft hyphen */
		{ 0x61c, 0x61c },   /* Arabic letter mark */
		{ 0x180e, 0x180e }, /* Mongolian vowel separator */
		{ 0x200b, 0x200f }, /* zero-width characters, and marks that set the direction of text */
		/* line and paragraph separators, and characters that set the direction of text */
		{ 0x2028, 0x202e },
		{ 0x2060, 0x206f },   /* invisible operators, isolates */
		{ 0xd800, 0xdfff },   /* surrogates */
		{ 0xfdd0, 0xfdef },   /* codes that are not characters */
		{ 0xfeff, 0xfeff },   /* byte order mark */
		{ 0xfff0, 0xfffb },   /* unassigned codes, and annotation characters */
		{ 0xe0000, 0xe0fff }, /* tag characters */
	};

	for (size_t i = 0; i < sizeof(harmful) / sizeof(harmful[0]); i++)
		if (code >= harmful[i].from && code <= harmful[i].to)
			return false;
	return (code & 0xfffe) != 0xfffe && code <= 0x10ffff;
}

size_t base_utf8_cut(const char *bytes, size_t length, size_t most)
{
	uint32_t code;

	if (length <= most)
		return length;
	/* a character that extends beyond the limit begins at most three bytes before the limit */
	for (size_t back = 1; back < LONGEST && back <= most; back++)
		if (base_utf8_decode(bytes + most - back, length - most + back, &code) > back)
			return most - back;
	return most;
}

static const char hex_digits[] = "0123456789abcdef";

static char *put_hex_byte(char *at, unsigned char byte)
{
	at[0] = '\\';
	at[1] = 'x';
	at[2] = hex_digits[byte >> 4];
	at[3] = hex_digits[byte & 15];
	return at + 4;
}

char *base_escape_text(char *at, const char *bytes, size_t length, size_t limit)
{
	char *end = at + limit;

	for (size_t i = 0; i < length; i++) {
		unsigned char byte = (unsigned char)bytes[i];
		int plain = byte >= 0x20 && byte < 0x7f;

		if (end - at < (plain ? 1 : BASE_ESCAPE_TEXT_GROWTH))
			break;
		if (plain)
			*at++ = (char)byte;
		else
			at = put_hex_byte(at, byte);
	}
	return at;
}

/*
 * Returns the length in bytes of the harmless character with which `bytes` begins; 0 if they do not begin
 * with one.
 */
static size_t harmless(const char *bytes, size_t length)
{
	uint32_t code;
	size_t size = base_utf8_decode(bytes, length, &code);

	return size && base_utf8_is_harmless(code) ? size : 0;
}

char *base_escape_utf8(char *at, const char *bytes, size_t length, size_t limit)
{
	char *end = at + limit;

	for (size_t i = 0; i < length;) {
		size_t size = harmless(bytes + i, length - i);

		if ((size_t)(end - at) < (size ? size : BASE_ESCAPE_TEXT_GROWTH))
			break;
		if (size == 0) {
			at = put_hex_byte(at, (unsigned char)bytes[i++]);
			continue;
		}
		memcpy(at, bytes + i, size);
		at += size;
		i += size;
	}
	return at;
}

static char *put_unit(char *at, uint32_t unit)
{
	*at++ = '\\';
	*at++ = 'u';
	for (int shift = 12; shift >= 0; shift -= 4)
		*at++ = hex_digits[unit >> shift & 15];
	return at;
}

/*
 * Writes a character as \uNNNN. Writes a character above U+FFFF as two such sequences: a high and a low
 * surrogate.
 */
static char *put_units(char *at, uint32_t code)
{
	if (code < 0x10000)
		return put_unit(at, code);
	at = put_unit(at, 0xd800 + ((code - 0x10000) >> 10));
	return put_unit(at, 0xdc00 + (code & 0x3ff));
}

char *base_escape_json(char *at, const char *bytes, size_t length)
{
	for (size_t i = 0, size; i < length; i += size) {
		unsigned char byte = (unsigned char)bytes[i];
		uint32_t code;

		size = 1;
		if (byte >= 0x20 && byte < 0x7f) {
			*at = '\\';
			at += byte == '"' || byte == '\\';
			*at++ = (char)byte;
			continue;
		}
		size = base_utf8_decode(bytes + i, length - i, &code);
		if (size == 0) {
			at = put_unit(at, byte);
			size = 1;
		} else if (base_utf8_is_harmless(code)) {
			memcpy(at, bytes + i, size);
			at += size;
		} else {
			at = put_units(at, code);
		}
	}
	return at;
}

char *base_escape_json_document(const char *json)
{
	const size_t length = json ? strlen(json) : 0;
	char *copy = json ? malloc(BASE_ESCAPE_JSON_GROWTH * length + 1) : NULL, *to = copy;

	for (size_t at = 0, size; copy && at < length; at += size) {
		uint32_t code;

		/* ASCII is JSON's own syntax, or has been escaped; DEL is the exception */
		size = base_utf8_decode(json + at, length - at, &code);
		if (size == 1 && code != 0x7f)
			*to++ = json[at];
		else
			to = base_escape_json(to, json + at, size = size ? size : 1);
	}
	if (copy)
		*to = '\0';
	return copy;
}
