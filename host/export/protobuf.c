/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "export/protobuf.h"

#include <string.h>

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

/* Bytes of the well-formed, printable character that `text` begins with; 0 if it begins with none. */
static size_t character(const unsigned char *text, size_t length)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t bytes = text[0] < 0x80 ? 1 : text[0] < 0xc0 ? 0 : text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : 4;
	uint32_t code;

	if (bytes == 1)
		return text[0] >= 0x20 && text[0] != 0x7f;
	if (bytes == 0 || text[0] > 0xf4 || bytes > length)
		return 0;
	code = text[0] & (0x7fu >> bytes);
	for (size_t i = 1; i < bytes; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (text[i] & 0x3fu);
	}
	if (code < least[bytes] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ||
	    (code >= 0x80 && code < 0xa0))
		return 0;
	return bytes;
}

void protobuf_text(struct protobuf *pb, unsigned field, const char *text, size_t length, size_t most)
{
	static const char hex[] = "0123456789abcdef";
	const unsigned char *from = (const unsigned char *)text;
	unsigned char *start = protobuf_begin(pb, field);

	if (length > most)
		length = most;
	while (length > 0 && protobuf_room(pb, 4)) {
		size_t bytes = character(from, length);

		if (bytes > 0) {
			memcpy(pb->at, from, bytes);
			pb->at += bytes;
		} else {
			*pb->at++ = '\\';
			*pb->at++ = 'x';
			*pb->at++ = (unsigned char)hex[*from >> 4];
			*pb->at++ = (unsigned char)hex[*from & 15];
			bytes = 1;
		}
		from += bytes;
		length -= bytes;
	}
	protobuf_end(pb, start);
}
