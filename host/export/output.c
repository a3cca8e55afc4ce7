/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "export/output.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ktread/ktread.h"

int output_open(struct output *out, int fd)
{
	*out = (struct output){ .fd = fd };
	out->buffer = malloc(OUTPUT_BUFFER + OUTPUT_LINE);
	if (!out->buffer)
		return KTREAD_E_MEMORY;
	out->at = out->buffer;
	out->limit = out->buffer + OUTPUT_BUFFER;
	return 0;
}

void output_flush(struct output *out)
{
	const char *from = out->buffer;

	while (from < out->at && !out->error) {
		ssize_t written = write(out->fd, from, (size_t)(out->at - from));

		if (written >= 0)
			from += written;
		else if (errno != EINTR)
			out->error = errno;
	}
	out->at = out->buffer;
}

int output_close(struct output *out)
{
	output_flush(out);
	free(out->buffer);
	out->buffer = NULL;
	return out->error;
}

void output_bytes(struct output *out, const char *bytes, size_t length)
{
	while (length > 0) {
		size_t part = length < OUTPUT_LINE ? length : OUTPUT_LINE;
		char *at = output_line(out);

		memcpy(at, bytes, part);
		output_done(out, at + part);
		bytes += part;
		length -= part;
	}
}

void output_text(struct output *out, const char *text)
{
	output_bytes(out, text, strlen(text));
}

void output_format(struct output *out, const char *format, ...)
{
	char *at = output_line(out);
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(at, OUTPUT_LINE, format, arguments);
	va_end(arguments);
	if (length >= (int)OUTPUT_LINE)
		length = (int)OUTPUT_LINE - 1;
	if (length > 0)
		output_done(out, at + length);
}
