/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "kdump/vis.h"

#include <string.h>

#include "base/put.h"

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))
#define HIGH	   EACH(0x80)

/* The eighth bit of each byte that is less than `than`, or has it already; of none of the bytes below the first such one. */
static uint64_t less(uint64_t word, uint8_t than)
{
	return ((word - EACH(than)) & ~word & HIGH) | (word & HIGH);
}

size_t kdump_vis_plain(const uint8_t *bytes, size_t size)
{
	size_t n = 0;

	for (; n + sizeof(uint64_t) <= size; n += sizeof(uint64_t)) {
		uint64_t word, special;

		memcpy(&word, bytes + n, sizeof(word));
		special = less(word, ' ') | less(word ^ EACH('\\'), 1) | less(word ^ EACH('"'), 1) |
			  less(word ^ EACH(0x7f), 1);
		if (special)
			break;
	}
	while (n < size && bytes[n] >= ' ' && bytes[n] < 0x7f && bytes[n] != '\\' && bytes[n] != '"')
		n++;
	return n;
}

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

/* A byte that is not plain. */
static size_t put_special(char *to, uint8_t byte, uint8_t next, bool quoted)
{
	if (byte == '"' && !quoted) {
		*to = '"';
		return 1;
	}
	if (byte == '"')
		return (size_t)(base_put_literal(to, "\\\"") - to);
	return (size_t)(put_escape(to, byte, next) - to);
}

char *kdump_vis_text(char *at, const void *bytes, size_t length, size_t limit, bool quoted)
{
	const uint8_t *from = bytes;
	char *end = at + limit;

	for (size_t n = 0;;) {
		char escape[KDUMP_VIS_GROWTH];
		size_t room = (size_t)(end - at), left = length - n;
		size_t size = kdump_vis_plain(from + n, left < room ? left : room);

		memcpy(at, from + n, size);
		at += size;
		n += size;
		if (n == length || at == end)
			return at;
		size = put_special(escape, from[n], n + 1 < length ? from[n + 1] : 0, quoted);
		if ((size_t)(end - at) < size)
			return at;
		memcpy(at, escape, size);
		at += size;
		n++;
	}
}
