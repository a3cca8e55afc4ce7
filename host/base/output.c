/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "base/output.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/paint.h"

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
