/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Buffered output that is filled through a bare pointer. A line is written so:
 *
 *	char *at = output_line(out);	room for OUTPUT_LINE bytes
 *	at = number_decimal(at, value);
 *	output_done(out, at);
 *
 * The first failed write is kept in `error`; everything after it is thrown away, so only loops that may
 * run for long need to look at it.
 */
#ifndef EXPORT_OUTPUT_H
#define EXPORT_OUTPUT_H

#include <stddef.h>

#define OUTPUT_BUFFER ((size_t)256 << 10)
#define OUTPUT_LINE   ((size_t)16 << 10) /* most that may be put between output_line() and output_done() */

struct output {
	char *at;
	char *limit; /* a line may begin anywhere up to here */
	char *buffer;
	int fd;
	int error; /* errno of the first failed write */
};

/* 0, or a negative KTREAD_E_MEMORY. `fd` remains the caller's. */
int output_open(struct output *out, int fd);
void output_flush(struct output *out);
/* Flushes and frees. Returns out->error. */
int output_close(struct output *out);
void output_bytes(struct output *out, const char *bytes, size_t length);
void output_text(struct output *out, const char *text);
__attribute__((format(printf, 2, 3))) void output_format(struct output *out, const char *format, ...);

static inline char *output_line(struct output *out)
{
	if (__builtin_expect(out->at > out->limit, 0))
		output_flush(out);
	return out->at;
}

static inline void output_done(struct output *out, char *at)
{
	out->at = at;
}

#endif
