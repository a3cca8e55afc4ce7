/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "base/output.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Colours ---- */

#define RED	 "31"
#define BOLD_RED "1;31"
#define GREEN	 "32"
#define YELLOW	 "33"
#define CYAN	 "36"
#define BOLD	 "1"

/* a duration of at least this number of nanoseconds is yellow (or red) */
#define YELLOW_NS 1e6
#define RED_NS	  100e6

#define VERDICT_MOST 40 /* maximum length of the kind of a finding, such as "lost interrupt" */

/* A part of a line, printed in one colour. */
struct part {
	size_t length; /* length in bytes; 0: no coloured part begins at this place */
	const char *colour;
};

bool base_paint_wanted(enum base_paint_when when, int fd)
{
	const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");

	if (when != BASE_PAINT_AUTO)
		return when == BASE_PAINT_ALWAYS;
	return isatty(fd) && !(none && *none) && terminal && *terminal && strcmp(terminal, "dumb") != 0;
}

static bool is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

static bool is_letter(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

static bool is_word(char byte)
{
	return is_letter(byte) || is_digit(byte) || byte == '_' || (unsigned char)byte >= 128;
}

/* Returns whether the text begins with `words`. */
static bool begins(const char *at, const char *end, const char *words)
{
	const size_t length = strlen(words);

	return (size_t)(end - at) >= length && memcmp(at, words, length) == 0;
}

static bool begins_word(const char *at, const char *end, const char *word)
{
	return begins(at, end, word) && (at + strlen(word) == end || !is_word(at[strlen(word)]));
}

static const char *skip_digits(const char *at, const char *end)
{
	while (at < end && is_digit(*at))
		at++;
	return at;
}

/* ---- Whole lines, and the beginnings of lines ---- */

/*
 * Beginnings of lines that get a colour: the marks of `ktrace doctor`, and the results of `ktrace check` and
 * `ktrace diff`.
 */
static const struct {
	const char *word, *colour;
} firsts[] = {
	{ "ok     ", GREEN },	      { "note   ", CYAN }, { "dark   ", YELLOW },   { "wrong  ", "31;1" },
	{ "first difference", BOLD }, { "equal", GREEN },  { "undecided", YELLOW }, { "different", BOLD_RED },
};
#define MARKS	    4 /* number of marks in `firsts` */
#define MARK_LENGTH 5

/* If the line begins with a finding, returns its first part, such as "deadlock (certain)". */
static struct part verdict(const char *from, const char *end)
{
	static const struct {
		const char *word, *colour;
	} certainties[] = { { " (certain", BOLD_RED }, { " (likely", RED }, { " (possible", YELLOW } };
	const char *open = memchr(from, '(', (size_t)(end - from)), *close;

	if (!open || open == from || open - from > VERDICT_MOST || !is_letter(*from))
		return (struct part){ 0 };
	close = memchr(open, ')', (size_t)(end - open));
	if (!close || !begins(close, end, "):"))
		return (struct part){ 0 };
	for (unsigned n = 0; n < sizeof(certainties) / sizeof(certainties[0]); n++)
		if (begins(open - 1, end, certainties[n].word)) {
			const bool harmless = begins(from, end, "idle (") || begins(from, end, "busy (");

			return (struct part){ (size_t)(close + 1 - from),
					      harmless ? GREEN : certainties[n].colour };
		}
	return (struct part){ 0 };
}

/* Returns whether the line is the heading of a table: words in capital letters, with spaces between them. */
static bool is_heading(const char *from, const char *end)
{
	bool columns = false;

	if (end - from < 8 || from[0] < 'A' || from[0] > 'Z' || from[1] < 'A' || from[1] > 'Z')
		return false;
	for (; from < end; from++) {
		if ((*from >= 'a' && *from <= 'z') || is_digit(*from))
			return false;
		columns |= begins(from, end, "   ");
	}
	return columns;
}

static struct part first_of_line(const char *from, const char *end)
{
	const size_t all = (size_t)(end - from);

	if (begins(from, end, "--- ") && all >= 8 && begins(end - 4, end, " ---"))
		return (struct part){ all, BOLD_RED };
	if (begins(from, end, "loss   "))
		return (struct part){ all, begins(end - 5, end, " none") ? GREEN : BOLD_RED };
	if (is_heading(from, end))
		return (struct part){ all, BOLD };
	for (unsigned n = 0; n < sizeof(firsts) / sizeof(firsts[0]); n++)
		if (n < MARKS ? begins(from, end, firsts[n].word) : begins_word(from, end, firsts[n].word))
			return (struct part){ n < MARKS ? MARK_LENGTH : strlen(firsts[n].word),
					      firsts[n].colour };
	return verdict(from, end);
}

/* ---- Words that get a colour ---- */

/*
 * If the text begins with a CPU's name ("CPU3" or "CPU 3"), returns that part. A CPU always has the same
 * colour.
 */
static struct part cpu(const char *at, const char *end)
{
	static const char *const colours[] = { "36", "35", "34", "32", "96", "95", "94", "92" };
	const char *digits = at + 3, *after;
	unsigned number = 0;

	if (!begins(at, end, "CPU"))
		return (struct part){ 0 };
	digits += digits < end && *digits == ' ';
	after = skip_digits(digits, end);
	if (after == digits || after - digits > 5 || (after < end && is_word(*after)))
		return (struct part){ 0 };
	for (; digits < after; digits++)
		number = 10 * number + (unsigned)(*digits - '0');
	return (struct part){ (size_t)(after - at),
			      colours[number % (sizeof(colours) / sizeof(colours[0]))] };
}

/*
 * If the text begins with a long duration ("12.3 ms"), returns that part. The times in "2.3 s ago", "-2.3 s"
 * and "4725 in 2.3 s" do not count as durations.
 */
static struct part duration(const char *line, const char *at, const char *end)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
	const char *from = at;
	double value = 0, place = 1;

	for (; at < end && is_digit(*at); at++)
		value = 10 * value + (*at - '0');
	if (at < end && *at == '.')
		for (at++; at < end && is_digit(*at); at++)
			value += (place /= 10) * (*at - '0');
	at += at < end && *at == ' ';
	for (unsigned n = 0; n < sizeof(units) / sizeof(units[0]); n++)
		if (begins_word(at, end, units[n].name)) {
			at += strlen(units[n].name);
			if (value * units[n].ns < YELLOW_NS || begins(at, end, " ago") ||
			    (from > line && from[-1] == '-') ||
			    (from - line > 3 && begins(from - 3, end, "in ")))
				return (struct part){ 0 };
			return (struct part){ (size_t)(at - from),
					      value * units[n].ns < RED_NS ? YELLOW : RED };
		}
	return (struct part){ 0 };
}

/* If the text begins with the result of a failed call ("-2 ENOENT" or "-1 errno 2"), returns that part. */
static struct part failure(const char *at, const char *end)
{
	const char *from = at, *after = skip_digits(at + 1, end);

	if (after == at + 1 || after == end || *after != ' ')
		return (struct part){ 0 };
	at = after + 1;
	if (begins(at, end, "errno "))
		return (struct part){ (size_t)(skip_digits(at + 6, end) - from), RED };
	if (at + 1 >= end || at[0] != 'E' || at[1] < 'A' || at[1] > 'Z')
		return (struct part){ 0 };
	while (at < end && is_word(*at))
		at++;
	return (struct part){ (size_t)(at - from), RED };
}

static struct part word(const char *line, const char *at, const char *end)
{
	static const struct {
		const char *word, *colour;
	} words[] = {
		{ "violated", BOLD_RED },
		{ "holds", GREEN },
		{ "STUCK", BOLD_RED },
	};

	if (*at == 'C')
		return cpu(at, end);
	if (is_digit(*at))
		return duration(line, at, end);
	/* the result of a rule, as in "switch-in-interrupt: holds" */
	if (*at == 'h' && (at - line < 2 || at[-2] != ':'))
		return (struct part){ 0 };
	for (unsigned n = 0; n < sizeof(words) / sizeof(words[0]); n++)
		if (*at == words[n].word[0] && begins_word(at, end, words[n].word))
			return (struct part){ strlen(words[n].word), words[n].colour };
	return (struct part){ 0 };
}

static const char *put_part(const char *at, struct part part, base_paint_put *put, void *context)
{
	put(context, "\033[", 2);
	put(context, part.colour, strlen(part.colour));
	put(context, "m", 1);
	put(context, at, part.length);
	put(context, "\033[0m", 4);
	return at + part.length;
}

static void paint_line(const char *from, const char *end, base_paint_put *put, void *context)
{
	struct part part = first_of_line(from, end);
	const char *at = from, *plain = from;

	if (!part.length && at < end && is_word(*at))
		part = word(from, at, end);
	while (at < end) {
		if (part.length) {
			put(context, plain, (size_t)(at - plain));
			plain = at = put_part(at, part, put, context);
		} else {
			/* a coloured part begins only at the beginning of a word */
			for (at++; at < end && is_word(at[-1]) && is_word(*at); at++)
				;
		}
		part = (struct part){ 0 };
		if (at < end && at > from && is_word(*at) && at[-1] != '.' && !is_word(at[-1]))
			part = word(from, at, end);
		else if (at < end && at > from && *at == '-' && at[-1] == ' ')
			part = failure(at, end);
	}
	put(context, plain, (size_t)(end - plain));
}

void base_paint(const char *from, const char *end, base_paint_put *put, void *context)
{
	while (from < end) {
		const char *feed = memchr(from, '\n', (size_t)(end - from)), *last = feed ? feed : end;

		paint_line(from, last, put, context);
		if (feed)
			put(context, feed, 1);
		from = feed ? feed + 1 : end;
	}
}

/* ---- Buffered output ---- */

int base_output_open(struct base_output *out, int fd)
{
	*out = (struct base_output){ .fd = fd };
	out->buffer = malloc(BASE_OUTPUT_BUFFER + BASE_OUTPUT_LINE);
	if (!out->buffer)
		return -1;
	out->at = out->buffer;
	out->limit = out->buffer + BASE_OUTPUT_BUFFER;
	return 0;
}

static void write_all(struct base_output *out, const char *from, const char *end)
{
	while (from < end && !out->error) {
		ssize_t written = write(out->fd, from, (size_t)(end - from));

		if (written >= 0)
			from += written;
		else if (errno != EINTR)
			out->error = errno;
	}
}

void base_output_schema(struct base_output *out, const char *name)
{
	out->schema = name;
}

/*
 * If the buffer begins with an object, writes the opening bracket and the name of the schema. Returns the
 * position of the first byte in the buffer that is not written yet.
 */
static const char *write_schema(struct base_output *out)
{
	char text[160];
	const char *from = out->buffer;
	int length;

	if (*from == '{') {
		length = snprintf(text, sizeof(text), "{" BASE_OUTPUT_SCHEMA "%s", out->schema,
				  *++from == '}' ? "" : ",");
		write_all(out, text, text + length);
	}
	out->schema = NULL;
	return from;
}

void base_output_paint(struct base_output *out)
{
	out->painted = true;
}

/* Buffer for coloured text that was not written yet. */
struct painted {
	struct base_output *out;
	size_t length;
	char text[8192];
};

static void put_painted(void *context, const char *bytes, size_t length)
{
	struct painted *painted = context;

	if (painted->length + length > sizeof(painted->text)) {
		write_all(painted->out, painted->text, painted->text + painted->length);
		painted->length = 0;
	}
	if (length > sizeof(painted->text)) {
		write_all(painted->out, bytes, bytes + length);
		return;
	}
	memcpy(painted->text + painted->length, bytes, length);
	painted->length += length;
}

static void write_painted(struct base_output *out, const char *from, const char *end)
{
	struct painted painted = { .out = out, .length = 0 };

	base_paint(from, end, put_painted, &painted);
	write_all(out, painted.text, painted.text + painted.length);
}

/*
 * Returns the end of the last complete line in the buffer. If the incomplete line after it is so long that
 * too little room would become free, returns the end of the text instead.
 */
static char *end_of_lines(struct base_output *out)
{
	char *end = out->at;

	while (end > out->buffer && end[-1] != '\n')
		end--;
	return (size_t)(out->at - end) > BASE_OUTPUT_BUFFER / 2 ? out->at : end;
}

/* Writes the text from the beginning of the buffer to `end`, and keeps the text after `end` in the buffer. */
static void flush(struct base_output *out, char *end)
{
	const char *from = out->buffer;

	if (from == end)
		return;
	if (out->begin)
		out->begin(out);
	out->begin = NULL;
	if (out->schema)
		from = write_schema(out);
	if (out->painted)
		write_painted(out, from, end);
	else
		write_all(out, from, end);
	memmove(out->buffer, end, (size_t)(out->at - end));
	out->at = out->buffer + (out->at - end);
}

void base_output_flush(struct base_output *out)
{
	flush(out, out->painted ? end_of_lines(out) : out->at);
}

int base_output_close(struct base_output *out)
{
	flush(out, out->at);
	free(out->buffer);
	out->buffer = NULL;
	return out->error;
}

void base_output_bytes(struct base_output *out, const char *bytes, size_t length)
{
	/* bytes that fill the whole buffer are not copied into it, unless something is to be added to them */
	if (length >= BASE_OUTPUT_BUFFER && !out->begin && !out->schema && !out->painted) {
		base_output_flush(out);
		write_all(out, bytes, bytes + length);
		return;
	}
	while (length > 0) {
		size_t part = length < BASE_OUTPUT_LINE ? length : BASE_OUTPUT_LINE;
		char *at = base_output_line(out);

		memcpy(at, bytes, part);
		base_output_done(out, at + part);
		bytes += part;
		length -= part;
	}
}

void base_output_text(struct base_output *out, const char *text)
{
	base_output_bytes(out, text, strlen(text));
}

void base_output_vformat(struct base_output *out, const char *format, va_list arguments)
{
	char *at = base_output_line(out);
	int length = vsnprintf(at, BASE_OUTPUT_LINE, format, arguments);

	if (length >= (int)BASE_OUTPUT_LINE)
		length = (int)BASE_OUTPUT_LINE - 1;
	if (length > 0)
		base_output_done(out, at + length);
}

void base_output_format(struct base_output *out, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	base_output_vformat(out, format, arguments);
	va_end(arguments);
}
