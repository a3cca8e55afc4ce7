/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "kdump/context.h"

#include <string.h>

#include "base/put.h"

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))
#define HIGH	   EACH(0x80)

/*
 * Compares the eight bytes of `word` with `than`. In the result, the eighth bit of a byte is set if that byte
 * of `word` is less than `than`, or has its own eighth bit set. Returns 0 if there is no such byte. Bits
 * above the first such byte may be wrong.
 */
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

/* Returns the letter that C uses for a control character, such as n for a newline; 0 if there is none. */
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
	/*
	 * Two cases need octal digits: a blank with the eighth bit has no other form, and a digit after "\0"
	 * would be read as a part of the octal number.
	 */
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

/*
 * Writes a quotation mark, with a backslash if `quoted`, or the vis(3) form of any other byte. Returns the
 * number of bytes written.
 */
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

#define MARGIN "       " /* text at the beginning of each line of data */
#define TAB    8u
/* maximum width that is used, so that a row of hexadecimal digits fits into a line of output */
#define COLUMNS_MOST 512u
#define PIECE	     1024u /* number of bytes of text that are written at a time */

bool kdump_data_is_binary(const uint8_t *bytes, size_t size)
{
	for (size_t n = kdump_vis_plain(bytes, size); n < size;
	     n += 1 + kdump_vis_plain(bytes + n + 1, size - n - 1))
		if ((bytes[n] < ' ' || bytes[n] >= 0x7f) && bytes[n] != '\n' && bytes[n] != '\r' &&
		    bytes[n] != '\t' && bytes[n] != '\0')
			return true;
	return false;
}

/*
 * Writes one byte at column `*column`. If the byte does not fit, begins a new line first. Column 0 means that
 * the line is still empty.
 */
static char *put_folded(char *at, unsigned *column, uint8_t byte, uint8_t next, unsigned columns)
{
	char text[KDUMP_VIS_GROWTH];
	size_t size = (size_t)(kdump_vis_byte(text, byte, next) - text);
	unsigned width = byte == '\t' ? TAB - *column % TAB : (unsigned)size;

	if (*column == 0) {
		*at++ = '\t';
		*column = TAB;
	}
	if (byte == '\n') {
		*column = 0;
		*at = '\n';
		return at + 1;
	}
	if (*column + width > columns - 2) {
		at = base_put_literal(at, "\\\n\t");
		*column = TAB;
	}
	*column += width;
	memcpy(at, text, size);
	return at + size;
}

/*
 * Writes as many bytes that need no change as fit into the current line. Returns the number of these bytes.
 * Returns 0 if the line is empty, because put_folded() begins a line.
 */
static size_t put_plain(char *at, unsigned *column, const uint8_t *bytes, size_t size, unsigned columns)
{
	size_t room = *column && *column < columns - 2 ? columns - 2 - *column : 0;

	size = kdump_vis_plain(bytes, size < room ? size : room);
	memcpy(at, bytes, size);
	*column += (unsigned)size;
	return size;
}

void kdump_data_text(struct base_output *out, const uint8_t *bytes, size_t size, unsigned columns)
{
	char *at = base_put_literal(base_output_line(out), MARGIN "\"");
	unsigned column = TAB;

	for (size_t n = 0; n < size;) {
		size_t end = size - n < PIECE ? size : n + PIECE;

		while (n < end) {
			size_t plain = put_plain(at, &column, bytes + n, end - n, columns);

			at += plain;
			n += plain;
			if (n == end)
				break;
			at = put_folded(at, &column, bytes[n], n + 1 < size ? bytes[n + 1] : 0, columns);
			n++;
		}
		base_output_done(out, at);
		at = base_output_line(out);
	}
	if (column == 0)
		at = base_put_literal(at, MARGIN);
	base_output_done(out, base_put_literal(at, "\"\n"));
}

/*
 * Returns the number of bytes in a row of hexadecimal digits: the largest even number for which the row is
 * shorter than the screen's width.
 */
static unsigned bytes_in_row(unsigned columns)
{
	unsigned width = 2;

	if (columns > COLUMNS_MOST)
		columns = COLUMNS_MOST;
	while (13 + (width + 2) / 2 + 1 + 3 * (width + 2) + 4 < columns)
		width += 2;
	return width;
}

static char *put_offset(char *at, size_t offset)
{
	for (size_t limit = 0x1000; limit > 1 && offset < limit; limit >>= 4)
		*at++ = '0';
	return base_put_hex(at, offset);
}

void kdump_data_hex(struct base_output *out, const uint8_t *bytes, size_t size, unsigned columns)
{
	unsigned width = bytes_in_row(columns);

	for (size_t row = 0; row < size; row += width) {
		size_t end = size - row < width ? size : row + width;
		char *at = put_offset(base_put_literal(base_output_line(out), MARGIN "0x"), row);

		for (size_t n = row; n < row + width; n++) {
			if (n % 2 == 0)
				*at++ = ' ';
			at = n < end ? kdump_put_byte(at, bytes[n]) : base_put_literal(at, "  ");
		}
		at = base_put_literal(at, "  |");
		for (size_t n = row; n < end; n++)
			*at++ = bytes[n] >= ' ' && bytes[n] <= '~' ? (char)bytes[n] : '.';
		base_output_done(out, base_put_literal(at, "|\n"));
	}
	if (size % width != 0)
		base_output_done(out, base_put_literal(base_output_line(out), "\n"));
}
