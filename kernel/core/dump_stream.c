/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "dump_stream.h"

#include "../base/bytes.h"

int ktrace_stream_open(struct ktrace_stream *stream, struct ktrace_sink *sink, const struct ktrx_root *root,
		       uint32_t limit)
{
	uint32_t rings = 0;
	const struct ktrx_ring *ring = ktrace_root_rings(root, &rings);
	size_t heads;

	if (rings > limit)
		rings = limit;
	heads = sizeof(uint64_t) * rings;
	if (!ring || sink->buffer_size < heads + KTRACE_STREAM_ROOM)
		return KTRACE_OUTPUT_ARGUMENT;
	stream->sink = sink;
	stream->heads = (uint64_t *)sink->buffer;
	stream->rings = rings;
	stream->buffer = (unsigned char *)sink->buffer + heads;
	stream->size = (sink->buffer_size - heads) & ~(size_t)(KTRX_SLOT_SIZE - 1);
	stream->fill = 0;
	stream->at = 0;
	stream->error = 0;
	for (uint32_t i = 0; i < rings; i++)
		stream->heads[i] = ktrace_ring_head(&ring[i]);
	return 0;
}

void ktrace_stream_begin(struct ktrace_stream *stream, uint64_t bytes)
{
	if (stream->sink->begin)
		stream->error = stream->sink->begin(stream->sink, bytes);
}

static void flush(struct ktrace_stream *stream)
{
	if (!stream->error && stream->fill > 0)
		stream->error = stream->sink->write(stream->sink, stream->buffer, stream->fill);
	stream->fill = 0;
}

void *ktrace_stream_room(struct ktrace_stream *stream, size_t bytes)
{
	void *room;

	if (bytes > stream->size - stream->fill)
		flush(stream);
	room = stream->buffer + stream->fill;
	stream->fill += bytes;
	stream->at += bytes;
	return room;
}

void ktrace_stream_put(struct ktrace_stream *stream, const void *data, uint64_t bytes)
{
	const uint8_t *from = data;

	while (bytes > 0) {
		size_t piece = bytes < KTRACE_STREAM_ROOM ? (size_t)bytes : KTRACE_STREAM_ROOM;

		ktrace_copy(ktrace_stream_room(stream, piece), from, piece);
		from += piece;
		bytes -= piece;
	}
}

void ktrace_stream_zero(struct ktrace_stream *stream, uint64_t bytes)
{
	while (bytes > 0) {
		size_t piece = bytes < KTRACE_STREAM_ROOM ? (size_t)bytes : KTRACE_STREAM_ROOM;

		ktrace_zero(ktrace_stream_room(stream, piece), piece);
		bytes -= piece;
	}
}

int ktrace_stream_close(struct ktrace_stream *stream)
{
	flush(stream);
	return stream->error;
}
