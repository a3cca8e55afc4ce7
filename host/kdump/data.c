/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "kdump/data.h"

#include <string.h>

#include "base/put.h"
#include "kdump/bytes.h"
#include "kdump/vis.h"

#define MARGIN	     "       " /* in front of each line */
#define TAB	     8u
#define COLUMNS_MOST 512u  /* a row of hexadecimal digits fits a line of output */
#define PIECE	     1024u /* bytes of text between looks at the room that is left */

bool kdump_data_is_binary(const uint8_t *bytes, size_t size)
{
	for (size_t n = kdump_vis_plain(bytes, size); n < size;
	     n += 1 + kdump_vis_plain(bytes + n + 1, size - n - 1))
		if ((bytes[n] < ' ' || bytes[n] >= 0x7f) && bytes[n] != '\n' && bytes[n] != '\r' &&
		    bytes[n] != '\t' && bytes[n] != '\0')
			return true;
	return false;
}

/* One byte behind column `*column`; 0 is the beginning of a line that has nothing yet. */
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

/* As many plain bytes as fit the line, of which one has begun: how many. */
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

/* As many bytes, two by two, as leave the line shorter than the screen. */
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
