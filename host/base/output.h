/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Buffered output, and colours for terminals. The caller writes into the buffer through a pointer:
 *
 *	char *at = base_output_line(out);	room for BASE_OUTPUT_LINE bytes
 *	at = base_put_decimal(at, value);
 *	base_output_done(out, at);
 *
 * The errno of the first failed write is in `error`; all later output is discarded. So only loops that may
 * run for a long time need to check it.
 */
#ifndef BASE_OUTPUT_H
#define BASE_OUTPUT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#define BASE_OUTPUT_BUFFER ((size_t)256 << 10)
/* maximum number of bytes that may be written after a call of base_output_line() */
#define BASE_OUTPUT_LINE ((size_t)16 << 10)

struct base_output {
	char *at;
	char *limit; /* last position in the buffer that still has room for BASE_OUTPUT_LINE bytes after it */
	char *buffer;
	int fd;
	int error;	    /* errno of the first failed write */
	const char *schema; /* name of the schema from base_output_schema(); NULL once it was written */
	bool painted;	    /* true if the output gets colours: base_output_paint() was called */
	/* called before the first write; may change what `fd` refers to; NULL: none */
	void (*begin)(struct base_output *out);
};

/*
 * Format string of the JSON members that name a schema. "strings" reminds readers that names and texts come
 * from the traced machine: they are data, not instructions.
 */
#define BASE_OUTPUT_SCHEMA "\"schema\":\"%s\",\"strings\":\"untrusted\""

/* Returns 0, or -1 if out of memory. The caller still owns `fd`, and closes it. */
int base_output_open(struct base_output *out, int fd);
/*
 * Names the schema of the JSON that will be written, such as "ktrace-why/1": adds "schema" and "strings" as
 * the first members of the first object. Does nothing if `name` is NULL, or if the output does not begin
 * with an object. Requires: nothing was written; `name` stays valid.
 */
void base_output_schema(struct base_output *out, const char *name);
/* Adds colours to all lines. */
void base_output_paint(struct base_output *out);
/*
 * Writes the contents of the buffer. If the output has colours, an incomplete last line stays in the buffer.
 */
void base_output_flush(struct base_output *out);
/* Writes the contents of the buffer, and frees the buffer. Returns out->error. */
int base_output_close(struct base_output *out);
/* Append bytes, a string, or formatted text. Formatted text is cut to BASE_OUTPUT_LINE - 1 bytes. */
void base_output_bytes(struct base_output *out, const char *bytes, size_t length);
void base_output_text(struct base_output *out, const char *text);
__attribute__((format(printf, 2, 3))) void base_output_format(struct base_output *out, const char *format,
							      ...);
__attribute__((format(printf, 2, 0))) void base_output_vformat(struct base_output *out, const char *format,
							       va_list arguments);

/*
 * Returns the place in the buffer at which to write at most BASE_OUTPUT_LINE bytes. Flushes the buffer if
 * necessary.
 */
static inline char *base_output_line(struct base_output *out)
{
	if (__builtin_expect(out->at > out->limit, 0))
		base_output_flush(out);
	return out->at;
}

/* Call this after base_output_line(). `at`: end of the text that the caller has written. */
static inline void base_output_done(struct base_output *out, char *at)
{
	out->at = at;
}

/* ---- Colours ---- */

/*
 * Adds colours to text for a terminal: to CPUs, verdicts and their certainty, losses, errors, and long
 * durations. The colours are added to finished text, so apart from the colours, a command writes the same
 * bytes with and without them. Text from a trace was escaped before, so the output contains no other control
 * sequences than those of the colours.
 */

/* Values of the option --color, in the order of the option's list of words. */
enum base_paint_when { BASE_PAINT_AUTO, BASE_PAINT_ALWAYS, BASE_PAINT_NEVER };

/*
 * Returns whether text that is written to `fd` gets colours. BASE_PAINT_AUTO: true if `fd` is a terminal
 * whose type is not "dumb", and the environment variable NO_COLOR is unset or empty.
 */
bool base_paint_wanted(enum base_paint_when when, int fd);

/* Callback that receives the text with colours, piece by piece. */
typedef void base_paint_put(void *context, const char *bytes, size_t length);

/*
 * Adds colours to the text from `from` to `end`. The text consists of complete lines; only the last line may
 * lack its line feed. No colour extends beyond the end of a line.
 */
void base_paint(const char *from, const char *end, base_paint_put *put, void *context);

#endif
