/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "base/escape.h"

#include <stdint.h>
#include <string.h>

#include "base/utf8.h"

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

/* Bytes of the harmless character that `bytes` begins with; 0 if it begins with none. */
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

/* A character past U+FFFF takes two units, a high and a low surrogate. */
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
