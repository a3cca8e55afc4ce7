/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "export/perfetto_packet.h"

#include <string.h>

#include "base/escape.h"
#include "export/perfetto.h"

void protobuf_end_long(struct protobuf *pb, unsigned char *start)
{
	unsigned char length[PROTOBUF_VARINT_MAX];
	size_t bytes, more;

	if (pb->overflow)
		return;
	bytes = (size_t)(pb->at - start);
	more = (size_t)(protobuf_put_varint(length, bytes) - length) - 1;
	if (!protobuf_room(pb, more))
		return;
	memmove(start + more, start, bytes);
	memcpy(start - 1, length, more + 1);
	pb->at += more;
}

void protobuf_bytes(struct protobuf *pb, unsigned field, const void *bytes, size_t length)
{
	if (!protobuf_room(pb, PROTOBUF_FIELD_MAX + length))
		return;
	pb->at = protobuf_put_varint(pb->at, field << 3 | PROTOBUF_BYTES);
	pb->at = protobuf_put_varint(pb->at, length);
	memcpy(pb->at, bytes, length);
	pb->at += length;
}

void protobuf_text(struct protobuf *pb, unsigned field, const char *text, size_t length, size_t most)
{
	unsigned char *start = protobuf_begin(pb, field);
	uint32_t code;

	length = base_utf8_cut(text, length, most);
	while (length > 0 && protobuf_room(pb, BASE_ESCAPE_TEXT_GROWTH)) {
		size_t size = base_utf8_decode(text, length, &code);

		if (size == 0 || !base_utf8_is_harmless(code))
			size = 1;
		pb->at = (unsigned char *)base_escape_utf8((char *)pb->at, text, size,
							   BASE_ESCAPE_TEXT_GROWTH);
		text += size;
		length -= size;
	}
	protobuf_end(pb, start);
}

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

/*
 * Returns the number of the interned name of a system call or interrupt, and sets `*seen` to the map of names
 * that were written. Returns 0 if the name is not interned.
 */
static uint64_t interned(struct perfetto_stream *stream, const struct walk_name *name, uint8_t **seen)
{
	if (name->number >= PERFETTO_NUMBERS || name->kind == WALK_NAME_TEXT)
		return 0;
	*seen = name->kind == WALK_NAME_CALL ? stream->calls : stream->irqs;
	return name->kind == WALK_NAME_CALL ? perfetto_call_iid(name->number)
					    : perfetto_irq_iid(name->number);
}

void perfetto_name_span(struct perfetto *perfetto, struct perfetto_name *name, const struct spans_span *span,
			const struct ktread_event *event)
{
	uint8_t *seen = NULL;

	walk_name_span(&perfetto->walk, &name->name, span, event);
	name->iid = interned(&perfetto->stream, &name->name, &seen);
	name->fresh = name->iid != 0 && !perfetto_note(seen, (uint32_t)name->name.number);
	if (name->iid == 0 || name->fresh)
		walk_name_text(&perfetto->walk, &name->name);
}
