/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "export/protobuf.h"

#include <string.h>

#include "base/utf8.h"
#include "base/escape.h"

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
