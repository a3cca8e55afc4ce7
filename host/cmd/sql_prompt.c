/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "cmd/sql_prompt.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define LINE		4096u /* maximum size of a line in bytes, with its newline and NUL */
#define HISTORY		100u
#define CONTROL(letter) ((letter) - 'A' + 1)
#define ESCAPE		27

enum key { KEY_UP = 256, KEY_DOWN, KEY_LEFT, KEY_RIGHT, KEY_HOME, KEY_END, KEY_DELETE, KEY_NONE, KEY_CLOSED };

struct sql_prompt {
	char *history[HISTORY]; /* earlier lines, the oldest first */
	unsigned lines;
	char line[LINE];
	size_t length, at; /* `length`: number of bytes in the line; `at`: position of the cursor */
	/* index in `history` of the line that is shown; it equals `lines` if the new line is shown */
	unsigned shown;
};

struct sql_prompt *sql_prompt_open(void)
{
	return calloc(1, sizeof(struct sql_prompt));
}

void sql_prompt_close(struct sql_prompt *reader)
{
	for (unsigned n = 0; reader && n < reader->lines; n++)
		free(reader->history[n]);
	free(reader);
}

/* ---- Reading keys ---- */

static int read_byte(void)
{
	unsigned char byte;
	ssize_t got;

	do
		got = read(STDIN_FILENO, &byte, 1);
	while (got < 0 && errno == EINTR);
	return got == 1 ? byte : KEY_CLOSED;
}

/* Reads the bytes after ESC that belong to the same key. */
static int read_sequence(void)
{
	int byte = read_byte(), number = 0;

	if (byte != '[' && byte != 'O')
		return KEY_NONE;
	byte = read_byte();
	for (; (byte >= '0' && byte <= '9') || byte == ';'; byte = read_byte())
		number = byte == ';' || number > 99 ? number : number * 10 + byte - '0';
	switch (byte) {
	case 'A':
		return KEY_UP;
	case 'B':
		return KEY_DOWN;
	case 'C':
		return KEY_RIGHT;
	case 'D':
		return KEY_LEFT;
	case 'H':
		return KEY_HOME;
	case 'F':
		return KEY_END;
	case '~':
		return number == 3 ? KEY_DELETE : number == 1 || number == 7 ? KEY_HOME : KEY_END;
	default:
		return KEY_NONE;
	}
}

/* ---- Editing and drawing the line ---- */

/* Deletes the bytes between two positions, and puts the cursor at the first position. */
static void cut(struct sql_prompt *reader, size_t from, size_t to)
{
	memmove(reader->line + from, reader->line + to, reader->length - to);
	reader->length -= to - from;
	reader->at = from;
}

/* Returns the position of the UTF-8 character before or after `at`. */
static size_t step(const struct sql_prompt *reader, size_t at, bool forward)
{
	do
		at += forward ? at < reader->length : at > 0 ? (size_t)-1 : 0;
	while (at > 0 && at < reader->length && ((unsigned char)reader->line[at] & 0xc0) == 0x80);
	return at;
}

static void insert(struct sql_prompt *reader, int byte)
{
	if (reader->length + 2 >= LINE)
		return;
	memmove(reader->line + reader->at + 1, reader->line + reader->at, reader->length - reader->at);
	reader->line[reader->at++] = (char)byte;
	reader->length++;
}

/* Replaces the shown line by an earlier or a later line of the history. */
static void recall(struct sql_prompt *reader, unsigned n)
{
	if (n > reader->lines)
		return;
	reader->shown = n;
	reader->length = n < reader->lines ? strlen(reader->history[n]) : 0;
	if (reader->length)
		memcpy(reader->line, reader->history[n], reader->length);
	reader->at = reader->length;
}

static void remember(struct sql_prompt *reader)
{
	char *copy = reader->length ? strndup(reader->line, reader->length) : NULL;

	if (!copy)
		return;
	if (reader->lines == HISTORY) {
		free(reader->history[0]);
		memmove(reader->history, reader->history + 1, (HISTORY - 1) * sizeof(reader->history[0]));
		reader->lines--;
	}
	reader->history[reader->lines++] = copy;
}

/* Draws the part of the line around the cursor that fits on the screen. */
static void draw(const struct sql_prompt *reader, const char *prompt)
{
	struct winsize size = { .ws_col = 80 };
	size_t from = 0, room, length, back = 0;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 20)
		size.ws_col = 80;
	room = size.ws_col - strlen(prompt) - 1;
	if (reader->at > room)
		from = reader->at - room;
	while (from > 0 && from < reader->length && ((unsigned char)reader->line[from] & 0xc0) == 0x80)
		from++;
	length = reader->length - from < room ? reader->length - from : room;
	for (size_t n = reader->at; n < from + length; n++)
		back += ((unsigned char)reader->line[n] & 0xc0) != 0x80;
	fprintf(stderr, "\r%s%.*s\033[K", prompt, (int)length, reader->line + from);
	if (back)
		fprintf(stderr, "\033[%zuD", back);
	fflush(stderr);
}

static void cut_word(struct sql_prompt *reader)
{
	size_t from = reader->at;

	while (from > 0 && reader->line[from - 1] == ' ')
		from--;
	while (from > 0 && reader->line[from - 1] != ' ')
		from--;
	cut(reader, from, reader->at);
}

static void edit(struct sql_prompt *reader, int key)
{
	switch (key) {
	case KEY_UP:
		recall(reader, reader->shown ? reader->shown - 1 : 0);
		return;
	case KEY_DOWN:
		recall(reader, reader->shown + 1);
		return;
	case KEY_LEFT:
		reader->at = step(reader, reader->at, false);
		return;
	case KEY_RIGHT:
		reader->at = step(reader, reader->at, true);
		return;
	case KEY_HOME:
	case CONTROL('A'):
		reader->at = 0;
		return;
	case KEY_END:
	case CONTROL('E'):
		reader->at = reader->length;
		return;
	case KEY_DELETE:
		cut(reader, reader->at, step(reader, reader->at, true));
		return;
	case 127:
	case CONTROL('H'):
		cut(reader, step(reader, reader->at, false), reader->at);
		return;
	case CONTROL('K'):
		cut(reader, reader->at, reader->length);
		return;
	case CONTROL('U'):
		cut(reader, 0, reader->at);
		return;
	case CONTROL('W'):
		cut_word(reader);
		return;
	default:
		if (key >= ' ' && key < 256)
			insert(reader, key);
	}
}

/* Reads keys until the line is complete. Returns false at the end of the input. */
static bool read_keys(struct sql_prompt *reader, const char *prompt)
{
	for (;;) {
		int key;

		draw(reader, prompt);
		key = read_byte();
		if (key == ESCAPE)
			key = read_sequence();
		if (key == KEY_CLOSED || (key == CONTROL('D') && reader->length == 0))
			return false;
		if (key == '\r' || key == '\n')
			return true;
		if (key == CONTROL('C')) {
			reader->length = reader->at = 0;
			fputs("^C\r\n", stderr);
			continue;
		}
		edit(reader, key == CONTROL('D') ? KEY_DELETE : key);
	}
}

ssize_t sql_prompt_line(struct sql_prompt *reader, const char *prompt, char **line, size_t *room)
{
	struct termios before, raw;
	bool more;

	if (tcgetattr(STDIN_FILENO, &before) != 0)
		return -1;
	raw = before;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG | IEXTEN);
	raw.c_iflag &= ~(tcflag_t)(ICRNL | IXON);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
	reader->length = reader->at = 0;
	reader->shown = reader->lines;
	more = read_keys(reader, prompt);
	tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
	fputs("\n", stderr);
	if (!more)
		return -1;
	remember(reader);
	if (*room < LINE) {
		char *larger = realloc(*line, LINE);

		if (!larger)
			return -1;
		*line = larger;
		*room = LINE;
	}
	memcpy(*line, reader->line, reader->length);
	memcpy(*line + reader->length, "\n", 2);
	return (ssize_t)reader->length + 1;
}
