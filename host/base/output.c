/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "base/output.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* Writes the beginning of the first object and the name of the schema. Returns the rest of the object. */
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

void base_output_flush(struct base_output *out)
{
	const char *from = out->buffer;

	if (out->schema && from < out->at)
		from = write_schema(out);
	write_all(out, from, out->at);
	out->at = out->buffer;
}

int base_output_close(struct base_output *out)
{
	base_output_flush(out);
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
