/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Buffered output that is filled through a bare pointer. A line is written so:
 *
 *	char *at = base_output_line(out);	room for BASE_OUTPUT_LINE bytes
 *	at = base_put_decimal(at, value);
 *	base_output_done(out, at);
 *
 * The first failed write is kept in `error`; everything after it is thrown away, so only loops that may
 * run for long need to look at it.
 */
#ifndef BASE_OUTPUT_H
#define BASE_OUTPUT_H

#include <stdarg.h>
#include <stddef.h>

#define BASE_OUTPUT_BUFFER ((size_t)256 << 10)
#define BASE_OUTPUT_LINE \
	((size_t)16 << 10) /* most that may be put between base_output_line() and base_output_done() */

struct base_output {
	char *at;
	char *limit; /* a line may begin anywhere up to here */
	char *buffer;
	int fd;
	int error; /* errno of the first failed write */
};

/* Returns 0, or -1 if memory is short. `fd` remains the caller's. */
int base_output_open(struct base_output *out, int fd);
void base_output_flush(struct base_output *out);
/* Flushes and frees. Returns out->error. */
int base_output_close(struct base_output *out);
void base_output_bytes(struct base_output *out, const char *bytes, size_t length);
void base_output_text(struct base_output *out, const char *text);
__attribute__((format(printf, 2, 3))) void base_output_format(struct base_output *out, const char *format,
							      ...);
__attribute__((format(printf, 2, 0))) void base_output_vformat(struct base_output *out, const char *format,
							       va_list arguments);

static inline char *base_output_line(struct base_output *out)
{
	if (__builtin_expect(out->at > out->limit, 0))
		base_output_flush(out);
	return out->at;
}

static inline void base_output_done(struct base_output *out, char *at)
{
	out->at = at;
}

#endif
