/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The way from a dump to its sink: bytes gather in the sink's buffer and leave in pieces of its size. The
 * first error sticks; what comes after it is dropped, and the end of the dump reports it.
 */
#ifndef KTRACE_CORE_DUMP_STREAM_H
#define KTRACE_CORE_DUMP_STREAM_H

#include "ktrace/dump.h"
#include "ktrx/slot.h"
#include "rings.h"

struct ktrace_stream {
	struct ktrace_sink *sink;
	uint64_t *heads; /* of each ring, as frozen when the dump began */
	uint32_t rings;
	unsigned char *buffer; /* behind the heads */
	size_t size, fill;     /* bytes of it, bytes waiting in it */
	uint64_t at;	       /* bytes produced so far */
	int error;
};

/*
 * Splits the sink's buffer, and freezes the heads of up to `limit` rings of `root`: KTRACE_OUTPUT_ARGUMENT if
 * the buffer is too small for them or the root has no ring table.
 */
int ktrace_stream_open(struct ktrace_stream *stream, struct ktrace_sink *sink, const struct ktrx_root *root,
		       uint32_t limit);

/* Tells the sink how much will come; its error sticks. */
void ktrace_stream_begin(struct ktrace_stream *stream, uint64_t bytes);

/* Room for the next bytes, at most KTRACE_STREAM_ROOM, to be filled in place; aligned if all before was. */
void *ktrace_stream_room(struct ktrace_stream *stream, size_t bytes);
#define KTRACE_STREAM_ROOM 1024u

void ktrace_stream_put(struct ktrace_stream *stream, const void *data, uint64_t bytes);
void ktrace_stream_zero(struct ktrace_stream *stream, uint64_t bytes);
int ktrace_stream_close(struct ktrace_stream *stream);

#endif
