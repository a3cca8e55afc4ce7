/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "kdump/vis.h"

#include <string.h>

/* "\x" for control characters that C has a letter for; 0: it has none. */
static char c_letter(uint8_t byte)
{
	switch (byte) {
	case '\n':
		return 'n';
	case '\r':
		return 'r';
	case '\b':
		return 'b';
	case '\a':
		return 'a';
	case '\v':
		return 'v';
	case '\t':
		return 't';
	case '\f':
		return 'f';
	default:
		return 0;
	}
}

static char *put_escape(char *at, uint8_t byte, uint8_t next)
{
	char letter = c_letter(byte);

	*at++ = '\\';
	if (byte == '\\' || letter) {
		*at++ = letter ? letter : '\\';
		return at;
	}
	if (byte == 0 && !(next >= '0' && next <= '7')) {
		*at++ = '0';
		return at;
	}
	/* A blank with the eighth bit has no other form; a NUL before a digit would be read as one number with it. */
	if (byte == 0 || (byte & 0x7f) == ' ') {
		*at++ = (char)('0' + (byte >> 6));
		*at++ = (char)('0' + (byte >> 3 & 7));
		*at++ = (char)('0' + (byte & 7));
		return at;
	}
	if (byte & 0x80)
		*at++ = 'M';
	byte &= 0x7f;
	if (byte < ' ' || byte == 0x7f) {
		*at++ = '^';
		*at++ = byte == 0x7f ? '?' : (char)(byte + '@');
	} else {
		*at++ = '-';
		*at++ = (char)byte;
	}
	return at;
}

char *kdump_vis_byte(char *at, uint8_t byte, uint8_t next)
{
	if ((byte >= ' ' && byte < 0x7f && byte != '\\') || byte == '\n' || byte == '\t') {
		*at = (char)byte;
		return at + 1;
	}
	return put_escape(at, byte, next);
}

char *kdump_vis_text(char *at, const void *bytes, size_t length, size_t limit, bool quoted)
{
	const uint8_t *from = bytes;
	char *end = at + limit;

	for (size_t n = 0; n < length; n++) {
		char escape[KDUMP_VIS_GROWTH];
		size_t size;

		if (from[n] >= ' ' && from[n] < 0x7f && from[n] != '\\' && from[n] != '"') {
			if (at == end)
				break;
			*at++ = (char)from[n];
			continue;
		}
		if (from[n] == '"') {
			memcpy(escape, "\\\"", 2);
			size = quoted ? 2 : 1;
			memmove(escape, escape + 2 - size, size);
		} else {
			size = (size_t)(put_escape(escape, from[n], n + 1 < length ? from[n + 1] : 0) -
					escape);
		}
		if ((size_t)(end - at) < size)
			break;
		memcpy(at, escape, size);
		at += size;
	}
	return at;
}
