/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "export/escape.h"

#include <stdint.h>
#include <string.h>

static const char hex_digits[] = "0123456789abcdef";

char *escape_text(char *at, const char *bytes, size_t length, size_t limit)
{
	char *end = at + limit;

	for (size_t i = 0; i < length; i++) {
		unsigned char byte = (unsigned char)bytes[i];
		int plain = byte >= 0x20 && byte < 0x7f;

		if (end - at < (plain ? 1 : 4))
			break;
		if (plain) {
			*at++ = (char)byte;
			continue;
		}
		*at++ = '\\';
		*at++ = 'x';
		*at++ = hex_digits[byte >> 4];
		*at++ = hex_digits[byte & 15];
	}
	return at;
}

/* Length of the well-formed UTF-8 sequence of more than one byte at `s`, 0 if there is none. */
static size_t utf8_sequence(const unsigned char *s, size_t length)
{
	size_t size = s[0] >= 0xc2 && s[0] < 0xe0   ? 2
		      : (s[0] & 0xf0) == 0xe0	    ? 3
		      : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
						    : 0;

	if (size == 0 || size > length)
		return 0;
	for (size_t i = 1; i < size; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* No longer than needed, no surrogates, nothing past U+10FFFF. */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90))
		return 0;
	return size;
}

char *escape_json(char *at, const char *bytes, size_t length)
{
	const unsigned char *s = (const unsigned char *)bytes;

	for (size_t i = 0, size; i < length; i += size) {
		size = 1;
		if (s[i] >= 0x20 && s[i] < 0x7f) {
			if (s[i] == '"' || s[i] == '\\')
				*at++ = '\\';
			*at++ = (char)s[i];
			continue;
		}
		if (s[i] >= 0x80 && (size = utf8_sequence(s + i, length - i)) != 0) {
			memcpy(at, s + i, size);
			at += size;
			continue;
		}
		size = 1;
		memcpy(at, "\\u00", 4);
		at[4] = hex_digits[s[i] >> 4];
		at[5] = hex_digits[s[i] & 15];
		at += 6;
	}
	return at;
}
