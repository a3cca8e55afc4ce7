/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <string.h>
#include <words.h>

#define COLUMNS 80
#define TAB	8
#define MARGIN	"       "

static bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

/* Writes a byte, encoded like vis(3). `next` is the byte after it. */
static void put_visible(struct line *line, char byte, char next)
{
	unsigned char c = (unsigned char)byte;

	if (c == '\\')
		line_put(line, "\\\\");
	else if (c == '\r')
		line_put(line, "\\r");
	else if (c == '\n')
		line_put(line, "\\n");
	else if (c == '\t')
		line_put(line, "\\t");
	else if (c == 0)
		line_put(line, is_octal(next) ? "\\000" : "\\0");
	else if (c < ' ')
		line_put(line, "\\^"), line_byte(line, (char)(c + '@'));
	else if (c < 0x7f)
		line_byte(line, byte);
	else
		line_put(line, "\\x%02x", c);
}

void words_quoted(struct line *line, const char *text, size_t length)
{
	line_byte(line, '"');
	for (size_t n = 0; n < length; n++)
		put_visible(line, text[n], n + 1 < length ? text[n + 1] : '\0');
	line_byte(line, '"');
}

/* ---- Data as text or bytes --------------------------------------------------------------------- */

static bool is_binary(const char *bytes, size_t size)
{
	for (size_t n = 0; n < size; n++) {
		unsigned char c = (unsigned char)bytes[n];

		if ((c < ' ' || c >= 0x7f) && c && c != '\n' && c != '\r' && c != '\t')
			return true;
	}
	return false;
}

/*
 * Returns the number of columns that a byte takes on the screen when put_visible() writes it at `column`.
 * `next` is the byte after it.
 */
static unsigned width_of(char byte, char next, unsigned column)
{
	if (byte == '\t')
		return TAB - column % TAB;
	if (byte == '\0' && is_octal(next))
		return 4;
	return byte >= ' ' && byte != '\\' ? 1 : 2;
}

static unsigned put_folded(struct line *line, char byte, char next, unsigned column)
{
	unsigned width = width_of(byte, next, column);

	if (column == 0) {
		line_byte(line, '\t');
		column = TAB;
	}
	if (byte == '\n') {
		line_byte(line, '\n');
		return 0;
	}
	if (column + width > COLUMNS - 2) {
		line_put(line, "\\\n\t");
		column = TAB;
	}
	if (byte == '\t')
		line_byte(line, byte);
	else
		put_visible(line, byte, next);
	return column + width;
}

static void put_text(struct line *line, const char *bytes, size_t size)
{
	unsigned column = TAB;

	line_put(line, MARGIN "\"");
	for (size_t n = 0; n < size; n++)
		column = put_folded(line, bytes[n], n + 1 < size ? bytes[n + 1] : '\0', column);
	line_put(line, column == 0 ? MARGIN "\"" : "\"");
}

static void put_row(struct line *line, const char *bytes, size_t size, size_t row, size_t width)
{
	line_put(line, MARGIN "0x%04lx", row);
	for (size_t n = row; n < row + width; n++) {
		line_put(line, n % 2 ? "" : " ");
		if (n < size)
			line_put(line, "%02x", (unsigned char)bytes[n]);
		else
			line_put(line, "  ");
	}
	line_put(line, "  |");
	for (size_t n = row; n < size && n < row + width; n++)
		line_byte(line, bytes[n] >= ' ' && bytes[n] <= '~' ? bytes[n] : '.');
	line_byte(line, '|');
}

/* Each line shows as many bytes as fit on the screen; their number is even. */
void words_bytes(struct line *line, const char *bytes, size_t size)
{
	size_t width = 2;

	while (13 + (width + 2) / 2 + 1 + 3 * (width + 2) + 4 < COLUMNS)
		width += 2;
	for (size_t row = 0; row < size; row += width) {
		if (row)
			line_byte(line, '\n');
		put_row(line, bytes, size, row, width);
	}
	if (size % width != 0)
		line_byte(line, '\n');
}

void words_data(struct line *line, const char *bytes, size_t size)
{
	if (is_binary(bytes, size))
		words_bytes(line, bytes, size);
	else
		put_text(line, bytes, size);
}
