/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "export/perfetto_packet.h"

#include <string.h>

#define SEQUENCE 1u

int perfetto_stream_open(struct perfetto_stream *stream, int fd)
{
	memset(stream, 0, sizeof(*stream));
	stream->first = true;
	stream->pending_flags = SEQUENCE_CLEARED;
	return base_output_open(&stream->out, fd) < 0 ? KTREAD_E_MEMORY : 0;
}

int perfetto_stream_close(struct perfetto_stream *stream)
{
	return base_output_close(&stream->out);
}

void perfetto_stream_lost(struct perfetto_stream *stream)
{
	stream->pending_flags = SEQUENCE_CLEARED;
	stream->lossy = true;
	memset(stream->types, 0, sizeof(stream->types));
	memset(stream->calls, 0, sizeof(stream->calls));
	memset(stream->irqs, 0, sizeof(stream->irqs));
}

struct protobuf *perfetto_packet_begin(struct perfetto_stream *stream, uint64_t time)
{
	struct protobuf *pb = &stream->pb;

	pb->at = (unsigned char *)base_output_line(&stream->out);
	pb->limit = pb->at + BASE_OUTPUT_LINE;
	pb->overflow = false;
	stream->packet = protobuf_begin(pb, TRACE_PACKET);
	protobuf_uint(pb, PACKET_TIMESTAMP, time);
	protobuf_uint(pb, PACKET_SEQUENCE_ID, SEQUENCE);
	protobuf_uint(pb, PACKET_SEQUENCE_FLAGS, SEQUENCE_NEEDS_STATE | stream->pending_flags);
	if (__builtin_expect(stream->pending_flags != 0, 0)) {
		if (stream->first)
			protobuf_uint(pb, PACKET_FIRST_ON_SEQUENCE, 1);
		if (stream->lossy)
			protobuf_uint(pb, PACKET_PREVIOUS_DROPPED, 1);
		stream->first = stream->lossy = false;
		stream->pending_flags = 0;
	}
	return pb;
}

void perfetto_packet_end(struct perfetto_stream *stream)
{
	struct protobuf *pb = &stream->pb;

	protobuf_end(pb, stream->packet);
	if (pb->overflow)
		stream->refused++;
	else
		base_output_done(&stream->out, (char *)pb->at);
}

void perfetto_intern(struct protobuf *pb, unsigned kind, uint64_t iid, const char *text, size_t length)
{
	unsigned char *entry = protobuf_begin(pb, kind);

	protobuf_uint(pb, INTERNED_IID, iid);
	protobuf_text(pb, INTERNED_STRING, text, length, PERFETTO_NAME_MAX);
	protobuf_end(pb, entry);
}
