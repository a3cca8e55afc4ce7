/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "export/perfetto_packet.h"

#include <stdio.h>
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

/* Names of spans. Names that depend only on a small number are interned by that number. */

static void name_text(struct perfetto_name *name, const char *text, size_t length)
{
	size_t room = sizeof(name->text) - name->length;

	if (length > PERFETTO_NAME_MAX)
		length = PERFETTO_NAME_MAX;
	if (length > room)
		length = room;
	memcpy(name->text + name->length, text, length);
	name->length += length;
}

static void name_call(struct perfetto *perfetto, struct perfetto_name *name, uint64_t number)
{
	const char *text;

	if (number < PERFETTO_NUMBERS) {
		name->iid = perfetto_call_iid(number);
		name->fresh = !perfetto_note(perfetto->stream.calls, (uint32_t)number);
		if (!name->fresh)
			return;
	}
	text = number <= UINT32_MAX ? ktread_syscall_name(perfetto->trace, (uint32_t)number) : NULL;
	if (text)
		name_text(name, text, strlen(text));
	else
		name->length = (size_t)snprintf(name->text, sizeof(name->text), "syscall_%llu",
						(unsigned long long)number);
}

static void name_irq(struct perfetto *perfetto, struct perfetto_name *name, const struct spans_span *span)
{
	if (span->has_key && span->key < PERFETTO_NUMBERS) {
		name->iid = perfetto_irq_iid(span->key);
		name->fresh = !perfetto_note(perfetto->stream.irqs, (uint32_t)span->key);
		if (!name->fresh)
			return;
	}
	name->length = span->has_key ? (size_t)snprintf(name->text, sizeof(name->text), "irq %llu",
							(unsigned long long)span->key)
				     : (size_t)snprintf(name->text, sizeof(name->text), "irq");
}

static bool is_lock(const struct spans_span *span)
{
	return span->kind == WELLKNOWN_LOCK_CONTEND || span->kind == WELLKNOWN_LOCK_ACQUIRE;
}

/*
 * Names a lock. A kernel may record the name of a lock only on contention, where the cost matters less. So
 * the name is cached, and used for other events of the same lock.
 */
static void name_lock(struct perfetto *perfetto, struct perfetto_name *name, const struct spans_span *span,
		      const struct ktread_value *recorded)
{
	struct perfetto_lock *lock = &perfetto->locks[span->key * UINT64_C(0x9e3779b97f4a7c15) >> 55];

	if (recorded) {
		lock->key = span->key;
		lock->length = (uint8_t)(recorded->length < sizeof(lock->name) ? recorded->length
									       : sizeof(lock->name));
		memcpy(lock->name, recorded->string, lock->length);
	}
	if (span->kind == WELLKNOWN_LOCK_CONTEND)
		name_text(name, "wait ", strlen("wait "));
	if (lock->length > 0 && lock->key == span->key)
		name_text(name, lock->name, lock->length);
	else
		name->length += (size_t)snprintf(name->text + name->length, sizeof(name->text) - name->length,
						 "%#llx", (unsigned long long)span->key);
}

void perfetto_name_span(struct perfetto *perfetto, struct perfetto_name *name, const struct spans_span *span,
			const struct ktread_event *event)
{
	const struct wellknown *known = wellknown_of(&perfetto->known, event);
	struct ktread_value value;
	bool named;

	name->iid = name->length = 0;
	name->fresh = false;
	named = wellknown_string(known, event, WELLKNOWN_NAME, &value);
	if (is_lock(span))
		name_lock(perfetto, name, span, named ? &value : NULL);
	else if (named)
		name_text(name, value.string, value.length);
	else if (span->kind == WELLKNOWN_SYSCALL_ENTER)
		name_call(perfetto, name, span->key);
	else if (span->kind == WELLKNOWN_IRQ_ENTER)
		name_irq(perfetto, name, span);
	else
		name_text(name, "page fault", strlen("page fault"));
}
